"""The file of a platform: every mistake has its line, and the name that was probably meant."""

from __future__ import annotations

from pathlib import Path

import pytest

import agentco_tui.platforms
from agentco_tui.commands.config import run
from agentco_tui.config import SettingsError
from agentco_tui.config.resolve import load, of_profile
from agentco_tui.platforms.platform_file import (
    PlatformToml,
    load_platform,
    platform_paths,
    platform_problems,
)
from agentco_tui.platforms.templates import (
    TemplateError,
    fill,
    fill_body,
    fill_path,
    names_in,
    parts_of,
    split_sum,
)

PAPERCLIP = Path(agentco_tui.platforms.__file__).with_name("paperclip.toml")
SMALL = """
name = "Small"
[companies.all]
get = "/api/companies"
[tasks.gate]
get = "/api/companies/{company}/gates"
type = "sort"
approve = { post = "/api/gates/{id}/approve", done = ["open"] }
says = { door = ["Open {title}"] }
[set_limit]
patch = "/api/agents/{id}"
body = { limit = "{limit}" }
unit = "cents"
"""


def problems_of(folder: Path, text: str) -> list[str]:
    path = folder / "small.toml"
    path.write_text(text, encoding="utf-8")
    return [str(each).removeprefix(f"{path}:") for each in PlatformToml(path).problems]


