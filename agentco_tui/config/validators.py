"""Checks for single settings: each `Validator` turns a value of the config file into what it means.

Every one raises `WrongError`, which says what the value must be and what was found.
"""

from __future__ import annotations

import difflib
import math
import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from agentco_tui.keys.places import SCREEN_OF_KIND, SCREENS
from agentco_tui.reading.field_path import FieldPathError, parse_field_path
from agentco_tui.reading.mapping import NULL, UNITS
from agentco_tui.text.patterns import lazy_pattern

V = TypeVar("V")

THEMES = (
    *("agentco-dark", "agentco-light", "agentco-contrast"),
    *("textual-dark", "textual-light", "nord", "gruvbox", "catppuccin-mocha", "dracula"),
    *("tokyo-night", "monokai", "flexoki", "catppuccin-latte", "catppuccin-frappe"),
    *("catppuccin-macchiato", "solarized-light", "solarized-dark", "rose-pine", "rose-pine-moon"),
    *("rose-pine-dawn", "atom-one-dark", "atom-one-light", "ansi-dark", "ansi-light"),
)
"""The themes of this program and of Textual; written out, because `config` does not import Textual
(a test compares them)."""
COLOURS = ("grey", "blue", "cyan", "green", "yellow", "orange", "red", "magenta")
PRIORITIES = ("lowest", "low", "medium", "high", "urgent")
REFRESH_FROM: Final = 0.5
REFRESH_TO: Final = 86_400.0
"""The shortest and the longest interval between two polls, in seconds."""

_TRUE_WORDS = ("1", "true", "yes", "on")
_FALSE_WORDS = ("0", "false", "no", "off")
_SECONDS_BY_UNIT = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}
_LONGEST_DURATION = 366 * _SECONDS_BY_UNIT["d"]
_DURATION = lazy_pattern(r"(?:\d+(?:\.\d+)?\s*[smhdw]\s*)+", re.ASCII)
_DURATION_PART = lazy_pattern(r"(\d+(?:\.\d+)?)\s*([smhdw])", re.ASCII)
_HOURS = lazy_pattern(r"([01]?\d|2[0-3]):([0-5]\d) *(?:-|–|to) *([01]?\d|2[0-3]):([0-5]\d)")


class WrongError(ValueError):
    """A value that a setting cannot have; `str()` says what it must be, fit for a `Problem`."""


class Validator(Generic[V]):
    """Checks and converts the values of a setting: `validator(value)` returns what it means, or
    raises WrongError.
    """

    def __init__(
        self,
        values: str,
        convert: Callable[[object], V],
        format_value: Callable[[V], str] | None = None,
    ) -> None:
        self.values = values
        """What the setting can be, for the manual: "true or false"."""
        self._convert = convert
        self._format = format_value

    def __call__(self, value: object) -> V:
        return self._convert(value)

    def format(self, value: Any) -> str:
        """A converted value as a user writes it, without quotation marks: "15m", "true", "0.5"."""
        return format_value(value) if self._format is None else self._format(value)

    def format_toml(self, value: Any) -> str:
        """A converted value as it is written in the config file; lists are not supported."""
        text = self.format(value)
        is_text = self._format is not None or isinstance(value, (str, Path))
        return f'"{text}"' if is_text else text


def format_value(value: object) -> str:
    """A converted value as a user writes it, where its setting has no form of its own."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return ", ".join(map(format_value, value))
    return str(value)


def validator(values: str) -> Callable[[Callable[[object], V]], Validator[V]]:
    """A decorator that makes a `Validator` of the function that converts."""
    return lambda convert: Validator(values, convert)


def nearest(word: str, names: Sequence[str]) -> str:
    """The name most like a word; case, `_` and `-` do not count. `names` must hold at least one."""

    def folded(text: str) -> str:
        return text.replace("-", "_").casefold()

    by_folded = {folded(name): name for name in names}
    matches = difflib.get_close_matches(folded(word), by_folded, n=1, cutoff=0.0)
    return by_folded[matches[0]] if matches else names[0]


def describe(value: object) -> str:
    """A TOML value in words, for the end of "must be …, is …".

    A text is not repeated: an API key may have been written in the wrong place.
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


@validator("true or false")
def boolean(value: object) -> bool:
    """Convert true and false."""
    if not isinstance(value, bool):
        raise WrongError(f"must be true or false, is {describe(value)}")
    return value


def boolean_word(value: object) -> bool:
    """The meaning of "yes", "0" and the like, as an environment variable has them."""
    word = str(value).strip().lower()
    valid_words = _TRUE_WORDS + _FALSE_WORDS
    if word not in valid_words:
        raise WrongError(f'must be one of {", ".join(valid_words)}; is "{word[:40]}"')
    return word in _TRUE_WORDS


