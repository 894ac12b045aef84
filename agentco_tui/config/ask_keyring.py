"""A script: writes what the system's keyring holds for a profile, or a sentence why nothing.

In a process of its own a keyring can be ended, and kept from a terminal it could ask at.
"""

import sys


def ask(profile: str) -> None:
    try:
        import keyring  # noqa: PLC0415 - an extra
    except ImportError:
        sys.exit("the package keyring is not installed: pip install 'agentco-tui[keyring]'")
    try:
        stored = keyring.get_password("agentco-tui", profile)
    except Exception as error:  # each backend raises its own kinds
        name = type(error).__name__
        sys.exit(f"the system's keyring gave no answer ({name}): is it unlocked?")
    if not stored:
        sys.exit(f"the system's keyring holds no key for it: keyring set agentco-tui {profile}")
    sys.stdout.write(str(stored))


if __name__ == "__main__":
    ask(sys.argv[1])