def test_a_small_file_has_no_problems(tmp_path: Path) -> None:
    assert problems_of(tmp_path, SMALL) == []


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ("get = \"/api/companies\"\n", "gett = \"/api/companies\"\n",
         "4: companies.all.gett: unknown setting (nearest valid name: get)"),
        ("[tasks.gate]", "[task.gate]", "5: task: unknown setting (nearest valid name: tasks)"),
        ('type = "sort"', "type = 7",
         "7: tasks.gate.type: must be a text in quotes, is the number 7"),
        ('type = "sort"', 'type = "sort."',
         '7: tasks.gate.type: needs names with one dot between them: "usage.cost_cents"'),
        ('type = "sort"\n', "", '5: tasks.gate: needs a "type", the field that says door'),
        ('"/api/companies/{company}/gates"', '"/api/companies/{compny}/gates"',
         "6: tasks.gate.get: unknown name compny (nearest valid name: company)"),
        ('"/api/companies/{company}/gates"', '"/v1/gates"',
         "6: tasks.gate.get: must begin with /api/"),
        ('"/api/companies/{company}/gates"', '"/api/gates-of-{company}"',
         "6: tasks.gate.get: must have each name in braces as a whole segment, between slashes"),
        ('post = "/api/gates/{id}/approve", ', "",
         "8: tasks.gate.approve: needs one of post, put, patch and delete, with its path"),
        ('"Open {title}"', '"Open {title"', "9: tasks.gate.says.door: has a { without its }"),
        ('"Open {title}"', '"Open title}"',
         "9: tasks.gate.says.door: has braces without a name between them"),
        ('"{limit}"', '"{amount}"',
         "12: set_limit.body: unknown name amount (nearest valid name: limit)"),
        ('unit = "cents"', "",
         "10: set_limit: needs a unit: the one in which the platform takes the sum"),
        ('unit = "cents"', 'unit = "cent"',
         '13: set_limit.unit: must be "units" or "cents" or "millis" or "micros" or "nanos",'
         " is a text in quotes"),
        ('type = "sort"', 'type = "sort"\nfields = { titel = "name" }',
         "8: tasks.gate.fields.titel: unknown name titel (nearest valid name: title)"),
        ('type = "sort"', 'type = "sort"\nfields = { title = "name." }',
         '8: tasks.gate.fields.title: needs names with one dot between them: "usage.cost_cents"'),
        ('type = "sort"', 'type = "sort"\nstatus = { waiting = ["shut"] }',
         "8: tasks.gate.status.waiting: unknown name waiting (nearest valid name: running)"),
        ("[set_limit]", '[verbs.shut]\non = "gat"\nkey = "X"\nasks = "Shut?"\n'
         'post = "/api/gates/{id}/shut"\ndone = ["shut"]\n[set_limit]',
         "11: verbs.shut.on: unknown name gat (nearest valid name: gate)"),
        ("[set_limit]", '[verbs.shut]\non = "gate"\nkey = "X"\nasks = "Shut?"\n'
         'post = "/api/gates/{id}/shut"\n[set_limit]',
         '10: verbs.shut: needs "done" or "proof": what a read must show afterwards'),
        ('type = "sort"', 'type = "sort"\ncause = "door."',
         '8: tasks.gate.cause: needs names with one dot between them: "usage.cost_cents"'),
        ('type = "sort"', 'type = "sort"\ncause = 7',
         "8: tasks.gate.cause: must be texts in quotes, in brackets, is the number 7"),
        ('"Open {title}"', '"Open {title} for {toll as cent}"',
         "9: tasks.gate.says.door: unknown unit cent (nearest unit: cents)"),
        ('"Open {title}"', '"Open {title} for {toll as minor}"',
         "9: tasks.gate.says.door: unknown unit minor (nearest unit: micros)"),
        ('"Open {title}"', '"Open {title} for {toll  as cents}"',
         "9: tasks.gate.says.door: must have {NAME as UNIT} with single blanks,"
         " has {toll  as cents}"),
        ('"Open {title}"', '"Open {title} for {toll as}"',
         "9: tasks.gate.says.door: must have {NAME as UNIT} with single blanks, has {toll as}"),
        ('"Open {title}"', '"Open {title} for {as cents}"',
         "9: tasks.gate.says.door: must have {NAME as UNIT} with single blanks, has {as cents}"),
        ('"/api/gates/{id}/approve"', '"/api/gates/{id as cents}/approve"',
         '8: tasks.gate.approve.post: has the sum {id as cents}, which only "says" can have'),
        ('"{limit}"', '"{limit as cents}"',
         '12: set_limit.body: has the sum {limit as cents}, which only "says" can have'),
        ('name = "Small"\n', 'name = "Small"\nrole = { get = "/me", at = "a", read_only = "b" }\n',
         "3: role.get: must begin with /api/"),
        ('name = "Small"\n', 'name = "Small"\nrole = { get = "/api/me", at = 1, reads = "b" }\n',
         "3: role.reads: unknown setting (nearest valid name: read_only)"),
        ('type = "sort"', 'type = "sort"\nnames = { door = "" }',
         "8: tasks.gate.names.door: must be a name without braces, and the path of a field"),
        ('type = "sort"', 'type = "sort"\nnames = { "do{or" = "d" }',
         "8: tasks.gate.names.do{or: must be a name without braces, and the path of a field"),
        ('type = "sort"', 'type = "sort"\nnames = { note = "d" }',
         "8: tasks.gate.names.note: has a meaning of its own in braces: choose another name"),
        ('type = "sort"', 'type = "sort"\nnames = { door = 7 }',
         "8: tasks.gate.names.door: must be a text in quotes, is the number 7"),
        ("[companies.all]\nget = \"/api/companies\"",
         '[agents.all]\nget = "/api/agents"\npending = { a = "b" }',
         "5: agents.all.pending: only tasks have this"),
        ('name = "Small"\n', 'name = "Small"\nmoney = { zero_is_limt = true }\n',
         "3: money.zero_is_limt: unknown setting (nearest valid name: zero_is_limit)"),
        ('name = "Small"\n', 'name = "Small"\nmoney = { zero_is_limit = 1 }\n',
         "3: money.zero_is_limit: must be true or false, is the number 1"),
        ("[companies.all]\n", "[companies.all]\ntakes = { company_id = \"team\" }\n",
         "4: companies.all.takes: only agents, agent_budgets and activity take parameters"),
        ("[companies.all]\n", "[companies.all]\ntakes = { company = \"team\" }\n",
         "4: companies.all.takes.company: unknown setting (nearest valid name: company_id)"),
        ('name = "Small"\n[companies.all]\nget = "/api', 'name = "Small"\nprefix = ""\n'
         '[companies.all]\nget = "api', "5: companies.all.get: must begin with /"),
        ('name = "Small"\n', 'name = "Small"\nnews = { gett = "/api/{company}/news" }\n',
         "3: news.gett: unknown setting (nearest valid name: get)"),
        ('name = "Small"\n',
         'name = "Small"\nnews = { get = "/api/news", type = "t", types = ["a"] }\n',
         "3: news.get: must have {company}: it is opened for each company"),
        ('name = "Small"\n',
         'name = "Small"\nnews = { get = "/ws/{compny}", type = "t", types = ["a"] }\n',
         "3: news.get: unknown name compny (nearest valid name: company)"),
        ('name = "Small"\n', 'name = "Small"\nnews = { get = "/api/{company}", types = ["a"] }\n',
         "3: news: is not complete: it has no type"),
    ],
)  # fmt: skip
def test_each_mistake_has_its_line_and_the_nearest_name(
    right: str, wrong: str, problem: str, tmp_path: Path
) -> None:
    assert right in SMALL
    assert problem in [each.strip() for each in problems_of(tmp_path, SMALL.replace(right, wrong))]


