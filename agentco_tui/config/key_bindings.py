"""Checks `[keys]` of the config file, and the keys of the user's commands (`[commands.NAME]`).

A `Command` is an entry of the table in `keys/commands.py`: it has an id, default keys, and the
`places` (screens, dialogs) where these work. `fixed` ones cannot be bound to other keys. `over` is
the id of a command whose key it takes over on purpose. A command without a key has `UNBOUND`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from agentco_tui.config.settings import OwnCommand
from agentco_tui.config.validators import describe, nearest
from agentco_tui.keys.commands import (
    COMMANDS,
    COMMANDS_BY_ID,
    LEAVING_KEYS,
    RESERVED_KEYS,
    UNBOUND,
    Command,
)
from agentco_tui.keys.key_names import KNOWN_NAMES, MODIFIERS, key_names

Mistake = tuple[str, str]
"""The full name of a setting, and what is wrong with it."""


class _WrittenKeys(NamedTuple):
    """The unchecked keys of a command in the config file."""

    setting: str
    command: Command | None
    """None if there is no command of this id."""
    value: object


def read_keys(
    table: Mapping[str, object], own: Sequence[OwnCommand] = ()
) -> tuple[dict[str, str], list[Mistake]]:
    """Check the table `[keys]` and the keys of the `own` commands, those of the user.

    Returns the keys by command id, as Textual's names separated by commas or `UNBOUND`, and the
    mistakes: unknown ids and keys, keys that tmux and the like need, two commands with one key in
    the same place, and no key to quit. An id without quotes, as in `tasks.approve = "A"`, is a
    table in TOML; it is read as well.
    """
    written = [
        _WrittenKeys(f"keys.{name}", COMMANDS_BY_ID.get(name), value)
        for name, value in _flat_entries(table)
    ]
    written += [_WrittenKeys(f"{each.command.id}.key", each.command, each.key) for each in own]
    rebound: dict[str, str] = {}
    setting_by_id: dict[str, str] = {}
    mistakes: list[Mistake] = []
    for setting, command, value in written:
        if command is None:
            near = nearest(setting.removeprefix("keys."), _ids_to_bind())
            mistakes.append((setting, f"unknown key binding (nearest valid name: {near})"))
            continue
        setting_by_id[command.id] = setting
        names, reasons = _names_of(value, command)
        mistakes += [(setting, reason) for reason in reasons]
        if not reasons:
            rebound[command.id] = ",".join(names) if names else UNBOUND
    commands = [*COMMANDS, *(each.command for each in own)]
    mistakes += _clashes(commands, rebound, setting_by_id)
    return rebound, mistakes


def nearest_key(word: str) -> str:
    """The key that the user probably meant: "ctrl+x" for "cntrl+x", "pagedown" for "pgdwn"."""
    *modifiers, base = word.split("+")
    near = [nearest(modifier, MODIFIERS) for modifier in modifiers]
    near.append(base if len(base) == 1 else nearest(base, KNOWN_NAMES))
    return "+".join(near)


def _ids_to_bind() -> tuple[str, ...]:
    return tuple(command.id for command in COMMANDS if not command.fixed)


def _flat_entries(table: Mapping[str, object], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield each value in a table and its inner tables, with its dotted name."""
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat_entries(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _names_of(value: object, command: Command) -> tuple[list[str], list[str]]:
    """Return Textual's names of the keys in a value, and what is wrong with it."""
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        return [], [f'must be keys in quotes, such as "j,down", is {describe(value)}']
    if command.fixed:
        return [], [f"cannot be changed: {command.keys} in every dialog"]
    names: list[str] = []
    reasons: list[str] = []
    for text in texts:
        known, unknown = key_names(text)
        names += [name for name in known if name not in names]
        reasons += [
            f'"{word[:40]}" is not a key (nearest valid name: {nearest_key(word)})'
            for word in unknown
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
        if name in LEAVING_KEYS and command.id != "app.quit"
    ]
    if command.id == "app.quit" and not names and not reasons:
        reasons.append("must have a key: there would be no key to leave the program")
    return names, reasons


def _clashes(
    commands: Sequence[Command], rebound: Mapping[str, str], setting_by_id: Mapping[str, str]
) -> Iterator[Mistake]:
    """Yield a mistake for each rebound key that another command has in the same place."""
    for number, first in enumerate(commands):
        for second in commands[number + 1 :]:
            if second.id in rebound:
                changed, other = second, first
            else:
                changed, other = first, second
            if changed.id not in rebound or not first.places & second.places:
                continue
            is_on_purpose = second.over == first.id or first.over == second.id
            if is_on_purpose:
                continue
            taken = rebound.get(other.id, other.keys).split(",")
            for key in rebound[changed.id].split(","):
                if key in taken and key != UNBOUND:
                    text = f"the key {key} is taken by {other.id} in the same place"
                    yield setting_by_id[changed.id], text
