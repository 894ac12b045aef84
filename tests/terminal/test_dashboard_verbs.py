"""What only some platforms offer, in a real terminal: a task is rejected with a note."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.platforms.recorded_paperclip import KEY, RecordedPaperclip
from tests.terminal.dashboard import command, dashboard, leave, ready, say_yes
from tests.terminal.platform_process import settings
from tests.terminal.pty_session import REPOSITORY, clean_environment

QUESTION = "Reject it? The note is kept with the request."
PROFILE = ("--profile", "paperclip")


class ServedPaperclip(RecordedPaperclip):
    """The recorded server as a dashboard in a terminal is told of it."""

    full_key = KEY

    @property
    def base_url(self) -> str:
        return self.base


def test_a_task_is_rejected_with_a_note_that_the_journal_keeps(tmp_path: Path) -> None:
    with ServedPaperclip(most_issues=20) as server:
        config = tmp_path / "config.toml"
        config.write_text(
            f'[profiles.paperclip]\nbase_url = "{server.base}"\nplatform = "paperclip"\n',
            encoding="utf-8",
        )
        env: dict[str, str | None] = {"AGENTCO_CONFIG": str(config)}
        with dashboard(server, tmp_path, *PROFILE, env=env) as session:
            ready(session)
            session.press("4")
            session.wait_for("U unblock")
            session.press("j")
            session.wait_for("R reject")
            session.press("R")
            session.wait_for("may stay empty")
            session.write("too dear")
            session.wait_for("too dear")
            session.press("enter")
            session.wait_for(QUESTION)
            say_yes(session, QUESTION)
            session.wait_for("rejected here")
            leave(session)
        (rejected,) = [seen for seen in server.requests if seen.method == "POST"]
        assert rejected.body == {"decisionNote": "too dear"}
        own = {**clean_environment(), **settings(server, tmp_path), **env}
        said = subprocess.run(
            command("journal"),
            env={name: value for name, value in own.items() if value is not None},
            cwd=REPOSITORY, capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        assert "reject “Spend $40 on ads for Ada”" in said
        assert "with “too dear”  done, known by read" in said