@validator("a text")
def text(value: object) -> str:
    """Convert a text of one line that is not empty."""
    if not isinstance(value, str):
        raise WrongError(f"must be a text in quotes, is {describe(value)}")
    if not value.strip():
        raise WrongError("must not be empty")
    if not value.isprintable():
        raise WrongError("must be one line without control characters")
    return value.strip()


address = Validator("an https address", text)
id_or_name = Validator("an id or a name", text)
key_list = Validator("keys, separated by commas", text)
"""All three are texts: what else they must be is checked where their meaning is known."""


def _text_matching(pattern: str, values: str) -> Validator[str]:
    compiled = lazy_pattern(pattern, re.ASCII)

    def convert(value: object) -> str:
        word = text(value)
        if not compiled.fullmatch(word):
            raise WrongError(f"must be {values}")
        return word

    return Validator(values, convert)


variable = _text_matching(
    r"[A-Za-z_][A-Za-z0-9_]*", "the name of an environment variable, such as PROD_KEY, without a $"
)
hex_colour = _text_matching(r"#[0-9a-fA-F]{6}", 'a colour such as "#87d7ff"')


@validator("the path of a field")
def field_path(value: object) -> str:
    """Convert the path of a field in an answer: dots lead into objects, `[0]` into lists."""
    written = text(value)
    try:
        parse_field_path(written)
    except FieldPathError as error:
        raise WrongError(f"{error}; is {written[:60]!r}") from None
    return written


def _is_number(value: object, *, least: float, most: float, whole: bool) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return least <= value <= most and (isinstance(value, int) or not whole)


def number(*, least: float, most: float, unit: str = "") -> Validator[float]:
    """Numbers within both limits; `unit` follows the word: " of seconds"."""
    values = f"a number{unit} from {least:g} to {most:g}"

    def convert(value: Any) -> float:
        if not _is_number(value, least=least, most=most, whole=False):
            raise WrongError(f"must be {values}, is {describe(value)}")
        return value  # type: ignore[no-any-return]

    return Validator(values, convert)


def whole_number(*, least: int, most: int) -> Validator[int]:
    """Whole numbers within both limits."""
    values = f"a whole number from {least} to {most}"

    def convert(value: Any) -> int:
        if not _is_number(value, least=least, most=most, whole=True):
            raise WrongError(f"must be {values}, is {describe(value)}")
        return value  # type: ignore[no-any-return]

    return Validator(values, convert)


def percentage(most: float) -> Validator[Decimal]:
    """Percentages above 0, as exact decimals."""
    as_number = number(least=0.001, most=most, unit=" of per cent")
    return Validator(as_number.values, lambda value: Decimal(str(as_number(value))))


refresh = number(least=REFRESH_FROM, most=REFRESH_TO, unit=" of seconds")
"""The interval between two polls of the platform, the remote service that is shown."""
hold = number(least=0, most=60, unit=" of seconds")
"""How long the approval of a task can be taken back before it is sent."""
factor = number(least=1, most=1000)
"""How many times as much."""
megabytes = whole_number(least=10, most=100_000)
"""Millions of bytes; ten are the least that hold one day of a large platform."""
percent = percentage(1000)
"""More than 100 is allowed, because spending can pass a limit."""
probability = percentage(99.999)


def one_of(noun: str, names: tuple[str, ...], values: str = "") -> Validator[str]:
    """Names from a list; `values` replaces the list in the manual."""

    def convert(value: object) -> str:
        word = text(value)
        if word not in names:
            raise WrongError(
                f'is not {noun}: "{word[:60]}" (nearest valid name: {nearest(word, names)};'
                f" all: {', '.join(names)})"
            )
        return word

    return Validator(values or f"one of {', '.join(names)}", convert)


def theme_among(names: Iterable[str]) -> Validator[str]:
    """Names of themes."""
    return one_of("a theme", tuple(names), values="the name of a theme")


screen = one_of("a screen", SCREENS)
colour = one_of("a colour", COLOURS)
priority = one_of("a priority", PRIORITIES)
theme = theme_among(THEMES)
unit = one_of("a unit", tuple(UNITS))
"""What the platform's sums of money are counted in: whole units, cents, …"""


@validator("a path; a relative one starts in the folder of the config file")
def path(value: object) -> Path:
    """Convert a path with `~` for the home folder; a relative path stays relative."""
    try:
        return Path(text(value)).expanduser()
    except RuntimeError:
        raise WrongError(
            "names the home folder of a user that this machine does not know"
        ) from None


