"""Makes untrusted text safe to show.

Agents write the texts that the platform sends, so each is hostile until it has passed `safe` (one
line) or `safe_block` (several lines). These return `SafeText`, the only type of text that records
and widgets accept, so that the type checker finds a text that was not cleaned. Pieces of SafeText
that are put together are SafeText again (`joined`).

How characters are shown:

- unchanged: those in cells.txt, on whose width Textual, wcwidth and terminals agree;
- newline and tab: their signs (`safe`), a break and four spaces (`safe_block`);
- C0 controls and DEL: their pictures (␛ ␇ ␡); C1 controls, surrogates, private, unassigned and
  non-characters: U+FFFD each;
- blanks of any width, the braille blank too: a plain space; regional indicators: circled letters;
- everything invisible (format and bidi controls, zero-width, tags, fillers, selectors) and marks
  that terminals draw differently (the vowel signs and viramas of most Indic scripts, Thai vowels
  above the line, enclosing marks): one U+FFFD for each run of them;
- more than two combining marks on one character, and one at the start: the same;
- variation selectors, joiners, skin tones and the keycap inside an emoji: dropped without a sign,
  because they change only how the emoji before them looks.

Markup (`[b]`, `[@click=…]`) is text and stays: show SafeText with Content or Text objects, or
with markup=False, never through a parameter that parses markup.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Final

from agentco_tui.text.patterns import lazy_pattern
from agentco_tui.text.signs import ASCII, OWN, UNICODE, SafeText, in_ascii, signs
from agentco_tui.text.width import CELLS, MARK, MARKS, cell_width, clip, head, one_of

_REMOVED: Final = "\ue000"
"""In place of a removed character while cleaning; the input's own are replaced like all private
characters."""
_HOSTILE: Final = lazy_pattern(lambda: f"{one_of(*CELLS.values(), negated=True)}+")
"""A run of characters that must not be shown unchanged."""
_OVER_EIGHT_MARKS: Final = lazy_pattern(f"({MARKS}{{8}}){MARKS}+")
_OVER_TWO_MARKS: Final = lazy_pattern(f"({MARKS}{{2}}){MARKS}+")
_MARKS_AT_START: Final = lazy_pattern(f"^{MARKS}+")
_MARKS_AND_SIGN: Final = rf"\1{_REMOVED}"
_BLANK: Final = lazy_pattern(
    "[\t\n\r\x0b\x0c\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u2800\u3000]+"
)
"""Blanks of any width, and what ends a line."""
_REMOVED_RUN: Final = lazy_pattern(f"{_REMOVED}+")
_LINE_END: Final = lazy_pattern("\r\n|[\r\x0b\x0c\x85\u2028\u2029]")
_HANGUL: Final = lazy_pattern(
    "[\u1100-\u1112][\u1161-\u1175][\u11a8-\u11c2]?|[\uac00-\ud7a3][\u11a8-\u11c2]"
)
"""Syllables spelt in Jamo, as macOS does in file names; composed, because terminals differ."""

_PICTURE: Final = (
    "\xa9\xae\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u24c2\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299"
    "\U0001f000-\U0001f1e5\U0001f200-\U0001f3fa\U0001f400-\U0001faff"
)
"""Characters that can be an emoji."""
_LOOK: Final = "\ufe0e\ufe0f\U0001f3fb-\U0001f3ff"
"""Variation selectors and skin tones."""
_IN_EMOJI: Final = lazy_pattern(
    f"(?<=[{_PICTURE}])(?:[{_LOOK}]{{1,2}}(?:\u200d(?=[{_PICTURE}]))?|\u200d(?=[{_PICTURE}]))"
    "|(?<=[0-9#*])\ufe0f?\u20e3"
)
"""Characters that change only how the emoji before them looks."""


_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\U0001d159")
"""Invisible characters that Unicode counts among letters and symbols."""
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


class _CharacterTable(dict[int, str]):
    """A table for str.translate that computes the replacement of a character once."""

    def __init__(self, sign: Callable[[str], str], known: dict[int, str]) -> None:
        super().__init__(known)
        self._sign = sign

    def __missing__(self, code: int) -> str:
        sign = self._sign(chr(code))
        if len(self) < 5_000:  # hostile text could bring every character there is
            self[code] = sign
        return sign


def _instead(char: str) -> str:
    """The replacement of a character that must not be shown."""
    code = ord(char)
    category = unicodedata.category(char)
    if category == "Zs" or code == 0x2800:
        return " "
    if 0x1F1E6 <= code <= 0x1F1FF:
        return chr(0x24B6 + code - 0x1F1E6)
    if category in {"Cf", "Mn", "Mc", "Me"} or char in _FILLERS:
        return _REMOVED
    return "\ufffd"


def _near(char: str) -> str:
    """The nearest text in ASCII; "?" if there is none, "" for a combining mark."""
    if char in _ASCII_FOR or MARK.match(char):
        return _ASCII_FOR.get(char, "")
    parts = unicodedata.normalize("NFKD", char)
    return "".join(part for part in parts if " " < part <= "~") or "?"


_CONTROLS: Final = {0x7F: "\u2421", **{code: chr(0x2400 + code) for code in range(0x20)}}
_sign_for: Final = _CharacterTable(_instead, _CONTROLS)
_ascii_for: Final = _CharacterTable(_near, {code: chr(code) for code in (*range(0x20, 0x7F), 0x0A)})


def nearest_ascii(character: str) -> str:
    """The nearest text in ASCII; "?" if there is none, "" for a combining mark."""
    return _ascii_for[ord(character)]


def _compose(found: re.Match[str]) -> str:
    """The composed form (NFC) of a match."""
    return unicodedata.normalize("NFC", found[0])


def _clean(text: str) -> str:
    """One line of characters in cells.txt only, with few combining marks on each."""
    if _HOSTILE.search(text):
        text = _IN_EMOJI.sub("", text)
        text = _HANGUL.sub(_compose, text)
        text = _HOSTILE.sub(lambda found: found[0].translate(_sign_for), text)
    if MARK.search(text):
        text = _MARKS_AT_START.sub(_REMOVED, text)
        # Bounded before composing: putting a long run of marks in order takes quadratic time.
        text = unicodedata.normalize("NFC", _OVER_EIGHT_MARKS.sub(_MARKS_AND_SIGN, text))
        text = _OVER_TWO_MARKS.sub(_MARKS_AND_SIGN, text)
    text = _REMOVED_RUN.sub("\ufffd", text)
    return text.translate(_ascii_for) if in_ascii() else text


def hidden_in(text: str) -> int:
    """How many characters of `text` are hidden or misleading, so that `safe` replaces them.

    Blanks, line ends and characters that only change the look of an emoji do not count.
    """
    if _is_plain(text):
        return 0
    text = _HANGUL.sub(_compose, _IN_EMOJI.sub("", text))
    hostile = "".join(found[0] for found in _HOSTILE.finditer(text))
    marks = (*_MARKS_AT_START.finditer(text), *_OVER_TWO_MARKS.finditer(text))
    return len(_BLANK.sub("", hostile)) + sum(len(found[0]) for found in marks)


def _is_plain(text: str) -> bool:
    """Whether a text is printable ASCII on one line, hence safe as it is."""
    return text.isascii() and text.isprintable()


def safe(value: object, max_cells: int = 400) -> SafeText:
    """Any value as one safe line of at most `max_cells` cells; longer ones end in `…`.

    None is the sign for missing, numbers and containers a compact text, anything else the name of
    its type. Never looks at more than four characters for each cell allowed.
    """
    if type(value) is str and len(value) <= max_cells and value.isascii() and value.isprintable():
        return SafeText(value)
    if value is None:
        return signs.missing
    limit = 4 * max(max_cells, 1)
    text = _as_text(value, limit + 1)
    cut = len(text) > limit
    text = text[:limit]
    if not _is_plain(text):
        text = _LINE_END.sub("\n", text).replace("\n", signs.newline).replace("\t", signs.tab)
        text = _clean(text)
    return clip(SafeText(text + signs.ellipsis if cut else text), max_cells)


def is_blank(text: str) -> bool:
    """Whether a text has only blanks and invisible characters."""
    return not safe(text.strip()).strip(" \ufffd")


def safe_block(value: object, max_cells: int = 20_000, max_lines: int = 2_000) -> SafeText:
    """Any value as safe lines, with "\\n" between them and as the only break.

    At most `max_lines` lines and `max_cells` cells in all; where something was left out, the last
    line says how many characters.
    """
    if value is None:
        return signs.missing
    limit = 4 * max(max_cells, 1)
    text = _as_text(value, limit + 1)
    unread = (len(value) if isinstance(value, str) else len(text)) - limit
    text = text[:limit]
    if not _is_plain(text):
        text = _LINE_END.sub("\n", text).replace("\t", "    ")
        lines = text.split("\n")
        text = "\n".join(line if _is_plain(line) else _clean(line) for line in lines)
    if unread <= 0 and text.count("\n") < max_lines and cell_width(text) <= max_cells:
        return SafeText(text)
    kept: list[str] = []
    room = max_cells - 40
    for line in text.split("\n"):
        if len(kept) >= max_lines - 1 or room <= 0:
            break
        shown = head(line, room)
        kept.append(shown)
        room -= cell_width(shown)
        if shown != line:
            break
    rest = max(1, max(unread, 0) + len(text) - len("\n".join(kept)))
    notice = plain(f"{signs.ellipsis} {rest:,} more character{'s' if rest != 1 else ''}")
    return SafeText("\n".join([*kept, clip(notice, max_cells)]))


def _as_text(value: object, limit: int) -> str:
    """`value` as text of at most `limit` characters, not cleaned."""
    if isinstance(value, str):
        return str(value[:limit])
    text = ""
    for part in _parts(value, limit, depth=0):
        text += part
        if len(text) >= limit:
            break
    return text[:limit]


def _parts(value: object, limit: int, depth: int) -> Iterable[str]:
    """The text of `value` piece by piece, so that the reader can stop at any point."""
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
        yield f"an integer of about {digits:.0f} digits" if digits > 1_200 else str(value)
    elif isinstance(value, (float, Decimal, date)):
        yield str(value)
    elif depth > 8:
        yield "…"
    elif isinstance(value, (Mapping, Sequence)):
        named = isinstance(value, Mapping)
        yield "{" if named else "["
        for position, item in enumerate(value):
            yield ", " if position else ""
            yield from _parts(item, limit, depth + 1)
            if named:
                yield ": "
                yield from _parts(value[item], limit, depth + 1)
        yield "}" if named else "]"
    else:
        # Never repr() or str(): they may hold what must not be shown, and may raise.
        yield f"<{type(value).__name__}>"


def escaped(value: object, max_cells: int = 4_000) -> SafeText:
    """One line in which everything that `safe` would replace is written out: \\x1b, \\u202e.

    For the detail pane, where the user examines what was really sent. Backslashes are doubled, so
    that a text cannot imitate an escape. Combining marks are written out too; letters are not.
    """
    limit = max(max_cells, 1)
    text = _as_text(value, limit + 1)
    cut = len(text) > limit
    shown = _RISKY.sub(_escape, text[:limit].replace("\\", "\\\\"))
    if in_ascii():
        shown = re.sub("[^ -~]", _escape, shown)
    return clip(SafeText(shown + signs.ellipsis if cut else shown), max_cells)


_RISKY: Final = lazy_pattern(lambda: f"{MARKS}|{one_of(*CELLS.values(), negated=True)}")


def _escape(found: re.Match[str]) -> str:
    return ascii(found[0])[1:-1]


def plain(text: str) -> SafeText:
    """Our own words, or texts that are safe already, as SafeText; nothing is cleaned.

    In ASCII mode it is put into ASCII.
    """
    assert OWN.issuperset(text) or not _HOSTILE.search(text.replace("\n", "")), (
        f"{text!a} is unsafe"
    )
    if text.isascii() or not in_ascii():
        return SafeText(text)
    return SafeText(text.translate(_ascii_for))


def joined(parts: Iterable[SafeText], separator: str = " ") -> SafeText:
    """Safe texts joined by `separator`, which is our own; empty ones are left out."""
    return SafeText(plain(separator).join(filter(None, parts)))


def clipboard_text(text: str) -> str:
    """One line for the clipboard (OSC 52), with U+FFFD for each invisible character.

    Such characters could do harm when they are pasted into a shell. The result is no SafeText: it
    must not be shown.
    """
    return "".join(
        char if char.isprintable() and not "\U000e0000" <= char <= "\U000e0fff" else "\ufffd"
        for char in text
    )