def test_paths_may_begin_with_nothing_in_common(tmp_path: Path) -> None:
    text = SMALL.replace('name = "Small"', 'name = "Small"\nprefix = ""')
    assert problems_of(tmp_path, text.replace("/api/gates", "/gates")) == []


VERB = """
[agents.guard]
get = "/api/companies/{company}/guards"
[verbs."shut it"]
on = "gate"
types = "door"
when = "open"
key = "X"
asks = "Shut {title}?"
post = "/api/gates/{id}/shut"
body = { why = "{note}", price = "{amount}" }
unit = "cents"
proof = { get = "/api/gates/{id}", query = { a = "b" }, rows = { state = ["shut"] } }
"""
"""What a small file can have in addition, from line 14 on."""


def test_a_small_file_with_a_verb_has_no_problems(tmp_path: Path) -> None:
    assert problems_of(tmp_path, SMALL + VERB) == []


@pytest.mark.parametrize(
    ("right", "wrong", "problem"),
    [
        ('on = "gate"', 'on = "gat"', "18: on: unknown name gat (nearest valid name: gate)"),
        ('on = "gate"', "on = []", "18: on: must name sources of one kind of records"),
        ('on = "gate"', 'on = ["gate", "guard"]',
         "18: on: must name sources of one kind of records"),
        ("[agents.guard]", "[agents.gate]", "18: on: must name sources of one kind of records"),
        ('"shut it"', "approve",
         "17: has the name of something that every platform offers: choose another"),
        ('key = "X"', 'key = "tabb"', "21: key: must be one key (nearest valid name: tab)"),
        ('key = "X"', 'key = "X,Y"', "21: key: must be one key"),
        ('key = "X"', 'key = ""', "21: key: must be one key"),
        ('key = "X"', "key = 7", "21: key: must be a text in quotes, is the number 7"),
        ('key = "X"', 'key = "cntrl+x"', "21: key: must be one key (nearest valid name: ctrl+x)"),
        ('key = "X"', 'key = "ctrl+c"',
         "21: key: ctrl+c has another meaning in every terminal: choose another key"),
        ('key = "X"', 'key = "a"', "21: key: is taken by tasks.approve in the same place"),
        ('key = "X"', 'key = "shift+q"\nlable = "shut"',
         "22: lable: unknown setting (nearest valid name: label)"),
        ('key = "X"\n', "", "17: is not complete: it has no key"),
        ('asks = "Shut {title}?"', 'asks = "Shut {title?"', "22: asks: has a { without its }"),
        ('post = "/api/gates/{id}/shut"\n', "",
         "17: needs one of post, put, patch and delete, with its path"),
        ('post = "/api/gates/{id}/shut"', 'post = "/gates/{id}"',
         "23: post: must begin with /api/"),
        ('"{note}"', '"{note"', "24: body: has a { without its }"),
        ('unit = "cents"\n', "",
         "17: needs a unit: the one in which the platform takes the amount"),
        ('why = "{note}", ', "", None),
        ('body = { why = "{note}"', 'note = "required"\nbody = { why = "{title}"',
         "24: note: can't be required: the body has no {note}"),
        ('asks = "Shut {title}?"', 'asks = "Shut?"\nnote = "sometimes"',
         '23: note: must be "optional" or "required", is a text in quotes'),
        ("proof = {", "disproof = {",
         "26: disproof: unknown setting (nearest valid name: proof)"),
        ('get = "/api/gates/{id}", query', 'get = "/api/gates-{id}", query',
         "26: proof.get: must have each name in braces as a whole segment, between slashes"),
        ('get = "/api/gates/{id}", query', "query",
         "26: proof: is not complete: it has no get"),
        ('a = "b"', 'a = "b}"', "26: proof.query: has braces without a name between them"),
        ('["shut"]', '["{}"]', "26: proof.rows: has braces without a name between them"),
        ('state = ["shut"]', "",
         "26: proof.rows: must name the words of a row: else any row would show it"),
        ("rows = {", "row = {", "26: proof.row: unknown setting (nearest valid name: rows)"),
        ('rows = { state = ["shut"] }', 'rows = { state = ["shut"] }, new = 1',
         "26: proof.new: must be true or false, is the number 1"),
    ],
)  # fmt: skip
def test_each_mistake_of_a_verb_has_its_line_and_the_nearest_name(
    right: str, wrong: str, problem: str | None, tmp_path: Path
) -> None:
    """`problem` is shortened by the name of the verb; None: it is no mistake."""
    assert VERB.count(right) == 1
    found = [
        each.strip().replace("verbs.shut it.", "").replace("verbs.shut it: ", "")
        for each in problems_of(tmp_path, SMALL + VERB.replace(right, wrong))
    ]
    if problem is None:
        assert found == []
    else:
        assert problem in [each.replace("verbs.approve: ", "") for each in found]


