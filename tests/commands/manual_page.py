"""Makes docs/agentco-tui.1, the manual page, of the grammar: `python -m` and this module's name."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from agentco_tui import __version__
from agentco_tui.cli.grammar import COMMANDS, DASHBOARD, PROG

PAGE = Path(__file__).resolve().parents[2] / "docs" / "agentco-tui.1"


def page() -> str:
    """The page in the language of man(7)."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield f'.TH {PROG.upper()} 1 "" "{PROG} {__version__}"'
    yield f".SH NAME\n{PROG} \\- dashboard for the Agent Company Platform"
    yield f".SH SYNOPSIS\n.B {PROG}\n[flags] [command]\n.SH DESCRIPTION"
    for name, command in {"": DASHBOARD, **COMMANDS}.items():
        if name:
            yield f'.SH "{PROG.upper()} {name.upper()}"'
        yield _typed(command.summary)
        for flag in command.flags:
            told = flag.options["help"] or f"one of {', '.join(flag.options.get('choices', ()))}"
            if told == argparse.SUPPRESS or (name and flag in DASHBOARD.flags):
                continue
            dashed = [f"\\fB{_typed(each)}\\fR" for each in flag.names if each.startswith("-")]
            shown = ", ".join(dashed) + f" \\fI{_typed(flag.options.get('metavar', ''))}\\fR"
            yield f".TP\n{shown.strip()}\n{_typed(told)}"
        yield ".PP\nexamples:\n.PP\n.nf"
        yield from (f"    {_typed(f'{PROG} {line}')}" for line in command.examples)
        yield f".fi\n.PP\n.nf\n{_typed(command.more)}\n.fi" if command.more else ".fi"


def _typed(text: str) -> str:
    """Text as it stands, in a language in which a dash, a dot and a backslash may mean more."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    text = "".join(char if char.isascii() else f"\\[u{ord(char):04X}]" for char in text)
    return "\n".join(f"\\&{line}" if line.startswith(".") else line for line in text.splitlines())


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
