"""What a terminal sends for a key."""

from __future__ import annotations

from collections.abc import Mapping

KEYS: Mapping[str, bytes] = {
    "enter": b"\r",
    "esc": b"\x1b",
    "tab": b"\t",
    "shift+tab": b"\x1b[Z",
    "space": b" ",
    "backspace": b"\x7f",
    "delete": b"\x1b[3~",
    "insert": b"\x1b[2~",
    "up": b"\x1b[A",
    "down": b"\x1b[B",
    "right": b"\x1b[C",
    "left": b"\x1b[D",
    "home": b"\x1b[H",
    "end": b"\x1b[F",
    "pageup": b"\x1b[5~",
    "pagedown": b"\x1b[6~",
    "f1": b"\x1bOP",
}
"""Names known beside `ctrl+letter`, `alt+key` and plain text."""


def bytes_for(key: str) -> bytes:
    """The bytes of a key: a name of `KEYS`, `ctrl+x`, `alt+x`, or text that is typed as it is."""
    if key in KEYS:
        return KEYS[key]
    if key.startswith("ctrl+") and len(key) == 6:
        return bytes([ord(key[-1].upper()) & 0x1F])
    if key.startswith("alt+"):
        return b"\x1b" + KEYS.get(key[4:], key[4:].encode())
    return key.encode()
