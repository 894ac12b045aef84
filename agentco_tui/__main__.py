"""Where the program begins, also by `python -m agentco_tui`."""

import os
import sys


def main() -> int:
    """The command `agentco-tui`; returns the exit code."""
    if "_ARGCOMPLETE" in os.environ:
        # The shell waits for completions after TAB, so nothing of the dashboard is imported.
        from agentco_tui.commands.completion import complete_line

        complete_line()
    from agentco_tui.cli import main as command_line

    return command_line.main()


if __name__ == "__main__":
    sys.exit(main())
