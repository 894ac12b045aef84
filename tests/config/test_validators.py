"""Single values: what is taken, and in which words the rest is refused."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.theme import BUILTIN_THEMES

from agentco_tui.config import validators
from agentco_tui.config.validators import WrongError

Validator = Callable[[object], object]


@pytest.mark.parametrize(
    ("validator", "value", "meant"),
    [
        (validators.refresh, 0.5, 0.5),
        (validators.refresh, 7, 7.0),
        (validators.boolean_word, " Yes ", True),
        (validators.boolean_word, "off", False),
        (validators.percent, 82.5, Decimal("82.5")),
        (validators.duration, "90s", 90.0),
        (validators.duration, "1h30m", 5400.0),
        (validators.duration, "1.5h", 5400.0),
        (validators.command, "pass show 'my key'", ("pass", "show", "my key")),
        (validators.command, ["sh", "-c", "a | b"], ("sh", "-c", "a | b")),
        (validators.text, "  x ", "x"),
        (validators.screen, "tasks", "tasks"),
    ],
)
def test_what_a_value_means(validator: Validator, value: object, meant: object) -> None:
    assert validator(value) == meant


@pytest.mark.parametrize(
    ("validator", "value", "words"),
    [
        (validators.refresh, 0.4, "from 0.5"),
        (validators.refresh, True, "is true"),
        (validators.refresh, "5", "is a text"),
        (validators.boolean, "true", "true or false, is a text"),
        (validators.boolean_word, "maybe", "yes"),
        (validators.percent, 0, "above 0"),
        (validators.percent, float("nan"), "above 0"),
        (validators.duration, 15, '"15m"'),
        (validators.duration, "15", '"15m"'),
        (validators.duration, "15 minutes", '"15m"'),
        (validators.duration, "0m", "more than nothing"),
        (validators.duration, "9999d", "at most a year"),
        (validators.command, "", "empty"),
        (validators.command, "a 'b", "quote"),
        (validators.command, [], "command"),
        (validators.command, [""], "command"),
        (validators.text, "a\x1b[0m", "control characters"),
        (validators.text, {}, "is a table"),
        (validators.screen, "task", "nearest valid name: tasks"),
        (validators.variable, "$KEY", "without a $"),
        (validators.path, "~no-such-user-here/x", "home folder"),
    ],
)
def test_what_is_refused(validator: Validator, value: object, words: str) -> None:
    with pytest.raises(WrongError) as refused:
        validator(value)
    assert words in str(refused.value)


def test_a_key_put_in_the_wrong_place_is_not_repeated() -> None:
    for name in ("boolean", "variable", "refresh", "percent"):
        with pytest.raises(WrongError) as refused:
            getattr(validators, name)("ag_secret-0123456789")
        assert "secret" not in str(refused.value)


def test_the_themes_are_those_that_textual_has() -> None:
    assert set(validators.THEMES) <= set(BUILTIN_THEMES)


@given(st.integers(1, 366 * 86_400))
def test_a_duration_can_be_written_and_read_again(seconds: int) -> None:
    assert validators.duration(validators.duration_text(seconds)) == seconds
