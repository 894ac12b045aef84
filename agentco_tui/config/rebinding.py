"""The table `[keys]`: other keys for what the program does, by binding id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from agentco_tui.config.validators import nearest, what
from agentco_tui.key_names import KNOWN_NAMES, MODIFIERS, key_names
from agentco_tui.keys import COMMANDS, COMMANDS_BY_ID, LEAVING_KEYS, RESERVED_KEYS, UNBOUND, Command

QUIT = "app.quit"


def read_keys(table: Mapping[str, object]) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """The table `[keys]` as (binding id to Textual's key names, what is wrong by name).

    Names are parted by commas, or `UNBOUND`. Refuses unknown ids, words that are no key, keys that
    terminals' own programs use, two things on one key in the same place, and a program that no key
    can leave. `tasks.approve = "A"` without quotes round the id is a table within a table in TOML;
    both are taken.
    """
    keymap: dict[str, str] = {}
    wrong: list[tuple[str, str]] = []
    for name, value in _entries(table):
        binding = COMMANDS_BY_ID.get(name)
        if binding is None:
            near = nearest(name, tuple(known.id for known in COMMANDS if not known.fixed))
            wrong.append((name, f"unknown key binding (nearest valid name: {near})"))
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            wrong.append((name, f'must be keys in quotes, such as "j,down", is {what(value)}'))
            continue
        names, reasons = _names([str(text) for text in texts], binding)
        wrong += [(name, reason) for reason in reasons]
        if not reasons:
            keymap[name] = ",".join(names) if names else UNBOUND
    for number, first in enumerate(COMMANDS):
        for second in COMMANDS[number + 1 :]:
            rebound, other = (second, first) if second.id in keymap else (first, second)
            if rebound.id not in keymap or not first.places & second.places:
                continue
            if second.over == first.id or first.over == second.id:
                continue
            theirs = keymap.get(other.id, other.keys).split(",")
            for key in keymap[rebound.id].split(","):
                if key in theirs and key != UNBOUND:
                    text = f"the key {key} is taken by {other.id} in the same place"
                    wrong.append((rebound.id, text))
    return keymap, wrong


def nearest_key(word: str) -> str:
    """The key that was probably meant: "ctrl+x" for "cntrl+x", "pagedown" for "pgdwn"."""
    *modifiers, base = word.split("+")
    near = [nearest(modifier, MODIFIERS) for modifier in modifiers]
    return "+".join((*near, base if len(base) == 1 else nearest(base, KNOWN_NAMES)))


def _entries(table: Mapping[str, object], above: str = "") -> Iterator[tuple[str, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _entries(value, f"{above}{name}.")
        else:
            yield f"{above}{name}", value


def _names(texts: list[str], binding: Command) -> tuple[list[str], list[str]]:
    if binding.fixed:
        return [], [f"cannot be changed: {binding.keys} in every dialog"]
    names: list[str] = []
    reasons: list[str] = []
    for text in texts:
        found, unknown = key_names(text)
        names += [name for name in found if name not in names]
        reasons += [
            f'"{word[:40]}" is no key (nearest valid name: {nearest_key(word)})' for word in unknown
        ]
    reasons += [
        f"{name} belongs to the terminal's own programs (tmux, screen, vim, the shell):"
        " choose another key"
        for name in names
        if name in RESERVED_KEYS
    ]
    reasons += [
        f"{name} always leaves what is open: choose another key"
        for name in names
        if name in LEAVING_KEYS and binding.id != QUIT
    ]
    if binding.id == QUIT and not names and not reasons:
        reasons.append("must have a key: there would be no key to leave the program")
    return names, reasons
