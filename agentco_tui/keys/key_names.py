"""Converts names of keys, as users write them in the config file, to those that Textual uses.

"?" and "question_mark", "esc" and "escape", "shift+s" and "S" are one key each. Textual compares
key names literally, so they must be in its spelling. Textual itself is not imported, so that
`config check` starts fast.
"""

from __future__ import annotations

import unicodedata

_TEXTUAL_NAMES = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
"""Textual's names of characters that it does not call by their Unicode name."""
_SYNONYMS = {
    "esc": "escape",
    "pgup": "pageup",
    "pgdn": "pagedown",
    # A terminal sends the same byte for these two, so they cannot be told apart.
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
}
"""Other names of keys, with Textual's name."""
MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")


def _character_name(character: str) -> str:
    """Return Textual's name of one character: a letter or digit itself, else its Unicode name.

    "" for a character without a name.
    """
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _TEXTUAL_NAMES.get(name, name)


_NAMED = frozenset(
    {_character_name(chr(code)) for code in range(0x21, 0x7F)}
    | {"space", "tab", "enter", "escape", "backspace", "delete", "insert", "home", "end"}
    | {"up", "down", "left", "right", "pageup", "pagedown"}
    | {f"f{number}" for number in range(1, 25)}
)


KNOWN_NAMES = tuple(sorted(name for name in _NAMED if len(name) > 1))
"""Every name of a key longer than one character, for suggesting the nearest one."""


def key_name(text: str) -> str | None:
    """Return a key by Textual's name for it; None if there is no such key.

    Takes "?", "question_mark", "ctrl+x", "shift+s", "S", "esc", "F5".
    """
    text = text.strip()
    if len(text) == 1:
        return _character_name(text) or None
    words = text.split("+")
    if text.endswith("++"):  # the plus key with modifiers: "ctrl++"
        words[-2:] = ["+"]
    base = words[-1].strip()
    modifiers = [word.strip().lower() for word in words[:-1]]
    has_duplicates = len(set(modifiers)) != len(modifiers)
    if not base or has_duplicates or not set(modifiers) <= set(MODIFIERS):
        return None
    if len(base) == 1:
        if modifiers == ["shift"] and base.isalpha():
            return base.upper()
        if modifiers:
            base = base.lower()
        name = _character_name(base)
    else:
        name = _SYNONYMS.get(base.lower(), base.lower())
        if name not in _NAMED:
            return None
    if not name:
        return None
    full_name = "+".join((*sorted(modifiers), name))
    return _SYNONYMS.get(full_name, full_name)


def key_names(text: str) -> tuple[list[str], list[str]]:
    """Return the names of the keys in a comma-separated list, and the words that name no key.

    The names have no duplicates. A lone "," is the comma key. An empty text has no keys.
    """
    words = text.split(",")
    if text.strip() == ",":
        words = [text]
    names: list[str] = []
    unknown_words: list[str] = []
    for word in words:
        name = key_name(word)
        if word == " ":
            name = "space"
        if name is None and word.strip():
            unknown_words.append(word.strip())
        elif name is not None and name not in names:
            names.append(name)
    return names, unknown_words
