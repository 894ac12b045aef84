"""What values a setting can have: each a function from what was written to what it means.

Every one raises `WrongError`, which says what the value must be and what was found.
"""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from agentco_tui.keys.commands import PLACE_OF, SCREENS
from agentco_tui.reading.field_path import FieldPathError, parse_field_path
from agentco_tui.reading.mapping import NULL, UNITS
from agentco_tui.text.patterns import lazy_pattern

THEMES = (
    *("agentco-dark", "agentco-light", "agentco-contrast"),
    *("textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha", "dracula"),
    *("tokyo-night", "monokai", "flexoki", "catppuccin-latte", "catppuccin-frappe"),
    *("catppuccin-macchiato", "solarized-light", "solarized-dark", "rose-pine", "rose-pine-moon"),
    *("rose-pine-dawn", "atom-one-dark", "atom-one-light", "ansi-dark", "ansi-light"),
)
"""Ours and Textual's own, written out: this room does not import Textual (a test compares)."""

REFRESH_FROM, REFRESH_TO = 0.5, 86_400.0
_TRUE = ("1", "true", "yes", "on")
_FALSE = ("0", "false", "no", "off")
_DURATION = lazy_pattern(r"(?:\d+(?:\.\d+)?\s*[smhdw]\s*)+", re.ASCII)
_DURATION_PART = lazy_pattern(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.ASCII)
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


class WrongError(ValueError):
    """A value that a setting cannot have; `str()` says what it must be, fit for a `Problem`."""


def nearest(word: str, names: Sequence[str]) -> str:
    """The name most like a word, as `_`, `-` and case aside; `names` must hold at least one."""

    def folded(text: str) -> str:
        return text.replace("-", "_").casefold()

    by_folded = {folded(name): name for name in names}
    found = difflib.get_close_matches(folded(word), by_folded, n=1, cutoff=0.0)
    return by_folded[found[0]] if found else names[0]


def what(value: object) -> str:
    """A TOML value in words, for the end of "must be …, is …".

    A text is not repeated: somebody may have put a key where it does not belong.
    """
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return "a text in quotes"
        case int() | float():
            return f"the number {value:.6g}" if math.isfinite(value) else f"the number {value}"
        case list():
            return "a list"
        case dict():
            return "a table"
    return "a date or a time"


def boolean(value: object) -> bool:
    if not isinstance(value, bool):
        raise WrongError(f"must be true or false, is {what(value)}")
    return value


def boolean_word(value: object) -> bool:
    word = str(value).strip().lower()
    if word in _TRUE + _FALSE:
        return word in _TRUE
    raise WrongError(f'must be one of {", ".join(_TRUE + _FALSE)}; is "{word[:40]}"')


def text(value: object) -> str:
    """A text with something in it, on one line."""
    if not isinstance(value, str):
        raise WrongError(f"must be a text in quotes, is {what(value)}")
    if not value.strip():
        raise WrongError("must not be empty")
    if not value.isprintable():
        raise WrongError("must be one line without control characters")
    return value.strip()


def _matching(pattern: str, words: str) -> Callable[[object], str]:
    compiled = lazy_pattern(pattern, re.ASCII)

    def check(value: object) -> str:
        word = text(value)
        if not compiled.fullmatch(word):
            raise WrongError(f"must be {words}")
        return word

    return check


variable = _matching(
    r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, such as PROD_KEY, without a $"
)


def field_path(value: object) -> str:
    """A field of the platform's: dots lead into objects, `[0]` into lists."""
    written = text(value)
    try:
        parse_field_path(written)
    except FieldPathError as error:
        raise WrongError(f"{error}; is {written[:60]!r}") from None
    return written


def _number(
    value: Any, *, least: float, most: float, unit: str = "", kind: Any = int | float
) -> Any:
    if isinstance(value, bool) or not isinstance(value, kind) or not least <= value <= most:
        words = (
            f"must be a {'whole ' if kind is int else ''}number{unit} from {least:g} to {most:g}"
        )
        raise WrongError(f"{words}, is {what(value)}")
    return value


_seconds = partial(_number, unit=" of seconds")
refresh = partial(_seconds, least=REFRESH_FROM, most=REFRESH_TO)
hold = partial(_seconds, least=0, most=60)
factor = partial(_number, least=1, most=1000)
"""How many times as much."""
megabytes = partial(_number, least=10, most=100_000, kind=int)
"""Millions of bytes; below ten there is no room for a day of a large platform."""


def percent(value: object, most: float = 1000) -> Decimal:
    """A percentage above 0; more than 100 is allowed, since spending can pass a limit."""
    return Decimal(str(_number(value, least=0.001, most=most, unit=" of per cent")))


chance = partial(percent, most=99.999)
"""How likely something is."""


def _one_of(value: object, *, noun: str, names: tuple[str, ...]) -> str:
    word = text(value)
    if word not in names:
        raise WrongError(
            f'is not {noun}: "{word[:60]}" (nearest valid name: {nearest(word, names)};'
            f" all: {', '.join(names)})"
        )
    return word


