"""Flags beat the environment, which beats the profile, which beats the defaults."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs
import pytest
from msgspec.structs import replace

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.config import AlertLimits, Arguments, NothingSetError, SettingsError
from agentco_tui.config.resolve import load, load_for_demo, of_profile, reread
from agentco_tui.keys.commands import UNBOUND, shown_key
from tests.config.conftest import Write

KEY = "ag_0123456789abcdef"
ENV = {"AGENTCO_BASE_URL": "https://env.example", "AGENTCO_API_KEY": KEY}
PROFILES = """
[profiles.prod]
base_url = "https://prod.example"
api_key_env = "PROD_KEY"
read_only = true
refresh = 9
company = "cmp_1"
screen = "tasks"
theme = "nord"

[profiles.lab]
base_url = "http://lab.example"
api_key_env = "LAB_KEY"
allow_http = true
trust_env = true
"""
KEYS = {"PROD_KEY": f"{KEY}p", "LAB_KEY": f"{KEY}l"}


def _problems_of(flags: Arguments, env: dict[str, str]) -> str:
    """What is wrong with these settings, a line for each problem."""
    with pytest.raises(SettingsError) as refused:
        load(flags, env)
    return "\n".join(str(problem) for problem in refused.value.problems)


def test_the_environment_alone_is_enough() -> None:
    settings = load({}, ENV)
    assert str(settings.base_url) == "https://env.example"
    assert settings.key is not None
    assert settings.key.reveal() == KEY
    assert settings.key_source == "AGENTCO_API_KEY"
    assert (settings.profile, settings.refresh, settings.read_only) == ("default", 5.0, False)
    assert settings.alerts == AlertLimits()
    assert settings.config_path == platformdirs.user_config_path("agentco-tui") / "config.toml"
    assert KEY not in repr(settings) + str(settings)


def test_a_profile_sets_everything(write: Write) -> None:
    settings = load({"config": str(write(PROFILES)), "profile": "prod"}, KEYS)
    assert str(settings.base_url) == "https://prod.example"
    assert settings.key == ApiKey.parse(f"{KEY}p")
    assert settings.key_source == "api_key_env of profile prod"
    assert (settings.read_only, settings.refresh) == (True, 9.0)
    assert (settings.company, settings.screen, settings.theme) == ("cmp_1", "tasks", "nord")
    assert settings.sources["refresh"].endswith("config.toml:6")


def test_a_flag_beats_the_environment_which_beats_the_profile(write: Write) -> None:
    config = str(write(PROFILES))
    env = {**KEYS, **ENV, "AGENTCO_PROFILE": "prod", "AGENTCO_READ_ONLY": "no"}
    settings = load({"config": config}, env)
    assert str(settings.base_url) == "https://env.example"
    assert settings.key == ApiKey.parse(KEY)
    assert settings.read_only is False
    assert settings.sources["read_only"] == "AGENTCO_READ_ONLY"
    flags = {
        "config": config,
        "profile": "lab",
        "base_url": "https://flag.example",
        "company": "cmp_2",
        "screen": "budget",
        "refresh": 0.5,
        "read_only": True,
    }
    settings = load(flags, env)
    assert settings.profile == "lab"
    assert str(settings.base_url) == "https://flag.example"
    assert (settings.company, settings.screen) == ("cmp_2", "budget")
    assert (settings.refresh, settings.read_only) == (0.5, True)
    assert settings.sources["base_url"] == "--base-url"
    assert settings.trust_env
    path = write('profile = "prod"' + PROFILES)
    for named, variable, chosen in (
        ({}, "", "prod"),
        ({}, "lab", "lab"),
        ({"profile": "prod"}, "lab", "prod"),
    ):
        env = {**KEYS, "AGENTCO_CONFIG": str(path), "AGENTCO_PROFILE": variable}
        assert load(named, env).profile == chosen


def test_the_only_profile_or_default_needs_no_name(write: Write) -> None:
    path = write('[profiles.x]\nbase_url = "https://x.example"\napi_key_env = "K"\n')
    settings = load({"config": str(path)}, {"K": KEY})
    assert (settings.profile, settings.sources["profile"]) == ("x", "the only profile")
    env = {"AGENTCO_API_KEY": KEY}
    path = write(PROFILES + '[profiles.default]\nbase_url = "https://d.example"\n')
    assert load({"config": str(path)}, env).profile == "default"
    assert "--profile NAME (prod, lab)" in _problems_of({"config": str(write(PROFILES))}, env)


def test_an_unknown_profile_names_the_nearest(write: Write) -> None:
    config = str(write(PROFILES))
    problems = _problems_of({"config": config, "profile": "prd"}, {})
    assert '--profile: there is no profile "prd" (nearest valid name: prod' in problems
    problems = _problems_of({"config": config}, {"AGENTCO_PROFILE": "lb"})
    assert "AGENTCO_PROFILE: " in problems
    assert "nearest valid name: lab" in problems
    problems = _problems_of({"config": str(write('profile = "prd"' + PROFILES))}, {})
    assert "config.toml:1: profile: there is no profile" in problems


def test_a_first_start_has_an_error_of_its_own() -> None:
    with pytest.raises(NothingSetError):
        load({}, {"AGENTCO_BASE_URL": "", "AGENTCO_READ_ONLY": "1"})


@pytest.mark.parametrize("name", ["AGENTCO_BASE_URL", "AGENTCO_API_KEY"])
def test_half_of_it_names_the_other_half(name: str) -> None:
    (other,) = set(ENV) - {name}
    with pytest.raises(SettingsError) as refused:
        load({}, {name: ENV[name]})
    assert not isinstance(refused.value, NothingSetError)
    (problem,) = refused.value.problems
    assert other in problem.text


def test_all_problems_are_reported_together(write: Write) -> None:
    env = {"AGENTCO_READ_ONLY": "maybe", "AGENTCO_BASE_URL": "ftp://x"}
    problems = _problems_of({"config": str(write("thme = 1\n"))}, env)
    for words in ("AGENTCO_READ_ONLY", "AGENTCO_BASE_URL", "config.toml:1: thme", "no API key"):
        assert words in problems


def test_an_ill_typed_value_is_not_called_missing_as_well(write: Write) -> None:
    path = write("[profiles.x]\nbase_url = 5\napi_key_file = 5\n")
    assert _problems_of({"config": str(path)}, {}).count("\n") == 1
    assert "no address" not in _problems_of({"config": str(write("x = \n"))}, {})


def test_a_named_config_file_must_exist(tmp_path: Path) -> None:
    assert "there is no config file at" in _problems_of({"profile": "prod"}, dict(ENV))
    assert "--log-file" in _problems_of({"log_file": "~no-such-user-here/x"}, dict(ENV))
    for flags, env in (
        ({"config": str(tmp_path / "no")}, {}),
        ({}, {"AGENTCO_CONFIG": str(tmp_path / "no")}),
    ):
        assert "does not exist" in _problems_of(flags, {**ENV, **env})


def test_plain_http_is_for_this_machine_unless_the_profile_says_so(write: Write) -> None:
    config = str(write(PROFILES))
    assert load({"config": config, "profile": "lab"}, KEYS).base_url.scheme == "http"
    assert load({"base_url": "http://127.0.0.1:9"}, ENV).base_url.port == 9
    assert "plain http" in _problems_of({"base_url": "http://lab.example"}, dict(ENV))


def test_a_key_that_cannot_be_one_is_not_shown(write: Write) -> None:
    problems = _problems_of({}, {**ENV, "AGENTCO_API_KEY": f"{KEY} \x00"})
    assert problems.startswith("AGENTCO_API_KEY: ")
    assert KEY not in problems
    path = write('[profiles.x]\nbase_url = "https://x.example"\napi_key_env = "ag_oops"\n')
    problems = _problems_of({"config": str(path)}, {})
    assert "ag_oops" not in problems
    assert f"{path}:3: profiles.x.api_key_env" in problems


def test_relative_paths_in_the_config_start_in_its_folder(write: Write, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o600)
    (tmp_path / "ca.pem").write_text("x")
    path = write(
        '[profiles.x]\nbase_url = "https://x.example"\napi_key_file = "key"\nca_file = "ca.pem"\n'
    )
    settings = load({"config": str(path)}, {})
    assert settings.ca_file == tmp_path / "ca.pem"
    (tmp_path / "ca.pem").unlink()
    assert f"{path}:4: profiles.x.ca_file: there is no file" in _problems_of(
        {"config": str(path)}, {}
    )
    (tmp_path / "key").chmod(0o644)
    path = write('[profiles.x]\nbase_url = "https://x.example"\napi_key_file = "~/key"\n')
    assert f"chmod 600 {tmp_path / 'key'}" in _problems_of({"config": str(path)}, {})


def test_alerts_and_keys(write: Write) -> None:
    alerts = '[alerts]\nwarn_percent = 70\nwaiting_warning = "5m"\n'
    path = write(f'{alerts}[list]\nadvance = false\n[keys]\napp.quit = "Q"\n')
    settings = load({"config": str(path)}, ENV)
    assert settings.alerts.warn_percent == 70
    assert settings.alerts.waiting_warning == 300
    assert settings.keys == {"app.quit": "Q"}
    assert not settings.advance
    assert settings.sources["list.advance"].endswith(":5")
    assert settings.sources["keys.app.quit"].endswith(":7")
    assert settings.sources["alerts.warn_percent"].endswith(":2")
    assert settings.sources["approve.hold"] == "default"


def test_the_history_is_switched_off_and_bounded(write: Write) -> None:
    where = '[profiles.x]\nbase_url = "https://x.example"\napi_key_env = "KEY_X"\n'
    env = {"KEY_X": KEY}
    settings = load({"config": str(write(where))}, env)
    assert (settings.history, settings.history_mb) == (True, 200)
    settings = load({"config": str(write(f"history_mb = 10\n{where}history = false\n"))}, env)
    assert (settings.history, settings.history_mb) == (False, 10)
    for wrong in ("history_mb = 9", "history_mb = true", 'history = "no"'):
        assert f":1: {wrong.split()[0]}: must be" in _problems_of(
            {"config": str(write(f"{wrong}\n{where}"))}, env
        )


def test_the_demo_uses_theme_and_keys_but_no_profile(write: Write) -> None:
    path = write('theme = "nord"\n[keys]\napp.quit = "Q"\n' + PROFILES)
    here = BaseUrl.parse("http://127.0.0.1:1")
    flags = {"config": str(path), "refresh": 1.0}
    env = {**ENV, "AGENTCO_PROFILE": "prod", "AGENTCO_PLATFORM": "paperclip"}
    settings = load_for_demo(flags, env, here, ApiKey.parse(KEY))
    assert (settings.profile, settings.base_url, settings.refresh) == ("demo", here, 1.0)
    assert (settings.theme, settings.keys, settings.company) == ("nord", {"app.quit": "Q"}, None)
    assert settings.platform is None
    with pytest.raises(SettingsError):
        load_for_demo({"config": str(write("x = 1"))}, {}, here, ApiKey.parse(KEY))


OWN = """
[commands.note]
key = "shift+n"
scope = ["task", "agent"]
run = ["note", "--now"]
writes = true

