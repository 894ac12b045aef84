"""`doctor --bundle`: a recording for a bug report that names nobody, and is read the same."""

from __future__ import annotations

import asyncio
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.pseudonyms import NOWHERE, Pseudonyms
from agentco_tui.api.recording import Recorded, Recording
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.poller import fetch
from agentco_tui.live.replay import Player, ReplayClock
from agentco_tui.live.store import Store
from tests.commands.conftest import Command
from tests.embedded import EmbeddedPlatform

ROOT = "https://acme.example/prefix"
CANARY = "Wanda Canary"
NOW = 1_790_000_000.0  # another time than the machine's


def altered(body: object, path: str = "/api/tasks", **headers: str) -> tuple[Recorded, str]:
    made = Pseudonyms(ROOT)
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    answer, changed = made.alter(
        Recorded(1.0, f"GET {path}", 0.1, status=200, headers=headers), data
    )
    return answer, changed.decode("utf-8", "surrogateescape")


def test_what_names_somebody_is_another_and_the_rest_is_as_it_was() -> None:
    body = {
        "tasks": [
            {
                **{"id": "tsk_8f3k2", "title": "Refund 214 customers", "status": "pending"},
                **{"priority": "p1", "cost": 18240.5, "n": None, "is_open": True},
                **{"agent_id": "ag_x77y", "agent_name": "Ada", "description": "Ada asks.\n\u2026"},
                **{"created_at": "2026-11-23T03:12:07Z", "limit": "$1,390.00", "api_key": "sk-1"},
                **{"by_person": {"Ada": 3, "ag_x77y": 4}, "note": "call 555 0100 17"},
                **{"by": "ag_x77y", "actor": "ADA"},
                **{"shares": {"ada": {"n": 1}, "wanda": {"n": 2}}},
            },
        ],
        "next_cursor": "eyJhIjoxMjM0fQ",
    }
    _, text = altered(body)
    told = json.loads(text)
    row, was = told["tasks"][0], body["tasks"][0]
    assert isinstance(was, dict)
    kept = ("status", "priority", "cost", "n", "is_open", "created_at", "limit")
    assert {name: row[name] for name in kept} == {name: was[name] for name in kept}
    assert list(row) == list(was)
    assert re.fullmatch(r"id_[0-9a-f]{10}", row["id"])
    assert re.fullmatch(r"[A-Z][a-z]{5} \d{3} [a-z]{9}", row["title"])
    assert row["agent_name"].upper() == row["actor"]
    assert row["agent_name"] in row["description"]
    assert row["by"] == row["agent_id"]
    assert row["description"].endswith(".\n\u2026")
    assert row["api_key"] == "****"
    assert list(row["by_person"]) == [row["agent_name"], row["agent_id"]]
    for word in ("Ada", "ada", "wanda", "Refund", "214", "8f3k2", "x77y", "555", "eyJ", "sk-1"):
        assert word not in text


def test_an_id_is_the_same_in_a_path_a_query_and_a_link() -> None:
    made = Pseudonyms(ROOT)
    body = json.dumps({"id": "cmp_4k2j", "next": f"{ROOT}/api/tasks?cursor=Zm9v77&limit=50"})
    link = f'<{ROOT}/api/tasks?company_id=cmp_4k2j>; rel="next"; title="{CANARY}"'
    answer = Recorded(1.0, "GET /api/companies/cmp_4k2j", 0.1, headers={"link": link})
    answer, data = made.alter(answer, body.encode())
    told = json.loads(data)
    assert answer.target == f"GET /api/companies/{told['id']}"
    assert told["id"] != "cmp_4k2j"
    assert answer.headers == {"link": f'<{NOWHERE}/api/tasks?company_id={told["id"]}>; rel="next"'}
    after, _ = made.alter(Recorded(2.0, "GET /api/tasks?cursor=Zm9v77&limit=50", 0.1), b"")
    assert told["next"] == f"{NOWHERE}{after.target.removeprefix('GET ')}"
    assert "limit=50" in after.target


@pytest.mark.parametrize(
    "body",
    [
        b'{"title": "Wanda Canary',
        b'[{"title": "Wanda\\u0020Canary\\q"}]',
        b"<html><title>Wanda Canary</title>",
        b"Wanda Canary",
        b'\xff"Wanda Canary": {"Wanda Canary": ["Wanda Canary", Wanda]}',
        b'{"status": "Wanda Canary", "type": "asked Wanda Canary", "id": "Wanda Canary"}',
        b'"{\\"name\\": \\"Wanda Canary\\"}"',
    ],
)
def test_no_text_passes_in_whatever_is_no_json(body: bytes) -> None:
    _, text = altered(body)
    assert not re.search("(?i)wanda|canary", text)
    assert ("<html>" in text) is body.startswith(b"<html>")


