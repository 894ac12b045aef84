"""A hand-over in Markdown: what stands in it, and that the platform's text stays text."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agentco_tui.actions.handover import MOST_LINES, as_code, handover_markdown, sent_from_here
from agentco_tui.actions.journal import Earlier
from agentco_tui.actions.journal_lines import Attempt, Settled
from agentco_tui.history.changes_since import ChangeEvent, Section
from agentco_tui.live.insight import Level
from agentco_tui.model.format import stamp
from agentco_tui.text import clean_line

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
    said = as_code(text)
    assert "\n" not in said
    for reader in READERS:
        for frame in ("- 14:02: {}\n- b\n", "{}\n", "- {}\n", "# Of {}\n"):
            expected = kinds(frame.format("x" if said else ""), reader)
            assert kinds(frame.format(said), reader) == expected


@given(texts)
def test_what_is_read_is_what_was_said(text: str) -> None:
    reader = READERS[0]
    inline = reader.parse(f"x {as_code(text)}")[1]
    shown = "".join(child.content for child in inline.children or ())
    assert shown.split() == ["x", *clean_line(text, 240).replace("`", "'").split()]


def test_each_chapter_is_told_and_bounded() -> None:
    wrong = [
        ChangeEvent(
            NOW - n, clean_line(f"wrong {n}"), clean_line("Ada"), Level.CRITICAL, times=n + 1
        )
        for n in range(40)
    ]
    long = ChangeEvent(None, clean_line("x" * 10_000, 10_000))
    chapters = [
        Section(
            clean_line("Promised"),
            [ChangeEvent(None, clean_line("budget: Ada"), clean_line("until worse"))],
        ),
        Section(
            clean_line("Decided"),
            [ChangeEvent(NOW - 60, clean_line("approved *it*"), clean_line("Wanda"))],
        ),
        Section(clean_line("Went wrong"), wrong),
        Section(clean_line("Alerts"), [], clean_line("no alert came or went")),
        Section(clean_line("Newly waiting"), [long] * 5_000),
    ]
    text = handover_markdown(
        clean_line("prod, all companies"), clean_line("of https://p.example"), chapters, NOW
    )
    assert len(text) < 12_000
    lines = text.splitlines()
    assert lines[0] == "# Hand-over: `prod, all companies`"
    assert lines[2] == "`of https://p.example`"
    for line in ("- `until worse: budget: Ada`", "- no alert came or went", "- and 4,975 more"):
        assert line in lines
    assert any(line.endswith("Wanda: approved *it*`") for line in lines)
    assert sum(line.startswith("- ✖ `") for line in lines) == MOST_LINES
    assert "- and 15 more" in lines


def test_the_journal_tells_what_was_sent_from_here() -> None:
    def attempt(key: str, at: float, **more: str) -> Attempt:
        chosen = {"verb": "approve", "task": f"t-{key}", "title": f"Task {key}", **more}
        return Attempt(attempt=key, time=stamp(at), **chosen)  # type: ignore[arg-type]

    journal = [
        Earlier(attempt("old", NOW - 9 * 3_600), None),
        Earlier(attempt("a", NOW - 60), Settled(attempt="a", outcome="approved here")),
        Earlier(attempt("b", NOW - 50), Settled(attempt="b", outcome="unclear")),
        Earlier(attempt("c", NOW - 40, verb="set limit", task="", agent="a1"), None),
    ]
    found = sent_from_here(journal, NOW - 8 * 3_600, 0.0)
    assert [(key, each.text, each.level, each.key) for key, each in found.items()] == [
        ("t-a", "approve Task a: approved here", Level.OK, "tasks:t-a"),
        ("t-b", "approve Task b: unclear", Level.WARNING, "tasks:t-b"),
        ("c", "set limit Task c: not known yet", Level.WARNING, "agents:a1"),
    ]