COLOURS = ("grey", "blue", "cyan", "green", "yellow", "orange", "red", "magenta")
PRIORITIES = ("lowest", "low", "medium", "high", "urgent")

screen = partial(_one_of, noun="a screen", names=SCREENS)
colour = partial(_one_of, noun="a colour", names=COLOURS)
priority = partial(_one_of, noun="a priority", names=PRIORITIES)
theme = partial(_one_of, noun="a theme", names=THEMES)
unit = partial(_one_of, noun="a unit", names=tuple(UNITS))
hex_colour = _matching(r"#[0-9a-fA-F]{6}", 'a colour such as "#87d7ff"')


def path(value: object) -> Path:
    """A path; `~` is the home folder. A relative one is made absolute by who knows its base."""
    try:
        return Path(text(value)).expanduser()
    except RuntimeError:
        raise WrongError(
            "names the home folder of a user that this machine does not know"
        ) from None


def span(written: str) -> float | None:
    """The seconds of a text such as "90s", "1h30m" or "2w"; None if it is none."""
    if not _DURATION.fullmatch(written):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in _DURATION_PART.findall(written))


def duration(value: object) -> float:
    """A length of time such as "90s", "15m", "1h30m" or "2d", in seconds."""
    hint = 'must be a length of time such as "90s", "15m", "1h30m" or "2d"'
    if not isinstance(value, str):
        raise WrongError(f"{hint}, is {what(value)}")
    seconds = span(value.strip())
    if seconds is None:
        raise WrongError(f'{hint}, is "{value[:40]}"')
    if not 0 < seconds <= 366 * _SECONDS["d"]:
        raise WrongError("must be more than nothing and at most a year")
    return seconds


def duration_text(seconds: float) -> str:
    """Seconds as `duration` reads them: "1h30m"."""
    words = ""
    for unit, size in reversed(_SECONDS.items()):
        number, seconds = (seconds, 0.0) if unit == "s" else divmod(seconds, size)
        words += f"{number:g}{unit}" if number else ""
    return words


def command(value: object) -> tuple[str, ...]:
    """A command and its arguments: a list of texts, or one text split as a shell would split it.

    No shell runs it, so pipes and variables need `["sh", "-c", "…"]`.
    """
    if isinstance(value, list):
        if not value or not all(isinstance(part, str) for part in value):
            raise WrongError("must be a command: a text, or a list of texts")
        words = [str(part) for part in value]
    else:
        line = text(value)
        try:
            words = shlex.split(line)
        except ValueError:
            raise WrongError("has a quote that is not closed") from None
    if not words or not words[0] or any("\0" in word for word in words):
        raise WrongError("must name a command to run")
    return tuple(words)


def currency(value: object) -> str:
    code = text(value).upper()
    if not (code.isascii() and code.isalpha() and len(code) == 3):
        raise WrongError('must be the three letters of a currency, such as "EUR"')
    return code


def words(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not value:
        raise WrongError(f'must be a list of words, such as ["needs_ok"], is {what(value)}')
    return tuple(text(each) for each in value)


def status_words(of: str, states: Iterable[str]) -> dict[str, Callable[[object], Any]]:
    """What each state of some records may be called, and what a status of null means."""
    names = tuple(states)
    null = partial(_one_of, noun=f"a state of {of}", names=names)
    return {**dict.fromkeys(names, words), NULL: null}


def arguments(value: object) -> tuple[str, ...]:
    """A command as a list of its words; a text would have to be split as a shell splits it."""
    if not isinstance(value, list):
        raise WrongError(f'must be a list of texts, such as ["open", "x"], is {what(value)}')
    return command(value)


def kinds(value: object) -> tuple[str, ...]:
    """Kinds of records: one, or a list of them."""
    listed = value if isinstance(value, list) else [value]
    return tuple(_one_of(each, noun="a kind of record", names=tuple(PLACE_OF)) for each in listed)


_HOURS = lazy_pattern(r"([01]?\d|2[0-3]):([0-5]\d) *(?:-|–|to) *([01]?\d|2[0-3]):([0-5]\d)")


def quiet_hours(value: object) -> tuple[tuple[int, int], ...]:
    """Hours such as "22:00-06:30", or a list of them, as minutes of the day."""
    hours = []
    for each in value if isinstance(value, list) else [value]:
        if (found := _HOURS.fullmatch(text(each))) is None:
            raise WrongError('must be hours such as "22:00-06:30"')
        hour, minute, end_hour, end_minute = map(int, found.groups())
        hours.append((hour * 60 + minute, end_hour * 60 + end_minute))
    return tuple(hours)


def web_url(value: object) -> str:
    """An address with `{kind}` and `{id}` where those of a record go."""
    address = text(value)
    if not re.fullmatch(r"https?://[\x21-\x7e]+", address) or "{id}" not in address:
        raise WrongError('must be an address such as "https://host/{kind}/{id}"')
    return address
