"""Makes untrusted text safe to show in a terminal.

The platform is the remote service that the program shows. AI agents write the texts that it sends,
so each is hostile until it has passed `clean_line` (one line) or `clean_block` (several lines).
These return `SafeText`, the only type of text that records (the structs that answers are read into)
and widgets accept, so that the type checker finds a text that was not cleaned. `mark_safe` makes
SafeText of the program's own words, and `joined` of several pieces of SafeText.

How characters are shown:

- unchanged: those in cells.txt (`SHOWN_CHARACTERS`), whose width is the same in all terminals;
- newline and tab: their signs (`clean_line`), a break and four spaces (`clean_block`);
- C0 controls and DEL: their pictures (␛ ␇ ␡); C1 controls, surrogates, private, unassigned and
  non-characters: U+FFFD each;
- blanks of any width, the braille blank too: a plain space; regional indicators (the letters of
  flags): circled letters;
- everything invisible (format and bidi controls, zero-width, tags, fillers, selectors) and marks
  that terminals draw differently (the vowel signs and viramas of most Indic scripts, Thai vowels
  above the line, enclosing marks): one U+FFFD for each run of them;
- the third and further combining marks on one character, and marks at the start: the same;
- variation selectors, joiners, skin tones and the keycap inside an emoji: dropped without a sign,
  because they change only how the emoji before them looks.

Markup (`[b]`, `[@click=…]`) is text and stays: show SafeText with Content or Text objects, or with
markup=False, never through a parameter that parses markup.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from agentco_tui.text.patterns import lazy_pattern
from agentco_tui.text.signs import ASCII, COMMON_CHARACTERS, UNICODE, SafeText, in_ascii, signs
from agentco_tui.text.width import (
    MARK_PATTERN,
    MARK_REGEX,
    SHOWN_CHARACTERS,
    cell_width,
    character_regex,
    clip,
    prefix_of_width,
)

_REMOVED: Final = "\ue000"
"""Placeholder for a removed character during cleaning; a private-use character, which the input
cannot have at that point."""
_HOSTILE: Final = lazy_pattern(
    lambda: f"{character_regex(*SHOWN_CHARACTERS.values(), negated=True)}+"
)
"""A run of characters that must not be shown unchanged: those not in cells.txt."""
_OVER_EIGHT_MARKS: Final = lazy_pattern(f"({MARK_REGEX}{{8}}){MARK_REGEX}+")
_OVER_TWO_MARKS: Final = lazy_pattern(f"({MARK_REGEX}{{2}}){MARK_REGEX}+")
_MARKS_AT_START: Final = lazy_pattern(f"^{MARK_REGEX}+")
_MARKS_AND_SIGN: Final = rf"\1{_REMOVED}"
_BLANK: Final = lazy_pattern(
    "[\t\n\r\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]+"
)
"""Blanks of any width, and line ends."""
_REMOVED_RUN: Final = lazy_pattern(f"{_REMOVED}+")
_LINE_END: Final = lazy_pattern("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HANGUL: Final = lazy_pattern(
    "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\uac00-\ud7a3][\u11a8-\u11c2]"
)
"""Korean syllables spelt in single letters (Jamo), as macOS spells file names. They are composed,
because terminals differ in their width."""

_EMOJI_BASES: Final = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
"""Characters that can be an emoji."""
_LOOK_MODIFIERS: Final = "\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
"""Variation selectors and skin tones."""
_EMOJI_MODIFIERS: Final = lazy_pattern(
    f"(?<=[{_EMOJI_BASES}])(?:[{_LOOK_MODIFIERS}]{{1,2}}(?:\u200d(?=[{_EMOJI_BASES}]))?|\u200d(?=[{_EMOJI_BASES}]))"
    "|(?<=[0-9#*])\ufe0f?\u20e3"
)
"""Characters after an emoji (or a digit of a keycap) that only change how it looks."""


_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\U0001d159")
"""Invisible characters that Unicode classifies as letters or symbols."""
_ASCII_FOR: Final[dict[str, str]] = {
    **dict.fromkeys("–—−‐‑‒―·─", "-"),
    **dict.fromkeys("‘’‚‹›", "'"),
    **dict.fromkeys("“”„«»", '"'),
    **{"•": "*", "…": "~", "→": "->", "←": "<-", "×": "x", "÷": "/", "ß": "ss", "ẞ": "SS"},
    **{"æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "đ": "d", "Đ": "D"},
    **{"ł": "l", "Ł": "L", "ı": "i", "þ": "th", "Þ": "Th", "ð": "d", "Ð": "D", "€": "EUR"},
    **{"£": "GBP", "¥": "JPY", "©": "(c)", "®": "(r)", "°": "deg", "␡": "^?"},
    **{chr(0x2400 + code): "^" + chr(0x40 + code) for code in range(32)},
    # Backwards, so that ▲ is the warning and not the sort order.
    **dict(zip(reversed(vars(UNICODE).values()), reversed(vars(ASCII).values()), strict=True)),
}
"""Texts in ASCII for characters that Unicode does not decompose."""
_NOTICE_CELLS: Final = 40
"""Cells that `clean_block` reserves for its notice about what it left out."""


class _CharacterTable(dict[int, str]):
    """A table for `str.translate` that computes and caches the replacement of each character."""

    def __init__(self, replacement_for: Callable[[str], str], known: dict[int, str]) -> None:
        super().__init__(known)
        self._replacement_for = replacement_for

    def __missing__(self, code: int) -> str:
        replacement = self._replacement_for(chr(code))
        if len(self) < 5_000:  # bounded, since hostile text could contain all of Unicode
            self[code] = replacement
        return replacement


def _replacement_for(char: str) -> str:
    """Return the replacement of a character that must not be shown."""
    code = ord(char)
    category = unicodedata.category(char)
    if category == "Zs" or code == 0x2800:
        return " "
    if 0x1F1E6 <= code <= 0x1F1FF:
        return chr(0x24B6 + code - 0x1F1E6)
    if category in {"Cf", "Mn", "Mc", "Me"} or char in _FILLERS:
        return _REMOVED
    return "\ufffd"


def _nearest_ascii(char: str) -> str:
    if char in _ASCII_FOR or MARK_PATTERN.match(char):
        return _ASCII_FOR.get(char, "")
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if " " < part <= "~") or "?"


_CONTROL_PICTURES: Final = {0x7F: "\u2421", **{code: chr(0x2400 + code) for code in range(0x20)}}
_replacements: Final = _CharacterTable(_replacement_for, _CONTROL_PICTURES)
_ascii_replacements: Final = _CharacterTable(
    _nearest_ascii, {code: chr(code) for code in (*range(0x20, 0x7F), 0x0A)}
)


def nearest_ascii(character: str) -> str:
    """Return the nearest text in ASCII; "?" if there is none, "" for a combining mark."""
    return _ascii_replacements[ord(character)]


def _compose(match: re.Match[str]) -> str:
    """Return the composed form (NFC) of a match."""
    return unicodedata.normalize("NFC", match[0])


def _clean_line(text: str) -> str:
    """Return one line with only characters of cells.txt, and at most two marks on each."""
    if not COMMON_CHARACTERS.issuperset(text):
        text = _without_hostile(text)
    if in_ascii():
        return text.translate(_ascii_replacements)
    return text


def _without_hostile(text: str) -> str:
    """Return a line with all that `_clean_line` removes or replaces."""
    if _HOSTILE.search(text):
        text = _EMOJI_MODIFIERS.sub("", text)
        text = _HANGUL.sub(_compose, text)
        text = _HOSTILE.sub(lambda match: match[0].translate(_replacements), text)
    if MARK_PATTERN.search(text):
        text = _MARKS_AT_START.sub(_REMOVED, text)
        # Bounded before composing: putting a long run of marks in order takes quadratic time.
        text = unicodedata.normalize("NFC", _OVER_EIGHT_MARKS.sub(_MARKS_AND_SIGN, text))
        text = _OVER_TWO_MARKS.sub(_MARKS_AND_SIGN, text)
    return _REMOVED_RUN.sub("\ufffd", text)


def count_hidden(text: str) -> int:
    """Return how many characters of `text` are hidden or misleading.

    These are the characters that `clean_line` replaces, but for blanks, line ends and
    characters that only change how an emoji looks.
    """
    if _is_plain(text) or COMMON_CHARACTERS.issuperset(text):
        return 0
    text = _HANGUL.sub(_compose, _EMOJI_MODIFIERS.sub("", text))
    hostile = "".join(match[0] for match in _HOSTILE.finditer(text))
    surplus_marks = (*_MARKS_AT_START.finditer(text), *_OVER_TWO_MARKS.finditer(text))
    return len(_BLANK.sub("", hostile)) + sum(len(match[0]) for match in surplus_marks)


def _is_plain(text: str) -> bool:
    """Return whether a text is printable ASCII on one line, which is safe unchanged."""
    return text.isascii() and text.isprintable()


def clean_line(value: object, max_cells: int = 400) -> SafeText:
    """Return any value as one safe line of at most `max_cells` cells; a longer one ends in `…`.

    None becomes the sign for a missing value, numbers and containers a compact text, any other
    object the name of its type. Reads at most four characters for each cell allowed.
    """
    if type(value) is str and len(value) <= max_cells and value.isascii() and value.isprintable():
        return SafeText(value)
    if value is None:
        return signs.missing
    limit = 4 * max(max_cells, 1)
    text = _uncleaned_text(value, limit + 1)
    is_cut = len(text) > limit
    text = text[:limit]
    if not _is_plain(text):
        text = _LINE_END.sub("\n", text).replace("\n", signs.newline).replace("\t", signs.tab)
        text = _clean_line(text)
    if is_cut:
        text += signs.ellipsis
    return clip(SafeText(text), max_cells)


def is_blank(text: str) -> bool:
    """Return whether a text consists of blanks and invisible characters only."""
    return not clean_line(text.strip()).strip(" \ufffd")


def clean_block(value: object, max_cells: int = 20_000, max_lines: int = 2_000) -> SafeText:
    """Return any value as safe lines, separated by "\\n".

    They are at most `max_lines` lines and `max_cells` cells in all. If something was left out, the
    last line says how many characters.
    """
    if type(value) is str and len(value) <= max_cells and _is_plain(value) and max_lines > 0:
        return SafeText(value)
    if value is None:
        return signs.missing
    limit = 4 * max(max_cells, 1)
    text = _uncleaned_text(value, limit + 1)
    length = len(text)
    if isinstance(value, str):
        length = len(value)
    unread = max(length - limit, 0)
    text = text[:limit]
    if not _is_plain(text):
        text = _LINE_END.sub("\n", text).replace("\t", "    ")
        text = "\n".join(map(_clean_line_if_needed, text.split("\n")))
    if unread == 0 and text.count("\n") < max_lines and cell_width(text) <= max_cells:
        return SafeText(text)
    shown_lines: list[str] = []
    room = max_cells - _NOTICE_CELLS
    for line in text.split("\n"):
        if len(shown_lines) >= max_lines - 1 or room <= 0:
            break
        shown_line = prefix_of_width(line, room)
        shown_lines.append(shown_line)
        room -= cell_width(shown_line)
        if shown_line != line:
            break
    left_out = max(1, unread + len(text) - len("\n".join(shown_lines)))
    plural = "" if left_out == 1 else "s"
    notice = mark_safe(f"{signs.ellipsis} {left_out:,} more character{plural}")
    return SafeText("\n".join([*shown_lines, clip(notice, max_cells)]))


def _clean_line_if_needed(line: str) -> str:
    if _is_plain(line):
        return line
    return _clean_line(line)


def _uncleaned_text(value: object, limit: int) -> str:
    """Return a value as text of at most `limit` characters, which is not yet safe."""
    if isinstance(value, str):
        return str(value[:limit])
    text = ""
    for part in _parts(value, limit, depth=0):
        text += part
        if len(text) >= limit:
            break
    return text[:limit]


def _parts(value: object, limit: int, depth: int) -> Iterable[str]:
    """Yield the text of a value in pieces, so that the caller can stop early.

    `limit` bounds each string; `depth` is the number of containers around the value.
    """
    if isinstance(value, str):
        yield str(value[:limit])
    elif isinstance(value, (bytes, bytearray)):
        yield bytes(value[:limit]).decode("utf-8", "replace")
    elif value is None:
        yield "null"
    elif isinstance(value, bool):
        yield str(value).lower()
    elif isinstance(value, int):
        # Python refuses to print integers of more than 4,300 digits, and takes long for fewer.
        digits = value.bit_length() * 0.30103
        if digits > 1_200:
            yield f"an integer of about {digits:.0f} digits"
        else:
            yield str(value)
    elif isinstance(value, (float, Decimal, date)):
        yield str(value)
    elif depth > 8:
        yield "…"
    elif isinstance(value, Mapping):
        yield "{"
        for position, (key, item) in enumerate(value.items()):
            if position > 0:
                yield ", "
            yield from _parts(key, limit, depth + 1)
            yield ": "
            yield from _parts(item, limit, depth + 1)
        yield "}"
    elif isinstance(value, Sequence):
        yield "["
        for position, item in enumerate(value):
            if position > 0:
                yield ", "
            yield from _parts(item, limit, depth + 1)
        yield "]"
    else:
        # Never repr() or str(): these may contain secrets, and may raise.
        yield f"<{type(value).__name__}>"


def escaped(value: object, max_cells: int = 4_000) -> SafeText:
    """Return one line with escapes (\\x1b, \\u202e) for the characters that `clean_line` replaces.

    For the detail pane, where the user examines what was really sent. Backslashes are doubled, so
    that a text cannot imitate an escape. Combining marks are escaped too.
    """
    limit = max(max_cells, 1)
    text = _uncleaned_text(value, limit + 1)
    is_cut = len(text) > limit
    shown = _TO_ESCAPE.sub(_escape, text[:limit].replace("\\", "\\\\"))
    if in_ascii():
        shown = re.sub("[^ -~]", _escape, shown)
    if is_cut:
        shown += signs.ellipsis
    return clip(SafeText(shown), max_cells)


_TO_ESCAPE: Final = lazy_pattern(
    lambda: f"{MARK_REGEX}|{character_regex(*SHOWN_CHARACTERS.values(), negated=True)}"
)


def _escape(match: re.Match[str]) -> str:
    return ascii(match[0])[1:-1]


def mark_safe(text: str) -> SafeText:
    """Return the program's own words, or safe text put together, as SafeText.

    Nothing is cleaned: an assertion fails for text that is not safe. In ASCII mode the text is
    converted to ASCII.
    """
    lines = text.replace("\n", "")
    # Most are of common characters, which is checked faster.
    assert COMMON_CHARACTERS.issuperset(lines) or not _HOSTILE.search(lines), f"{text!a} is unsafe"
    if text.isascii() or not in_ascii():
        return SafeText(text)
    return SafeText(text.translate(_ascii_replacements))


def joined(parts: Iterable[SafeText], separator: str = " ") -> SafeText:
    """Return safe texts joined by a separator of the program's own; empty texts are left out."""
    return SafeText(mark_safe(separator).join(filter(None, parts)))


def clipboard_text(text: str) -> str:
    """Return one line for the clipboard (OSC 52), with U+FFFD for each invisible character.

    Such characters could do harm when they are pasted into a shell. The result is not SafeText, and
    must not be shown.
    """
    characters: list[str] = []
    for char in text:
        is_tag = "\U000e0000" <= char <= "\U000e0fff"
        is_shown = char.isprintable() and not is_tag
        characters.append(char if is_shown else "\ufffd")
    return "".join(characters)
