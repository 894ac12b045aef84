"""The table `[keys]`: other keys for what the program does, by binding id."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from agentco_tui.config.kinds import what
from agentco_tui.config.problems import nearest
from agentco_tui.key_names import MODIFIERS, key_names, known_names
from agentco_tui.keys import KEYS, KEYS_BY_ID, LEAVING_KEYS, RESERVED_KEYS, UNBOUND, KeyBinding

KeyPath = tuple[str, ...]
QUIT = "app.quit"


@dataclass(frozen=True)
class WrongKey:
    """An entry of `[keys]` that cannot be, and its path below the table."""

    path: KeyPath
    text: str


@dataclass(frozen=True)
class ReadKeys:
    """What `[keys]` says."""

    keymap: Mapping[str, str] = field(default_factory=dict)
    """Binding id to Textual's key names, parted by commas, or `UNBOUND`."""
    paths: Mapping[str, KeyPath] = field(default_factory=dict)
    """Binding id to where it is written below the table."""
    wrong: tuple[WrongKey, ...] = ()


def read_keys(table: Mapping[str, object]) -> ReadKeys:
    """Check the table `[keys]`.

    Refuses unknown ids, words that are no key, keys that terminals' own programs use, two things on
    one key in the same place, and a program that no key can leave. `tasks.approve = "A"` without
    quotes round the id is a table within a table in TOML; both are taken.
    """
    keymap: dict[str, str] = {}
    paths: dict[str, KeyPath] = {}
    wrong: list[WrongKey] = []
    for path, value in _entries(table):
        binding = KEYS_BY_ID.get(".".join(path))
        if binding is None:
            ids = tuple(known.id for known in KEYS if not known.fixed)
            near = nearest(".".join(path), ids)
            wrong.append(WrongKey(path, f"unknown key binding (nearest valid name: {near})"))
            continue
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
            wrong.append(
                WrongKey(path, f'must be keys in quotes, such as "j,down", is {what(value)}')
            )
            continue
        names, reasons = _names([str(text) for text in texts], binding)
        wrong.extend(WrongKey(path, reason) for reason in reasons)
        if not reasons:
            keymap[binding.id] = ",".join(names) if names else UNBOUND
            paths[binding.id] = path
    wrong.extend(_clashes(keymap, paths))
    return ReadKeys(keymap, paths, tuple(wrong))


def nearest_key(word: str) -> str:
    """The key that was probably meant: "ctrl+x" for "cntrl+x", "pagedown" for "pgdwn"."""
    *modifiers, base = word.split("+")
    near = [nearest(modifier, MODIFIERS) for modifier in modifiers]
    return "+".join((*near, base if len(base) == 1 else nearest(base, known_names())))


def _entries(table: Mapping[str, object]) -> Iterator[tuple[KeyPath, object]]:
    for name, value in table.items():
        if isinstance(value, dict):
            for path, inner in _entries(value):
                yield (name, *path), inner
        else:
            yield (name,), value


def _names(texts: list[str], binding: KeyBinding) -> tuple[list[str], list[str]]:
    """The keys of one entry, and what is wrong with them."""
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


def _clashes(keymap: Mapping[str, str], paths: Mapping[str, KeyPath]) -> Iterator[WrongKey]:
    """Pairs of bindings that answer to one key in one place, told at the one that was rebound."""
    for number, first in enumerate(KEYS):
        for second in KEYS[number + 1 :]:
            rebound = second if second.id in keymap else first
            if rebound.id not in keymap or not first.places & second.places:
                continue
            if second.over == first.id or first.over == second.id:
                continue
            other = first if rebound is second else second
            for key in _shared(first, second, keymap):
                yield WrongKey(
                    paths[rebound.id], f"the key {key} is taken by {other.id} in the same place"
                )


def _shared(first: KeyBinding, second: KeyBinding, keymap: Mapping[str, str]) -> list[str]:
    theirs = keymap.get(second.id, second.keys).split(",")
    return [
        key
        for key in keymap.get(first.id, first.keys).split(",")
        if key in theirs and key != UNBOUND
    ]
