"""What the terminal can show, for `doctor`: facts, and hints that a person can act on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentco_tui.terminal.fitness import Fitness

SMALLEST = (60, 16)
"""Columns and rows below which the dashboard asks for more."""
COMFORTABLE = (80, 24)


@dataclass(frozen=True, kw_only=True)
class TerminalReport:
    """The terminal as the dashboard would find it."""

    fits: bool
    """Whether the dashboard would start here."""
    refusal: str | None
    term: str
    encoding: str
    ascii: bool
    colours: int
    columns: int
    rows: int
    no_color: bool
    multiplexer: str | None
    """tmux, screen, or None."""
    ssh: bool
    hints: tuple[str, ...]


def look(fitness: Fitness, env: Mapping[str, str]) -> TerminalReport:
    """Put together what the environment tells."""
    multiplexer = _multiplexer(env)
    ssh = any(env.get(name) for name in ("SSH_TTY", "SSH_CONNECTION", "SSH_CLIENT"))
    return TerminalReport(
        fits=fitness.refusal is None,
        refusal=fitness.refusal,
        term=fitness.term,
        encoding=fitness.encoding,
        ascii=fitness.ascii,
        colours=fitness.colours,
        columns=fitness.columns,
        rows=fitness.rows,
        no_color="NO_COLOR" in env,
        multiplexer=multiplexer,
        ssh=ssh,
        hints=tuple(_hints(fitness, env, multiplexer, ssh)),
    )


def _multiplexer(env: Mapping[str, str]) -> str | None:
    if env.get("TMUX"):
        return "tmux"
    return "screen" if env.get("STY") else None


def _hints(
    fitness: Fitness, env: Mapping[str, str], multiplexer: str | None, ssh: bool
) -> list[str]:
    hints = []
    if (fitness.columns, fitness.rows) < SMALLEST or fitness.rows < SMALLEST[1]:
        hints.append("the window is too small: the dashboard needs 60 columns and 16 rows")
    elif fitness.columns < COMFORTABLE[0] or fitness.rows < COMFORTABLE[1]:
        hints.append("from 80 columns and 24 rows on the dashboard shows more")
    if fitness.ascii:
        hints.append("signs are drawn in ASCII: for others the locale must be UTF-8 (LANG, LC_ALL)")
    if "NO_COLOR" in env:
        hints.append("NO_COLOR is set: there are no colours, signs tell the same")
    elif fitness.colours and fitness.colours <= 16 and fitness.term != "linux":
        hints.append("16 colours: if the terminal has more, set TERM=xterm-256color")
    if multiplexer == "tmux":
        hints.append("copying goes through tmux only with: set -g set-clipboard on")
        if not fitness.term.startswith(("tmux", "screen")):
            hints.append(f"inside tmux TERM should be tmux-256color, and is {fitness.term}")
    elif multiplexer == "screen":
        hints.append("copying through screen works in pieces, and not in every terminal")
    if ssh:
        hints.append(
            "over SSH a copied id goes to the clipboard of your own terminal (OSC 52),"
            " if that terminal allows it"
        )
    return hints