def test_what_shows_that_a_verb_was_done_must_be_said(tmp_path: Path) -> None:
    without = VERB[: VERB.index("proof")]
    (problem,) = problems_of(tmp_path, SMALL + without)
    expected = 'verbs.shut it: needs "done" or "proof": what a read must show afterwards'
    assert problem == f"17: {expected}"
    assert problems_of(tmp_path, SMALL + without + 'done = "shut"\n') == []


@pytest.mark.parametrize(
    ("of_other", "is_taken"),
    [
        ("", True),
        ('when = "shut"', False),
        ('when = ["open", "shut"]', True),
        ('when = "!open"', False),
        ('when = "!shut"', True),
        ('types = "window"', False),
        ('types = "!door"', False),
    ],
)
def test_two_verbs_of_one_record_have_two_keys(
    of_other: str, is_taken: bool, tmp_path: Path
) -> None:
    other = f"""
[verbs.open]
on = "gate"
key = "shift+x"
asks = "Open it?"
post = "/api/gates/{{id}}/open"
done = "open"
{of_other}
"""
    problems = problems_of(tmp_path, SMALL + VERB + other)
    taken = "30: verbs.open.key: is taken by the verb shut it for the same records"
    assert problems == ([taken] if is_taken else [])


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    (problem,) = problems_of(tmp_path, 'name = "Small"\n')
    assert problem == " companies: is missing: nothing can be asked without the companies"
    (problem,) = problems_of(tmp_path, '[companies.all]\nget = "/api/companies"\n')
    assert problem == " is not complete: it has no name"
    text = '[companies.all]\none = "/api/companies"\n[companies.some]\n'
    problems = problems_of(tmp_path, 'name = "Small"\n' + text)
    assert problems == [
        "2: companies.all: is not complete: it has no get",
        "4: companies.some: is not complete: it has no get",
    ]


def test_the_files_of_the_program_have_no_problems() -> None:
    for name, path in platform_paths(None).items():
        assert PlatformToml(path).problems == []
        assert load_platform(name, None).name


def test_the_manual_has_the_whole_file() -> None:
    page = PAPERCLIP.parents[2] / "docs" / "platforms.md"
    assert PAPERCLIP.read_text(encoding="utf-8") in page.read_text(encoding="utf-8")


def test_one_of_the_users_own_hides_one_of_the_program(tmp_path: Path) -> None:
    folder = tmp_path / "platforms"
    folder.mkdir()
    (folder / "paperclip.toml").write_text(SMALL, encoding="utf-8")
    (folder / "mine.toml").write_text(SMALL.replace("Small", "Mine"), encoding="utf-8")
    assert load_platform("paperclip", tmp_path / "config.toml").name == "Small"
    assert load_platform("mine", tmp_path / "config.toml").name == "Mine"
    assert load_platform("paperclip", None).name == "Paperclip"
    with pytest.raises(SettingsError, match=r'no platform "paperclp" .*: paperclip'):
        load_platform("paperclp", None)


def test_config_check_reports_the_platforms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "platforms"
    folder.mkdir()
    (folder / "mine.toml").write_text(SMALL.replace("sort", "sort\nx"), encoding="utf-8")
    (folder / "other.toml").write_text(SMALL.replace("gates", "{gate}"), encoding="utf-8")
    config = tmp_path / "config.toml"
    config.write_text(
        '[profiles.a]\nbase_url = "http://127.0.0.1:9"\nplatform = "paperclp"\n'
        '[profiles.b]\nbase_url = "http://127.0.0.1:9"\nplatform = "mine"\n'
        '[profiles.c]\nbase_url = "http://127.0.0.1:9"\nplatform = "paperclip"\n',
        encoding="utf-8",
    )
    arguments = {"what": "check", "json": False, "config": str(config), "profile": "b"}
    assert run(arguments, {}, lambda _: [], platform_problems) == 2
    said = capsys.readouterr()
    lines = (said.out + said.err).splitlines()
    assert any("config.toml:3: profiles.a.platform: there is no platform" in one for one in lines)
    assert any("mine.toml:7: is not valid TOML" in one for one in lines)
    assert any("other.toml:6: tasks.gate.get: unknown name gate" in one for one in lines)


