"""The client by a profile: its address, key and mapping, and no write where it is read-only."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentco_tui.api.errors import AgentcoError, NotSent
from agentco_tui.config.profile_client import open_profile
from tests.api.wire_server import answering, http

PROFILE = """
[profiles.other]
base_url = "https://other.example"
api_key_env = "OTHER"

[profiles.prod]
base_url = "http://127.0.0.1:{port}"
api_key_env = "PROD_KEY"
read_only = {read_only}
[profiles.prod.fields.task]
title = "what.name"
"""
BODY = b'{"items":[{"id":"t1","what":{"name":"Pay 40"},"status":"pending"}]}'


@pytest.mark.parametrize("read_only", ["false", "true"])
async def test_a_profile_is_all_that_it_needs(tmp_path: Path, read_only: str) -> None:
    config = tmp_path / "config.toml"
    async with answering(http(BODY)) as server:
        config.write_text(PROFILE.format(port=server.port, read_only=read_only))
        async with open_profile("prod", config=config, env={"PROD_KEY": "ag_1"}) as client:
            (task,) = (await client.tasks()).records
            assert task.title == "Pay 40", "by the profile's mapping"
            before = server.connections
            if read_only == "true":
                with pytest.raises(NotSent, match="read-only"):
                    await client.approve_task("t1")
                with pytest.raises(NotSent, match="read-only"):
                    await client.for_decisions().approve_task("t1")
                assert server.connections == before
            else:
                await client.approve_task("t1")
                assert server.heads[-1].startswith("POST /api/tasks/t1/approve")
        assert b"authorization: bearer ag_1" in server.requests[0].lower()


def test_what_is_wrong_is_one_kind_of_error(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text(PROFILE.format(port=1, read_only="false"))
    with pytest.raises(AgentcoError, match='there is no profile "pord"'):
        open_profile("pord", config=config, env={})
    with pytest.raises(AgentcoError, match="api_key_env"):
        open_profile("prod", config=config, env={})
    with pytest.raises(TypeError, match="profile must be"):
        open_profile(5)  # type: ignore[arg-type]
    with pytest.raises(AgentcoError):
        open_profile("prod", config=tmp_path / "none.toml", env={})
