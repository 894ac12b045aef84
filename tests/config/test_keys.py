"""The table of keys itself."""

from __future__ import annotations

import pytest

from agentco_tui.config.rebinding import read_keys
from agentco_tui.key_names import key_names
from agentco_tui.keys import COMMANDS, COMMANDS_BY_ID, RESERVED_KEYS, UNBOUND, keys_of

CONTRACT = {
    "screen.overview": "1",
    "screen.companies": "2",
    "screen.agents": "3",
    "screen.tasks": "4",
    "screen.budget": "5",
    "screen.activity": "6",
    "list.down": "j,down",
    "list.up": "k,up",
    "list.top": "g,home",
    "list.bottom": "G,end",
    "list.filter": "slash",
    "list.sort": "s",
    "list.open": "enter",
    "list.copy_id": "y",
    "app.back": "escape",
    "app.go_to": "colon",
    "app.palette": "ctrl+p",
    "app.refresh": "r",
    "app.help": "question_mark",
    "app.quit": "q",
    "tasks.mark": "space",
    "tasks.approve": "a",
    "tasks.trace": "t",
    "tasks.new": "n",
    "companies.new": "n",
    "companies.clone": "c",
    "companies.scope": "enter",
    "agents.limit": "l",
    "budget.limit": "l",
    "activity.follow": "p",
    "activity.filters": "f",
    "activity.export": "e",
    "dialog.yes": "y",
    "dialog.no": "n,escape",
}


@pytest.mark.parametrize(("binding", "keys"), CONTRACT.items())
def test_the_keys_are_those_of_the_contract(binding: str, keys: str) -> None:
    assert COMMANDS_BY_ID[binding].keys == keys


def test_default_keys_are_spelled_right_and_none_is_reserved() -> None:
    for binding in COMMANDS:
        assert key_names(binding.keys) == (binding.keys.split(","), [])
        assert not set(binding.keys.split(",")) & set(RESERVED_KEYS)


def test_default_keys_do_not_clash() -> None:
    same = {binding.id: binding.keys for binding in COMMANDS if not binding.fixed}
    assert read_keys(same)[1] == []


def test_ids_are_unique() -> None:
    assert len(COMMANDS_BY_ID) == len(COMMANDS)


def test_the_keys_a_binding_has_now() -> None:
    assert keys_of("list.down", {}) == ("j", "down")
    assert keys_of("list.down", {"list.down": "J"}) == ("J",)
    assert keys_of("list.down", {"list.down": UNBOUND}) == ()
    with pytest.raises(KeyError):
        keys_of("list.dwn", {})
