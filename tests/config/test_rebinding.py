"""The table `[keys]`."""

from __future__ import annotations

import pytest

from agentco_tui.config.rebinding import nearest_key, read_keys
from agentco_tui.keys import RESERVED_KEYS, UNBOUND


def test_dotted_names_with_and_without_quotes_are_the_same() -> None:
    assert read_keys({"tasks": {"approve": "A"}})[0] == {"tasks.approve": "A"}
    assert read_keys({"tasks.approve": "A"})[0] == {"tasks.approve": "A"}


def test_keys_come_out_as_textual_compares_them() -> None:
    keymap, wrong = read_keys({"list.down": ["J", " Down "], "app.help": "?,f1", "tasks.mark": ""})
    assert keymap == {
        "list.down": "J,down",
        "app.help": "question_mark,f1",
        "tasks.mark": UNBOUND,
    }
    assert wrong == []


@pytest.mark.parametrize("key", RESERVED_KEYS)
def test_keys_of_other_programs_are_refused(key: str) -> None:
    ((name, text),) = read_keys({"tasks.approve": key.upper()})[1]
    assert key in text
    assert name == "tasks.approve"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"tasks.aprove": "A"}, "nearest valid name: tasks.approve"),
        ({"tasks": {"approv": "A"}}, "nearest valid name: tasks.approve"),
        ({"tasks.approve": 5}, "must be keys in quotes"),
        ({"tasks.approve": ["A", 5]}, "must be keys in quotes"),
        ({"tasks.approve": "cntrl+x"}, "nearest valid name: ctrl+x"),
        ({"tasks.approve": "q"}, "taken by app.quit"),
        ({"app.quit": "Q,a"}, "taken by tasks.approve"),
        ({"companies.new": "c"}, "taken by companies.clone"),
        ({"app.quit": ""}, "no key to leave"),
        ({"app.quit": []}, "no key to leave"),
        ({"dialog.yes": "enter"}, "cannot be changed"),
        ({"tasks.trace": "y"}, "taken by list.copy_id"),
        ({"tasks.approve": "ctrl+c"}, "ctrl+c always leaves"),
        ({"list.open": "o,ctrl+q"}, "ctrl+q always leaves"),
        ({"app.quit": "t"}, "taken by tasks.trace"),
        ({"app.leave": "c"}, "unknown key binding"),
        ({"app.suspend_process": "c"}, "unknown key binding"),
    ],
)
def test_what_cannot_be_is_told(table: dict[str, object], words: str) -> None:
    texts = [text for _, text in read_keys(table)[1]]
    assert any(words in text for text in texts), texts


@pytest.mark.parametrize(
    "table",
    [
        {"app.quit": "Q", "tasks.approve": "q"},
        {"tasks.new": "N", "companies.clone": "n", "companies.new": "C"},
        {"tasks.approve": "l"} | {"budget.limit": "a"},
        {"companies.scope": "enter", "list.open": "enter,o"},
        {"list.sort": "", "tasks.mark": "s"},
        {"app.quit": "ctrl+c,f10"},
    ],
)
def test_what_only_looks_like_a_clash_is_allowed(table: dict[str, object]) -> None:
    assert read_keys(table)[1] == []


def test_every_problem_is_told() -> None:
    table = {"tasks.aprove": "A", "list.up": "ctrl+b,wat", "app.quit": ""}
    assert len(read_keys(table)[1]) == 4


def test_nearest_key() -> None:
    assert nearest_key("pgdwn") == "pagedown"
    assert nearest_key("cntrl+x") == "ctrl+x"
