"""The command `agentco-tui`: parses its arguments and runs what they ask for.

`--help`, `help` and `version` are answered by the parser. Everything else is imported after that:
`dispatch.run` runs a command, or the dashboard.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from agentco_tui.cli.arguments import UsageError, parse


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (by default that of the process); returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _escape_unencodable_output()
    try:
        arguments = parse(words)
    except SystemExit as shown:  # after help, a page of the manual, or the version
        return shown.code if isinstance(shown.code, int) else int(shown.code is not None)
    except UsageError as error:
        from agentco_tui.cli.dispatch import report_usage

        return report_usage(str(error))
    except BrokenPipeError:
        # The reader, such as `head` or a pager, closed the pipe: it has what it wanted.
        from agentco_tui.cli.dispatch import drop_stdout

        drop_stdout()
        return 0
    from agentco_tui.cli.dispatch import run

    return run(words, arguments, os.environ)


def _escape_unencodable_output() -> None:
    """Print characters that the terminal's encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
