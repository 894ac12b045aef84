"""The names of keys, the table of commands, and `[keys]`."""

from __future__ import annotations

import string

import pytest

# private: our names of keys are compared with Textual's own, which have no public function.
from textual.keys import _character_to_key

from agentco_tui.config import OwnCommand
from agentco_tui.config.key_bindings import read_keys
from agentco_tui.keys.commands import COMMANDS, COMMANDS_BY_ID, RESERVED_KEYS, UNBOUND, keys_of
from agentco_tui.keys.key_names import key_name, key_names

CONTRACT = {
    "screen.overview": "1", "screen.companies": "2", "screen.agents": "3", "screen.tasks": "4",
    "screen.budget": "5", "screen.activity": "6", "list.down": "j,down", "list.up": "k,up",
    "list.top": "g,home", "list.bottom": "G,end", "list.filter": "slash", "list.sort": "s",
    "list.open": "enter", "list.copy_id": "y", "app.back": "escape", "app.go_to": "colon",
    "app.palette": "ctrl+p", "app.refresh": "r", "app.help": "question_mark", "app.quit": "q",
    "tasks.mark": "space", "tasks.approve": "a", "tasks.trace": "t", "tasks.new": "n",
    "companies.new": "n", "companies.clone": "c", "companies.scope": "enter",
    "agents.limit": "l", "budget.limit": "l", "activity.follow": "p", "activity.filters": "f",
    "activity.export": "e", "dialog.yes": "y", "dialog.no": "n,escape",
}  # fmt: skip


def test_the_keys_are_those_of_the_contract() -> None:
    assert {name: COMMANDS_BY_ID[name].keys for name in CONTRACT} == CONTRACT
    assert len(COMMANDS_BY_ID) == len(COMMANDS)


def test_default_keys_are_spelled_right_and_none_is_reserved() -> None:
    for binding in (one for one in COMMANDS if one.keys != UNBOUND):
        assert key_names(binding.keys) == (binding.keys.split(","), [])
        assert not set(binding.keys.split(",")) & set(RESERVED_KEYS)


def test_default_keys_do_not_clash() -> None:
    same = {binding.id: binding.keys for binding in COMMANDS if not binding.fixed}
    same = {name: keys for name, keys in same.items() if keys != UNBOUND}
    assert read_keys(same)[1] == []


def test_the_keys_a_binding_has_now() -> None:
    assert keys_of("list.down", {}) == ("j", "down")
    assert keys_of("list.down", {"list.down": "J"}) == ("J",)
    assert keys_of("list.down", {"list.down": UNBOUND}) == ()
    with pytest.raises(KeyError):
        keys_of("list.dwn", {})


@pytest.mark.parametrize(
    ("written", "names", "unknown"),
    [
        ("?,question_mark", ["question_mark"], []),
        ("/", ["slash"], []),
        ("-,G,shift+s", ["minus", "G", "S"], []),
        ("esc,Enter,F5", ["escape", "enter", "f5"], []),
        ("ctrl+P,shift+ctrl+x,ctrl++", ["ctrl+p", "ctrl+shift+x", "ctrl+plus"], []),
        ("ctrl+i,ctrl+[", ["tab", "escape"], []),
        ("pgdn, j ,j", ["pagedown", "j"], []),
        (",", ["comma"], []),
        ("", [], []),
        ("ctrl+,cntrl+x,ctrl+ctrl+x", [], ["ctrl+", "cntrl+x", "ctrl+ctrl+x"]),
        ("j,f25,foo,a b", ["j"], ["f25", "foo", "a b"]),
    ],
)
def test_keys_get_their_names(written: str, names: list[str], unknown: list[str]) -> None:
    assert key_names(written) == (names, unknown)


def test_printable_characters_are_named_as_textual_names_them() -> None:
    for character in string.ascii_letters + string.digits + string.punctuation:
        assert key_name(character) == _character_to_key(character)


