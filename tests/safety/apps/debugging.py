"""The program with everything logged and a crash planted: `debugging FILE ARGUMENTS`.

Every logger of the process writes to FILE at DEBUG, with no filter in between: what the program's
own log would be if its second wall were not there. The help's key ends in an error whose locals
and message hold the words of the variable PLANTED.
"""

from __future__ import annotations

import logging
import os
import sys

from agentco_tui.cli.main import main


def plant() -> None:
    """Let the help fail where headers are at hand."""
    from agentco_tui.screens.frame_commands import FrameCommands

    def fail(self: FrameCommands) -> None:
        headers = {"Authorization": f"Bearer {os.environ['PLANTED']}"}
        raise RuntimeError(f"planted, with {headers}")

    FrameCommands.show_help = fail  # type: ignore[method-assign]


if __name__ == "__main__":
    logging.basicConfig(filename=sys.argv[1], level=logging.DEBUG)
    plant()
    sys.exit(main(sys.argv[2:]))
