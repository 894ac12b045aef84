"""Single values: what is taken, and in which words the rest is refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.theme import BUILTIN_THEMES

from agentco_tui.config import kinds
from agentco_tui.config.problems import WrongError, nearest


@pytest.mark.parametrize(
    ("kind", "value", "meant"),
    [
        (kinds.refresh, 0.5, 0.5),
        (kinds.refresh, 7, 7.0),
        (kinds.refresh_word, "2.5", 2.5),
        (kinds.boolean_word, " Yes ", True),
        (kinds.boolean_word, "off", False),
        (kinds.boolean_word, "0", False),
        (kinds.percent, 82.5, Decimal("82.5")),
        (kinds.duration, "90s", 90.0),
        (kinds.duration, "15m", 900.0),
        (kinds.duration, "1h30m", 5400.0),
        (kinds.duration, "1 h 30 m", 5400.0),
        (kinds.duration, "1.5h", 5400.0),
        (kinds.duration, "2d", 172_800.0),
        (kinds.command, "pass show 'my key'", ("pass", "show", "my key")),
        (kinds.command, ["sh", "-c", "a | b"], ("sh", "-c", "a | b")),
        (kinds.text, "  x ", "x"),
        (kinds.screen, "tasks", "tasks"),
    ],
)
def test_what_a_value_means(kind: Callable[[object], object], value: object, meant: object) -> None:
    assert kind(value) == meant


@pytest.mark.parametrize(
    ("kind", "value", "words"),
    [
        (kinds.refresh, 0.4, "from 0.5"),
        (kinds.refresh, float("nan"), "from 0.5"),
        (kinds.refresh, float("inf"), "from 0.5"),
        (kinds.refresh, True, "is true"),
        (kinds.refresh, "5", "is a text"),
        (kinds.refresh_word, "fast", '"fast"'),
        (kinds.refresh_word, "nan", "from 0.5"),
        (kinds.boolean, "true", "true or false, is a text"),
        (kinds.boolean_word, "maybe", "yes"),
        (kinds.percent, 0, "above 0"),
        (kinds.percent, True, "per cent"),
        (kinds.percent, float("nan"), "above 0"),
        (kinds.duration, 15, '"15m"'),
        (kinds.duration, "15", '"15m"'),
        (kinds.duration, "15 minutes", '"15m"'),
        (kinds.duration, "0m", "more than nothing"),
        (kinds.duration, "9999d", "at most a year"),
        (kinds.command, "", "empty"),
        (kinds.command, "a 'b", "quote"),
        (kinds.command, [], "command"),
        (kinds.command, ["a", 1], "command"),
        (kinds.command, [""], "command"),
        (kinds.text, "a\x1b[0m", "control characters"),
        (kinds.text, {}, "is a table"),
        (kinds.screen, "task", "nearest valid name: tasks"),
        (kinds.theme, "nrod", "nearest valid name: nord"),
        (kinds.variable, "$KEY", "without a $"),
        (kinds.path, "~no-such-user-here/x", "home folder"),
    ],
)
def test_what_is_refused(kind: Callable[[object], object], value: object, words: str) -> None:
    with pytest.raises(WrongError) as refused:
        kind(value)
    assert words in str(refused.value)


def test_a_key_put_in_the_wrong_place_is_not_repeated() -> None:
    for kind in (kinds.boolean, kinds.variable, kinds.refresh, kinds.percent):
        with pytest.raises(WrongError) as refused:
            kind("ag_secret-0123456789")
        assert "secret" not in str(refused.value)


def test_the_themes_are_those_that_textual_has() -> None:
    assert set(kinds.THEMES) <= set(BUILTIN_THEMES)


@given(st.integers(1, 366 * 86_400))
def test_a_duration_can_be_written_and_read_again(seconds: int) -> None:
    assert kinds.duration(kinds.duration_text(seconds)) == seconds


def test_nearest_forgives_case_and_hyphens() -> None:
    assert nearest("Base-URL", ("refresh", "base_url")) == "base_url"
    assert nearest("zzz", ("refresh",)) == "refresh"
