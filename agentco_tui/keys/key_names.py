"""Names of keys: converts what users write to the names that Textual uses; without Textual.

"?" and "question_mark", "esc" and "escape", "shift+s" and "S" are one key each. Textual compares a
keymap's names letter by letter, so they have to be in its own spelling before they reach it.
"""

from __future__ import annotations

import unicodedata

_RENAMED = {
    "solidus": "slash",
    "reverse_solidus": "backslash",
    "commercial_at": "at",
    "hyphen_minus": "minus",
    "plus_sign": "plus",
    "low_line": "underscore",
}
_SAME_KEY = {
    "esc": "escape",
    "pgup": "pageup",
    "pgdn": "pagedown",
    # A terminal sends the same byte for these two, so they cannot be told apart.
    "ctrl+i": "tab",
    "ctrl+m": "enter",
    "ctrl+left_square_bracket": "escape",
}
MODIFIERS = ("alt", "ctrl", "hyper", "meta", "shift", "super")


def _character_name(character: str) -> str:
    """Textual's name of one character: itself for a letter or a digit, else its Unicode name."""
    if character == " ":
        return "space"
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return _RENAMED.get(name, name)


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
    *modifiers, base = text.split("+") if not text.endswith("++") else (*text[:-2].split("+"), "+")
    modifiers = [modifier.strip().lower() for modifier in modifiers]
    base = base.strip()
    if not base or not set(modifiers) <= set(MODIFIERS) or len(set(modifiers)) != len(modifiers):
        return None
    if len(base) == 1:
        if modifiers == ["shift"] and base.isalpha():
            return base.upper()
        name = _character_name(base.lower() if modifiers else base)
    else:
        name = _SAME_KEY.get(base.lower(), base.lower())
        if name not in _NAMED:
            return None
    if not name:
        return None
    whole = "+".join((*sorted(modifiers), name))
    return _SAME_KEY.get(whole, whole)


def key_names(text: str) -> tuple[list[str], list[str]]:
    """Return the names of the keys in a comma-separated list, without duplicates, and the words
    that are no key.

    A lone "," is the comma key. An empty text has no keys.
    """
    words = [text] if text.strip() == "," else text.split(",")
    names: list[str] = []
    wrong: list[str] = []
    for word in words:
        name = "space" if word == " " else key_name(word)
        if name is None and word.strip():
            wrong.append(word.strip())
        elif name is not None and name not in names:
            names.append(name)
    return names, wrong
