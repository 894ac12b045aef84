"""What a program may write to a terminal, and at which columns the tags in a picture stand."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import defaultdict

import wcwidth

_PAINT = re.compile(
    rb"\x1b\[[0-9;]*m"  # colours
    rb"|\x1b\[[0-9;]*H"  # the cursor's place
    rb"|\x1b\[\?(?:2026|25)[hl]"  # a picture's begin and end, the cursor's look
    rb"|\x1b\]22;[a-z]+\x07"  # the shape of the mouse pointer
)
_CLIPBOARD = re.compile(rb"\x1b\]52;c;[A-Za-z0-9+/=]*\x07")
_INVISIBLE = frozenset("\u115f\u1160\u3164\uffa0\u034f\u2800") | {
    chr(code) for code in (*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0), *range(0x180B, 0x1810))
}
_TAG = re.compile(r"(?<![A-Za-z0-9])([A-Zxy])(\d{3})")
_FORBIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})


def unclean(written: bytes, *, lines: bool = False, clipboard: bool = False) -> list[str]:
    """What is in the bytes beside text and painting: escape sequences, controls, unseen characters.

    `lines` allows line ends (a command's output), `clipboard` one OSC 52, which must have been
    asked for. A sequence that the cut at the end leaves unfinished is no finding.
    """
    found: list[str] = []
    rest = _PAINT.sub(b"", written)
    if clipboard:
        rest = _CLIPBOARD.sub(b"", rest, count=1)
    if lines:
        rest = rest.replace(b"\r\n", b"").replace(b"\n", b"")
    whole = re.sub(rb"\x1b[\[?0-9;]*\Z", b"", rest)
    # Nor is a letter of several bytes, of which the last are still to come.
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(whole)
    for at, char in enumerate(text):
        if char.isascii() and char.isprintable():
            continue
        if unicodedata.category(char) in _FORBIDDEN or char in _INVISIBLE:
            found.append(f"{char!a} in {text[max(0, at - 30) : at + 30]!a}")
            if len(found) > 20:
                break
    return found


def tags(rows: list[str]) -> dict[str, dict[int, set[int]]]:
    """For each letter, at which column the rows show a tag: {letter: {column: {numbers}}}."""
    found: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    for line in rows:
        for match in _TAG.finditer(line):
            column = sum(wcwidth.wcwidth(char) for char in line[: match.start()])
            found[match[1]][column].add(int(match[2]))
    return found