def test_keys_come_out_as_textual_compares_them() -> None:
    keymap, wrong = read_keys({"list.down": ["J", " Down "], "app.help": "?,f1", "tasks.mark": ""})
    expected = {"list.down": "J,down", "app.help": "question_mark,f1", "tasks.mark": UNBOUND}
    assert (keymap, wrong) == (expected, [])
    assert read_keys({"tasks": {"approve": "A"}}) == ({"tasks.approve": "A"}, [])


@pytest.mark.parametrize("key", RESERVED_KEYS)
def test_keys_of_other_programs_are_refused(key: str) -> None:
    ((name, text),) = read_keys({"tasks.approve": key.upper()})[1]
    assert key in text
    assert name == "keys.tasks.approve"


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"tasks.aprove": "A"}, "nearest valid name: tasks.approve"),
        ({"tasks": {"approv": "A"}}, "nearest valid name: tasks.approve"),
        ({"tasks.approve": 5}, "must be keys in quotes"),
        ({"tasks.approve": ["A", 5]}, "must be keys in quotes"),
        ({"tasks.approve": "cntrl+x"}, "nearest valid name: ctrl+x"),
        ({"tasks.approve": "A,pgdwn"}, "nearest valid name: pagedown"),
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
def test_what_cannot_be_bound_is_reported(table: dict[str, object], words: str) -> None:
    texts = [text for _, text in read_keys(table)[1]]
    assert any(words in text for text in texts), texts


@pytest.mark.parametrize(
    "table",
    [
        {"app.quit": "Q", "tasks.approve": "q"},
        {"tasks.new": "N", "companies.clone": "n", "companies.new": "D"},
        {"tasks.approve": "l"} | {"budget.limit": "a"},
        {"companies.scope": "enter", "list.open": "enter,f9"},
        {"list.sort": "", "tasks.mark": "s"},
        {"app.quit": "ctrl+c,f10"},
    ],
)
def test_what_only_looks_like_a_clash_is_allowed(table: dict[str, object]) -> None:
    assert read_keys(table)[1] == []


def own(**changes: object) -> OwnCommand:
    given = {"name": "note", "run": ("note",), "scope": ("task",), "key": "N", **changes}
    return OwnCommand(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("commands", "keys", "words"),
    [
        ([own(key="a")], {}, "commands.note.key: the key a is taken by tasks.approve in the same"),
        ([own(key="a")], {"tasks.approve": "A"}, ""),
        ([own(key="A")], {"tasks.approve": "A"}, "taken by tasks.approve"),
        ([own(key="/")], {}, "taken by list.filter"),
        ([own(key="e")], {}, ""),
        ([own(key="e", scope=("activity",))], {}, "taken by activity.export"),
        ([own(key="z", scope=("company",))], {}, ""),
        ([own(key="z", scope=("agent",))], {}, "taken by overview.snooze"),
        ([own(key="cntrl+x")], {}, "nearest valid name: ctrl+x"),
        ([own(key="ctrl+a")], {}, "belongs to the terminal's own programs"),
        ([own(key="ctrl+c")], {}, "always leaves"),
        ([own(), own(name="b", key="f9,N")], {}, "commands.b.key: the key N is taken by commands."),
        ([own(), own(name="b", scope=("company", "agent"))], {}, "taken by commands.note"),
        ([own(), own(name="b", scope=("company",))], {}, ""),
        ([own(key=""), own(name="b", key="")], {}, ""),
    ],
)
def test_keys_of_own_commands(commands: list[OwnCommand], keys: dict[str, str], words: str) -> None:
    keymap, wrong = read_keys(keys, commands)
    problems = "; ".join(f"{setting}: {text}" for setting, text in wrong)
    assert words in problems
    assert bool(words) is bool(problems), problems
    assert {one.command.id for one in commands} <= {*keymap} or problems


def test_an_own_command_is_where_its_records_may_be() -> None:
    command = own(key="?,F9", scope=("budget", "alert"))
    assert command.command.places == {"budget", "overview"}
    assert read_keys({"app.help": ""}, [command])[0]["commands.note"] == "question_mark,f9"
    assert own(key="").command.keys == UNBOUND
