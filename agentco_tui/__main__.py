"""Where the program begins, also by `python -m agentco_tui`.

For completions the shell runs the program with the variable _ARGCOMPLETE (of the library
argcomplete). Everything else is a command line, which `cli.main` parses and runs.
"""

import os
import sys


def main() -> int:
    """The command `agentco-tui`; returns the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        # The shell waits for completions after TAB, so nothing of the dashboard is imported.
        from agentco_tui.commands.completion import complete_line

        complete_line()  # ends the program
    from agentco_tui.cli import main as command_line

    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