def test_a_profile_with_a_platform_needs_no_key(tmp_path: Path) -> None:
    """Whether the platform does, its file says."""
    config = tmp_path / "config.toml"
    profile = '[profiles.a]\nbase_url = "http://127.0.0.1:9"\n'
    config.write_text(f'{profile}platform = "paperclip"\n', encoding="utf-8")
    settings = load({"config": str(config)}, {})
    assert settings.platform == "paperclip"
    assert settings.key is None
    config.write_text(profile, encoding="utf-8")
    with pytest.raises(SettingsError, match="no API key"):
        load({"config": str(config)}, {})


def test_a_flag_and_a_variable_choose_the_platform_of_the_start(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[profiles.a]\nbase_url = "http://127.0.0.1:9"\n', encoding="utf-8")
    env = {"AGENTCO_PLATFORM": "mine", "AGENTCO_BASE_URL": "http://127.0.0.1:9"}
    settings = load({}, env)
    assert (settings.platform, settings.key) == ("mine", None)
    assert settings.key_source == "AGENTCO_API_KEY, which is not set"
    settings = load({"platform": "paperclip", "config": str(config)}, env)
    assert (settings.platform, settings.sources["platform"]) == ("paperclip", "--platform")
    assert settings.key_source == "profile a, which has no key"
    # Another profile, to which a dashboard switches, has its own.
    given = {"platform": "paperclip", "config": str(config)}
    with pytest.raises(SettingsError, match="no API key"):
        load(*of_profile("a", "b", given, env))


def test_config_show_has_no_key_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.toml"
    config.write_text('[profiles.a]\nbase_url = "http://127.0.0.1:9"\n', encoding="utf-8")
    arguments = {"what": "show", "json": False, "platform": "paperclip", "config": str(config)}
    assert run(arguments, {}, lambda _: [], platform_problems) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "api_key" in line]
    assert "not set" in row
    assert "*" not in row


# -- templates -------------------------------------------------------------------------------------


def test_names_in_braces() -> None:
    assert list(parts_of("Hire {payload.name}, now")) == [("Hire ", "payload.name"), (", now", "")]
    assert names_in({"a": ["{x}"], "b": {"c": "{y} {z}"}, "d": 1}) == {"x", "y", "z"}
    assert names_in({"rows": ("{x}", "y")}) == {"x"}
    for wrong in ("{", "}", "{}", "{a", "a}", "{{a}}", "{ a }"):
        with pytest.raises(TemplateError):
            list(parts_of(wrong))


def test_a_sum_has_a_path_and_a_unit() -> None:
    assert split_sum("payload.cents as cents") == ("payload.cents", "cents")
    assert split_sum("payload.as") == ("payload.as", None)
    assert split_sum("ask me") == ("ask me", None)
    for wrong in ("a as", "as cents", "a  as cents", "a as cents now"):
        with pytest.raises(TemplateError):
            split_sum(wrong)


def test_a_missing_value_is_no_text() -> None:
    assert fill("{a} and {b}", {"a": "1"}.get) is None
    assert fill("{a} and {b}", {"a": 1, "b": True}.get) == "1 and true"
    assert fill("{a}", {"a": {"b": "c"}}.get) is None


@pytest.mark.parametrize(
    ("value", "segment"),
    [("a/b", "a%2Fb"), ("..", "%2E%2E"), (".", "%2E"), ("a?b#c", "a%3Fb%23c"), ("é", "%C3%A9")],
)
def test_a_value_in_a_path_is_one_segment(value: str, segment: str) -> None:
    assert fill_path("/api/x/{id}/y", {"id": value}.get) == f"/api/x/{segment}/y"


def test_a_body_keeps_the_type_of_a_value() -> None:
    values = {"limit": 20050, "title": "A", "none": None}
    body = {"limit": "{limit}", "text": "{title}!", "none": "{none}", "deep": [{"x": "{limit}"}]}
    assert fill_body(body, values.get) == {"limit": 20050, "text": "A!", "deep": [{"x": 20050}]}