[commands.look]
scope = "company"
run = ["look"]
"""


def test_own_commands_come_with_their_keys(write: Write) -> None:
    settings = load({"config": str(write(OWN))}, ENV)
    note, look = settings.commands
    assert (note.key, note.run, note.scope) == ("N", ("note", "--now"), ("task", "agent"))
    assert (note.writes, note.confirm, note.background, look.key) == (True, False, False, UNBOUND)
    assert shown_key("commands.note", settings.keys) == "N"
    assert shown_key("commands.look", settings.keys) == ""


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ('key = "q"', ":3: commands.note.key: the key q is taken by app.quit"),
        ('key = "ctrl+s"', ":3: commands.note.key: ctrl+s belongs to the terminal's own"),
        ('key = "nonsense"', ':3: commands.note.key: "nonsense" is not a key'),
        ('run = "note --now"', ":5: commands.note.run: must be a list of texts"),
        ('scope = "tusk"', ":4: commands.note.scope: "),
        ("wirtes = true", ":6: commands.note.wirtes: unknown setting"),
    ],
)
def test_a_mistake_in_an_own_command_has_its_line(written: str, problem: str, write: Write) -> None:
    name = written.partition(" ")[0]
    lines = [written if line.startswith(f"{name} =") else line for line in OWN.split("\n")]
    text = "\n".join(lines).replace("writes = true", written if name == "wirtes" else "")
    assert problem in _problems_of({"config": str(write(text))}, ENV)


def test_flags_and_environment_for_the_first_profile_do_not_apply_to_another(write: Write) -> None:
    path = write(PROFILES)
    platform = {"base_url": "https://flag.example", "company": "cmp_9"}
    given: Arguments = {"config": str(path), **platform, "refresh": 3.0, "read_only": True}
    env = {**ENV, **KEYS, "AGENTCO_PROFILE": "prod"}
    first = load(given, env)
    assert (first.profile, str(first.base_url)) == ("prod", "https://flag.example")
    lab = load(*of_profile("lab", "prod", given, env))
    assert (str(lab.base_url), lab.key) == ("http://lab.example", ApiKey(KEYS["LAB_KEY"]))
    assert lab.company is None
    assert (lab.refresh, lab.read_only) == (3.0, True), "what is not about the platform stays"
    back = load(*of_profile("prod", "prod", given, env))
    assert (str(back.base_url), back.key, back.company) == (
        "https://flag.example",
        ApiKey(KEY),
        "cmp_9",
    )


def test_a_variable_that_another_profile_names_itself_is_its_key(write: Write) -> None:
    """Also the variable that overrides the key of the profile of the start, but no command of the
    other profile gets it.
    """
    path = write("""
        [profiles.prod]
        base_url = "https://prod.example"
        api_key_env = "PROD_KEY"
        [profiles.lab]
        base_url = "https://lab.example"
        api_key_env = "AGENTCO_API_KEY"
        [profiles.other]
        base_url = "https://other.example"
        api_key_command = ["sh", "-c", "echo ${AGENTCO_API_KEY:-ag_none_0123456789}"]
    """)
    given: Arguments = {"config": str(path), "profile": "prod"}
    env = {**KEYS, "AGENTCO_API_KEY": KEY, "PATH": os.environ["PATH"]}
    lab = load(*of_profile("lab", "prod", given, env))
    assert (str(lab.base_url), lab.key) == ("https://lab.example", ApiKey(KEY))
    assert reread(lab, *of_profile("lab", "prod", given, env)) == (lab, [])
    other = load(*of_profile("other", "prod", given, env))
    assert other.key == ApiKey("ag_none_0123456789")


def test_a_variable_that_the_program_sets_is_no_other_place_of_the_key(write: Write) -> None:
    given, env = {"config": str(write(PROFILES)), "profile": "prod"}, {**ENV, **KEYS}
    for profile in ("prod", "lab"):
        now = load(*of_profile(profile, "prod", given, env))
        later = {**env, "COLUMNS": "80"}
        new, kept = reread(now, *of_profile(profile, "prod", given, later))
        assert kept == []
        assert new == now


def test_a_start_by_the_environment_alone_can_be_come_back_to(write: Write) -> None:
    given, env = {"config": str(write(PROFILES))}, {**ENV, **KEYS}
    first = load(given, env)
    assert (first.profile, first.profiles) == ("default", ("default", "prod", "lab"))
    assert reread(first, *of_profile("default", "default", given, env)) == (first, [])
    lab = load(*of_profile("lab", "default", given, env))
    assert lab.profiles == ("default", "prod", "lab")
    assert (
        str(load(*of_profile("default", "default", given, env)).base_url) == "https://env.example"
    )


def test_what_is_saved_later_takes_effect_except_where_a_start_is_needed(
    write: Write,
) -> None:
    given, env = {"config": str(write(PROFILES)), "profile": "lab"}, dict(KEYS)
    now = load(given, env)
    same, kept = reread(now, *of_profile("lab", "lab", given, env))
    assert not kept
    assert same == replace(now, profiles=("lab", "prod"))
    write(f'''
        theme = "nord"
        alerts.warn_percent = 50
        {PROFILES.replace("lab.example", "new.example").replace('"LAB_KEY"', '"PROD_KEY"')}
        read_only = true
        label = "Lab"
        ca_file = "{__file__}"
    ''')
    new, kept = reread(now, *of_profile("lab", "lab", given, env))
    assert (new.theme, new.label, new.read_only) == ("nord", "Lab", True)
    assert new.alerts.warn_percent == 50
    assert sorted(kept) == ["api_key", "base_url", "ca_file"]
    assert (new.base_url, new.key, new.key_location) == (now.base_url, now.key, now.key_location)
    write(PROFILES)
    later, kept = reread(new, *of_profile("lab", "lab", given, env))
    assert kept == ["read_only"], "it is never silently off"
    assert later.read_only
    write(f'{PROFILES}colour = "pink"')
    with pytest.raises(SettingsError, match=r"config\.toml:16: profiles\.lab\.colour: .*pink"):
        reread(later, *of_profile("lab", "lab", given, env))


def test_a_wrong_theme_file_delays_no_other_setting(write: Write) -> None:
    path = write(PROFILES)
    given, env = {"config": str(path), "profile": "lab"}, dict(KEYS)
    now = load(given, env)
    theme = path.parent / "themes" / "mine.toml"
    theme.parent.mkdir()
    theme.write_text('text = "green"\n')
    write(f'{PROFILES}label = "Lab"')
    new, _ = reread(now, *of_profile("lab", "lab", given, env))
    assert new.label == "Lab"
    write(f'theme = "mine"\n{PROFILES}')
    with pytest.raises(SettingsError, match=r"theme: cannot be used: .*mine\.toml"):
        reread(new, *of_profile("lab", "lab", given, env))