@settings(max_examples=40)
@given(st.recursive(st.text(), lambda s: st.lists(s) | st.dictionaries(st.text(), s)))
def test_it_stays_json_of_the_same_form(body: object) -> None:
    def form(value: object) -> object:
        if isinstance(value, dict):
            return [form(each) for each in value.values()]
        return [form(each) for each in value] if isinstance(value, list) else type(value)

    changed = json.loads(altered(body)[1], object_pairs_hook=lambda pairs: [v for _, v in pairs])
    assert json.dumps(form(changed), default=str) == json.dumps(form(body), default=str)


def texts_of(platform: EmbeddedPlatform) -> set[str]:
    """Put a canary into every text of the world, and tell every name, id and text there is."""
    found = set[str]()
    with platform.world.living() as state:
        for records in (state.companies, state.agents, state.tasks):
            for record in records.values():
                for field in ("name", "title", "mission", "description", "role"):
                    if isinstance(value := getattr(record, field, None), str):
                        with_canary = f"{value} {CANARY} {field}"
                        try:
                            setattr(record, field, with_canary)
                        except AttributeError:
                            with_canary = value  # worked out of others
                        found.add(with_canary)
                found.add(record.id)
    return found


@pytest.mark.parametrize("shape", ["plain", "kebab", "nextlink", "epoch", "linkheader"])
def test_nobody_is_named_in_any_shape_and_it_replays(
    command: Command, tmp_path: Path, shape: str
) -> None:
    with EmbeddedPlatform(speed=0, shape=shape, now=NOW) as platform:
        texts = texts_of(platform)
        file = tmp_path / "bundle"
        ran = command.on(platform)("doctor", "--bundle", str(file))
        assert ran.code in (0, 3), ran.out + ran.err
        assert f"agentco-tui replay {file}" in ran.out
        assert file.stat().st_mode & 0o777 == 0o600
        recording = Recording(file)
        entries = [each for found in recording._by_target.values() for each in found]
        bodies = [recording.body(each) for each in entries if each.answer.failure is None]
        whole = file.read_bytes() + b"".join(bodies)
        told = whole.decode("utf-8", "replace")
        assert not re.search("(?i)wanda|canary", told)
        names = [text for text in texts if len(text) > 8 and not text.isdigit()]
        assert [text for text in names if text in told] == []
        assert platform.full_key not in told
        assert platform.base_url not in told
        assert f":{platform.port}" not in told
        # Read again it is what it was: as many records, of the same states and sums.
        clock = ReplayClock(recording)
        assert abs(clock.told(recording.ends) - platform.world.time()) < 5
        read = asyncio.run(replayed(recording))
        for kind, count in asyncio.run(replayed(recording, platform)).items():
            assert read[kind] == count, kind


async def replayed(
    recording: Recording, platform: EmbeddedPlatform | None = None
) -> dict[FeedName, object]:
    """What is read of each feed that tells nothing of names; of a platform, if one is given."""
    clock = ReplayClock(recording)
    clock.set(at=recording.ends, paused=True)
    replay = None if platform else Player(recording, clock).answer
    base = BaseUrl.parse(platform.base_url if platform else recording.about.base_url)
    key = ApiKey(platform.full_key if platform else "none-at-all")
    store = Store()
    async with open_client(base, key, replay=replay, attempts=1) as client:
        for feed in FeedName:
            (await fetch(feed, client, store, Query()))()
    figures = {
        feed: [(each.limit, each.spent) for each in store.collections[feed]]
        for feed in (FeedName.BUDGET, FeedName.COMPANY_BUDGETS, FeedName.AGENT_BUDGETS)
    }
    tasks = [(task.state, task.priority, task.created) for task in store.tasks]
    return {
        **figures,
        FeedName.TASKS: tasks,
        FeedName.COMPANIES: len(store.companies),
        FeedName.AGENTS: [(agent.state, agent.trust) for agent in store.agents],
        FeedName.ALERTS: [alert.severity for alert in store.alerts],
        FeedName.ACTIVITY: [entry.at for entry in store.activity],
    }


def test_it_writes_over_nothing_and_asks_for_nothing_then(
    command: Command, still: EmbeddedPlatform, tmp_path: Path
) -> None:
    (tmp_path / "mine").write_text("mine")
    still.requests.clear()
    ran = command.on(still)("doctor", "--bundle", str(tmp_path / "mine"))
    assert ran.code == 2
    assert "is there already: name another file" in ran.err
    assert (tmp_path / "mine").read_text() == "mine"
    assert len(still.requests) == 0
