"""Where the program begins, also by `python -m agentco_tui`.

For completions the shell runs the program with the variable _ARGCOMPLETE (of the library
argcomplete). Everything else is a command line, which `cli.main` parses and runs.
"""

import gc
import os
import sys

_RARE_COLLECTIONS = (100_000, 50, 10)
"""Thresholds of the garbage collector for a program that runs a second and makes little garbage."""


def main() -> int:
    """The command `agentco-tui`; returns the exit code."""
    # Nothing of an imported module is garbage: with the usual thresholds, looking through them
    # would take a fifth of a short command. What runs for long returns to them
    # (`collect_as_usual`), a dashboard once it is shown.
    gc.set_threshold(*_RARE_COLLECTIONS)
    try:
        return _run()
    finally:
        # Python collects once more when it exits: everything is left to the operating system.
        gc.freeze()


def _run() -> int:
    if "_ARGCOMPLETE" in os.environ:
        # The shell waits for completions after TAB, so nothing of the dashboard is imported.
        from agentco_tui.commands.completion import complete_line

        complete_line()  # ends the program
    from agentco_tui.cli import main as command_line

    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
