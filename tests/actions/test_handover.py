"""A hand-over in Markdown: what stands in it, and that the platform's text stays text."""

from __future__ import annotations

from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agentco_tui.actions.handover import (
    MOST_LINES,
    Handover,
    OpenNeed,
    decided_here,
    escaped_markdown,
    markdown,
)
from agentco_tui.actions.journal_file import Attempt, Settled, stamp, to_line
from agentco_tui.live.insight import Level
from agentco_tui.live.since import Chapter, Happened, Happening
from agentco_tui.live.snooze import Snooze
from agentco_tui.text import safe

NOW = 1_790_000_000.0
READERS = [MarkdownIt("commonmark"), MarkdownIt("gfm-like", {"typographer": True})]

texts = st.text(st.sampled_from("aA0 .:/@#*_`~<>[]()|!&\\-+=$\"'\n\t\u202e\x1bwz{}^"), max_size=40)


def kinds(source: str, reader: MarkdownIt) -> list[str]:
    """What a reader takes it for: its blocks, and what is inline in them."""
    found = list[str]()
    for token in reader.parse(source):
        found.append(token.type)
        found += [child.type for child in token.children or ()]
    return [kind for kind in found if kind not in ("text", "code_inline", "text_special")]


@given(texts)
@example("# heading")
@example("1. one")
@example("1) one")
@example("- [ ] done")
@example("[a](javascript:alert(1))")
@example("<img src=x onerror=y>")
@example("https://evil.example www.evil.example a@evil.example mailto:a@b.cc")
@example("| a | b |")
@example("`` ` `https://a.bc` ``")
@example("a ![x](y) ***b*** ~~c~~ &lt; &#35; \\# === ---")
@example("[^1]: note")
def test_no_text_becomes_more_than_text(text: str) -> None:
    said = escaped_markdown(text)
    assert "\n" not in said
    for reader in READERS:
        for frame in ("- 14:02: {}\n- b\n", "{}\n", "- {}\n", "# Of {}\n"):
            assert kinds(frame.format(said), reader) == kinds(
                frame.format("x" if said else ""), reader
            )


@given(texts)
def test_what_is_read_is_what_was_said(text: str) -> None:
    reader = READERS[0]
    inline = reader.parse(f"x {escaped_markdown(text)}")[1]
    shown = "".join(child.content for child in inline.children or ())
    words = safe(text, 240).split()
    assert shown.replace("'", "`") == " ".join(["x", *words]).replace("'", "`")


def shift(**more: object) -> Handover:
    parts = (
        Chapter(
            safe("Decided"), (Happening(NOW - 60, safe("approved *it*"), safe("Wanda")),), safe("")
        ),
        Chapter(
            safe("Went wrong"),
            tuple(
                Happening(NOW - n, safe(f"wrong {n}"), safe("Ada"), Level.CRITICAL, times=n + 1)
                for n in range(40)
            ),
            safe(""),
        ),
        Chapter(safe("Spent"), (), safe("it isn't known what was spent")),
    )
    since = NOW - 8 * 3_600
    happened = Happened(since, NOW, parts, ((since, since + 3_600),), safe("without a history"))
    chosen = {
        "made": NOW,
        "title": safe("prod, all companies"),
        "platform": safe("https://p.example"),
        "state": [safe("2 critical")],
        "needs": [
            OpenNeed(Level.CRITICAL, safe("approve: Refund [214]")),
            OpenNeed(Level.WARNING, safe("budget: Ada"), Snooze(NOW, 2, None, "ask_her_ first")),
        ],
        "happened": happened,
    }
    return Handover(**{**chosen, **more})  # type: ignore[arg-type]


def test_it_has_state_needs_promises_and_what_happened() -> None:
    lines = markdown(shift()).splitlines()
    assert lines[0] == "# Hand-over: prod, all companies"
    assert "`https://p.example`" in lines[2]
    for line in (
        "- 2 critical",
        r"- ✖ approve: Refund \[214\]",
        r"- until worse: ask\_her\_ first (budget: Ada)",
        "- it isn't known what was spent",
        "- without a history",
    ):
        assert line in lines
    assert any(line.endswith(r"Wanda: approved \*it\*") for line in lines)
    assert any("nothing is known from" in line for line in lines)
    assert sum("wrong" in line for line in lines) == MOST_LINES + 1
    assert "- and 15 more" in lines
    open_at, promised_at = lines.index("## Open"), lines.index("## Promised")
    assert not any("Ada" in line for line in lines[open_at:promised_at])


def test_it_is_bounded() -> None:
    long = safe("x" * 10_000, 10_000)
    needs = [OpenNeed(Level.CRITICAL, long)] * 5_000
    assert len(markdown(shift(needs=needs, state=[long] * 100))) < 30_000


def test_the_journal_tells_what_was_sent_from_here(tmp_path: Path) -> None:
    path = tmp_path / "journal.jsonl"

    def attempt(key: str, at: float, origin: str = "https://p.example", **more: str) -> Attempt:
        chosen = {"verb": "approve", "task": f"t-{key}", "title": f"Task {key}", **more}
        return Attempt(attempt=key, time=stamp(at), origin=origin, **chosen)  # type: ignore[arg-type]

    entries: list[Attempt | Settled] = [
        attempt("old", NOW - 9 * 3_600),
        attempt("a", NOW - 60),
        Settled(attempt="a", outcome="approved here"),
        attempt("b", NOW - 50, "https://P.example:443/"),
        Settled(attempt="b", outcome="unclear"),
        attempt("c", NOW - 40, verb="set limit", task=""),
        attempt("d", NOW - 30, "https://other.example"),
    ]
    path.write_bytes(b"".join(to_line(each) for each in entries) + b"torn {")
    found = decided_here(path, "https://p.example", NOW - 8 * 3_600, 0.0)
    assert [(key, each.text, each.level) for key, each in found] == [
        ("t-a", "approved Task a", Level.OK),
        ("t-b", "Task b: approve, unclear", Level.WARNING),
        ("c", "Task c: set limit, not known yet", Level.WARNING),
    ]
    assert decided_here(tmp_path / "none", "https://p.example", 0.0, 0.0) == []
