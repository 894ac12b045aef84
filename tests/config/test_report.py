"""What `config show` and `config check` tell."""

from __future__ import annotations

from pathlib import Path

from agentco_tui.commands.config import report
from agentco_tui.config import Flags
from tests.config.conftest import Write

KEY = "ag_0123456789abcdef"


def test_every_setting_has_its_source_and_the_key_is_masked(write: Write) -> None:
    path = write(
        '[profiles.x]\nbase_url = "https://x.example"\napi_key_env = "K"\nrefresh = 2\n'
        '[alerts]\nwaiting_warning = "20m"\n[keys]\ntasks.approve = "A"\ntasks.mark = ""\n'
    )
    told = report(Flags(config=str(path), read_only=True), {"K": KEY})
    rows = {row.name: (row.value, row.source) for row in told.settings}
    assert told.problems == ()
    assert rows["base_url"] == ("https://x.example", f"profile x, {path}:2")
    assert rows["api_key"] == ("****", "api_key_env of profile x")
    assert rows["refresh"] == ("2", f"profile x, {path}:4")
    assert rows["read_only"] == ("true", "--read-only")
    assert rows["company"] == (None, "default")
    assert rows["alerts.waiting_warning"] == ("20m", f"config file, {path}:6")
    assert rows["alerts.waiting_critical"] == ("1h", "default")
    assert rows["keys.tasks.approve"] == ("A", f"config file, {path}:8")
    assert rows["keys.tasks.mark"][0] == "no key"
    assert KEY not in repr(told)


def test_no_command_is_run_to_look_at_settings(write: Write, tmp_path: Path) -> None:
    touched = tmp_path / "touched"
    path = write(
        f'[profiles.x]\nbase_url = "https://x.example"\napi_key_command = "touch {touched}"\n'
    )
    assert report(Flags(config=str(path)), {}).problems == ()
    assert not touched.exists()


def test_profiles_that_are_not_in_use_are_checked_too(write: Write, tmp_path: Path) -> None:
    (tmp_path / "key").write_text(KEY)
    (tmp_path / "key").chmod(0o644)
    path = write(
        'profile = "a"\n'
        '[profiles.a]\nbase_url = "https://a.example"\nkeyring = true\n'
        '[profiles.b]\nbase_url = "http://b.example"\napi_key_file = "key"\nca_file = "none.pem"\n'
    )
    lines = [problem.line for problem in report(Flags(config=str(path)), {}).problems]
    assert lines == [6, 7, 8]


def test_a_profile_in_use_that_cannot_work_is_a_problem(write: Write) -> None:
    path = write('[profiles.a]\nbase_url = "https://a.example"\n')
    (problem,) = report(Flags(config=str(path)), {}).problems
    assert "no API key" in problem.text
    path = write('[profiles.a]\nbase_url = "https://a.example"\napi_key_env = "K"\n')
    (problem,) = report(Flags(config=str(path)), {}).problems
    assert problem.line == 3


def test_a_file_without_profiles_need_not_name_a_platform(write: Write) -> None:
    assert report(Flags(config=str(write('theme = "nord"\n'))), {}).problems == ()
    assert report(Flags(), {}).problems == ()