def parse_duration(written: str) -> float | None:
    """The seconds of a text such as "90s", "1h30m" or "2w"; None if it is no duration."""
    if not _DURATION.fullmatch(written):
        return None
    parts = _DURATION_PART.findall(written)
    return sum(float(amount) * _SECONDS_BY_UNIT[letter] for amount, letter in parts)


def format_duration(seconds: float) -> str:
    """Seconds as `parse_duration` reads them: "1h30m"."""
    text = ""
    rest = seconds
    for letter, size in reversed(_SECONDS_BY_UNIT.items()):
        if letter == "s":
            amount = rest
        else:
            amount, rest = divmod(rest, size)
        if amount:
            text += f"{amount:g}{letter}"
    return text


_DURATION_VALUES = 'a length of time such as "90s", "15m", "1h30m" or "2d"'


def _convert_duration(value: object) -> float:
    if not isinstance(value, str):
        raise WrongError(f"must be {_DURATION_VALUES}, is {describe(value)}")
    seconds = parse_duration(value.strip())
    if seconds is None:
        raise WrongError(f'must be {_DURATION_VALUES}, is "{value[:40]}"')
    if not 0 < seconds <= _LONGEST_DURATION:
        raise WrongError("must be more than nothing and at most a year")
    return seconds


duration = Validator(_DURATION_VALUES, _convert_duration, format_duration)
"""Converts a length of time to seconds."""


def _convert_command(value: object) -> tuple[str, ...]:
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


command = Validator("a command: a text, or a list of texts", _convert_command, shlex.join)
"""Converts a command to its words; a text is split as a shell splits it.

No shell runs it, so pipes and variables need `["sh", "-c", "…"]`.
"""


def _convert_arguments(value: object) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise WrongError(f'must be a list of texts, such as ["open", "x"], is {describe(value)}')
    return command(value)


arguments = Validator("a command as a list of texts", _convert_arguments, shlex.join)
"""Converts a command that must be a list, so that its words need not be guessed from a text."""


@validator('the three letters of a currency, such as "EUR"')
def currency(value: object) -> str:
    """Convert the code of a currency to upper case."""
    code = text(value).upper()
    if not (code.isascii() and code.isalpha() and len(code) == 3):
        raise WrongError('must be the three letters of a currency, such as "EUR"')
    return code


@validator("a list of words")
def word_list(value: object) -> tuple[str, ...]:
    """Convert a list of at least one word."""
    if not isinstance(value, list) or not value:
        raise WrongError(f'must be a list of words, such as ["needs_ok"], is {describe(value)}')
    return tuple(text(word) for word in value)


def words_by_state(records: str, states: Iterable[str]) -> dict[str, Validator[Any]]:
    """A table that says which words mean each state of some records.

    Its setting `NULL` says which state a status of null means.
    """
    names = tuple(states)
    table: dict[str, Validator[Any]] = dict.fromkeys(names, word_list)
    table[NULL] = one_of(f"a state of {records}", names)
    return table


_RECORD_KINDS = tuple(SCREEN_OF_KIND)
_record_kind = one_of("a kind of record", _RECORD_KINDS)


@validator(f"one or a list of {', '.join(_RECORD_KINDS)}")
def record_kinds(value: object) -> tuple[str, ...]:
    """Convert one kind of record, or a list of them."""
    listed = value if isinstance(value, list) else [value]
    return tuple(_record_kind(kind) for kind in listed)


def _convert_quiet_hours(value: object) -> tuple[tuple[int, int], ...]:
    spans = []
    for written in value if isinstance(value, list) else [value]:
        match = _HOURS.fullmatch(text(written))
        if match is None:
            raise WrongError('must be hours such as "22:00-06:30"')
        start_hour, start_minute, end_hour, end_minute = map(int, match.groups())
        spans.append((start_hour * 60 + start_minute, end_hour * 60 + end_minute))
    return tuple(spans)


def _format_quiet_hours(spans: tuple[tuple[int, int], ...]) -> str:
    def clock(minutes: int) -> str:
        return f"{minutes // 60:02}:{minutes % 60:02}"

    return ", ".join(f"{clock(start)}-{clock(end)}" for start, end in spans)


quiet_hours = Validator(
    'hours such as "22:00-06:30", or a list of them', _convert_quiet_hours, _format_quiet_hours
)
"""Converts spans of local time to (start, end), both in minutes since midnight."""


@validator("an address with {id} in it, and {kind} if needed")
def web_url(value: object) -> str:
    """Convert an address with `{kind}` and `{id}` in the place of those of a record."""
    address = text(value)
    if not re.fullmatch(r"https?://[\x21-\x7e]+", address) or "{id}" not in address:
        raise WrongError('must be an address such as "https://host/{kind}/{id}"')
    return address
