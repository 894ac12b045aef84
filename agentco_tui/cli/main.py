"""The command `agentco-tui`: parses its arguments and hands them to what runs for them.

Only the grammar is imported for `--help` and `version`, which are answered at once.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from agentco_tui.cli.arguments import UsageError, parse
from agentco_tui.text.signs import ascii_wanted, use_ascii


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command with these arguments (default: the process's own); returns the exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    _prepare_output()
    try:
        arguments = parse(words)
    except SystemExit as shown:  # help, a page of the manual, or the version
        return shown.code if isinstance(shown.code, int) else int(shown.code is not None)
    except UsageError as error:
        from agentco_tui.cli.dispatch import report_usage

        return report_usage(str(error))
    except BrokenPipeError:
        # The reader (`head`, a closed pager) has what it wanted.
        from agentco_tui.cli.dispatch import drop_stdout

        drop_stdout()
        return 0
    from agentco_tui.cli.dispatch import run

    return run(words, arguments, os.environ)


def _prepare_output() -> None:
    """Write ASCII signs where others would arrive damaged; nothing printed may fail on its way."""
    use_ascii(ascii_wanted(getattr(sys.stdout, "encoding", None), os.environ))
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")
