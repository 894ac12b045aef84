"""`doctor --bundle`: a recording for a bug report that names nobody, and is read the same."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from pathlib import Path
from string import ascii_letters
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentco_tui.api.bundle_words import known_fields, vocabulary, word_parts
from agentco_tui.api.client import open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.api.pseudonyms import NOWHERE, Pseudonyms
from agentco_tui.api.recording import Recording
from agentco_tui.api.recording_format import Recorded
from agentco_tui.live.feeds import FeedName, Query
from agentco_tui.live.fetch import fetch
from agentco_tui.live.replay_clock import ReplayClock
from agentco_tui.live.replay_poller import RecordedPlatform
from agentco_tui.live.store import Store
from agentco_tui.reading.json_body import parse_json
from tests.commands.conftest import Command
from tests.platform import EmbeddedPlatform
from tests.reading import golden
from tests.reading.decode import (
    ACTIVITY,
    AGENT_BUDGETS,
    AGENTS,
    ALERTS,
    COMPANIES,
    COMPANY_BUDGETS,
    TASKS,
    Kind,
    RefusedBody,
    UnexpectedShape,
    decode_page,
    parsed,
)

ROOT = "https://acme.example/prefix"
CANARY = "Wanda Canary"
NOW = 1_790_000_000.0  # another time than the machine's


def altered(body: object, path: str = "/api/tasks", **headers: str) -> tuple[Recorded, str]:
    # With a fixed key, no figure becomes another one of the test by chance.
    made = Pseudonyms(ROOT, key=bytes(16))
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


@pytest.mark.parametrize("field", ["identifier", "issueKey", "key", "issue_identifier"])
def test_the_key_of_a_task_is_another_and_still_a_key(field: str) -> None:
    _, text = altered([{"id": "tsk_8f3k2", "title": "Refund", field: "GLO-1234567"}])
    key = json.loads(text)[0][field]
    assert "GLO" not in text
    assert "1234567" not in text
    assert re.fullmatch(r"[A-Z]+-\d+", key)


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
    with platform.world.locked() as state:
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
        # private: a recording has no public list of all its answers.
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
        assert abs(clock.platform_time(recording.ends) - platform.world.time()) < 5
        read = asyncio.run(replayed(recording))
        for kind, count in asyncio.run(replayed(recording, platform)).items():
            assert read[kind] == count, kind


async def replayed(
    recording: Recording, platform: EmbeddedPlatform | None = None
) -> dict[FeedName, object]:
    """What is read of each feed that tells nothing of names; of a platform, if one is given."""
    clock = ReplayClock(recording)
    clock.set(at=recording.ends, paused=True)
    replay = None if platform else RecordedPlatform(recording, clock).answer
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
    assert "exists already: name another file" in ran.err
    assert (tmp_path / "mine").read_text() == "mine"
    assert len(still.requests) == 0


FIELDS = sorted(known_fields() | {"phone", "lat", "ip_address", "contact", "custom_7", "Umsatz"})


def is_made_of_known_words(name: str) -> bool:
    """Whether no one could take it for a name: "nextPageToken", "TaskApproved"."""
    parts = word_parts(name)
    known = vocabulary()
    return all(len(part) > 1 and {part, part.removesuffix("s")} & known for part in parts)


NAMES = st.text(ascii_letters, min_size=7, max_size=12).filter(
    # A name that is also that of a field, such as "ScopeId", is kept as one.
    lambda name: (
        name.casefold() not in vocabulary() | known_fields() and not is_made_of_known_words(name)
    )
)
ADDRESSES = st.ip_addresses(v=4).map(str) | st.ip_addresses(v=6).map(lambda ip: ip.exploded)
PLACES: dict[str, Callable[[str], object]] = {
    "verb": lambda name: {"verb": f"{name}.approved", "action": f"task:{name}_created"},
    "type": lambda name: {"type": f"{name.title()}Invoke", "actor_type": name, "status": name},
    "status": lambda name: {"status": {"name": name}, "state": f"assigned to {name}"},
    "code": lambda name: {"code": name[:3] + "." + name, "currency": name, "unit": name},
    "name of a field": lambda name: {
        name: 1,
        f"{name}_approved": 2,
        f"approvedBy{name.title()}": 3,
    },
    "key of a map": lambda name: {"agents": {name: {"spent": 1}, f"x{name}": {"spent": 2}}},
    "id": lambda name: {"id": name, "agent_id": f"agent:{name}", "ids": [name], "cursor": name},
    "address": lambda name: {"url": f"https://{name}.example/{name}/x?{name}={name}#{name}"},
    "path": lambda name: {"href": f"/api/agents/{name}/tasks", "self": f"/api/{name}?by={name}"},
    "text": lambda name: {"title": f"Ask {name}, or <{name}@{name}.example>", "x": [[name]]},
}


def everything_of(body: object, name: str) -> str:
    """All that a bundle would hold of an answer in which a name stands in target and headers."""
    headers = {
        "content-type": f"application/vnd.{name}+json; name={name}",
        "link": f'<{ROOT}/api/tasks?{name}=1&cursor={name}>; rel="next"; title="{name}"',
        "x-next-cursor": name,
        "x-pagination": json.dumps({"next": f"/api/{name}", name: name}),
    }
    answer = Recorded(
        *(1.0, f"GET /api/agents/{name}?agent_id={name}&{name}=5&status={name}", 0.1),
        status=200,
        headers=headers,
    )
    answer, data = Pseudonyms(ROOT).alter(answer, json.dumps(body).encode())
    return f"{answer.target} {answer.headers} {data.decode()}"


@settings(max_examples=60, deadline=None)
@given(NAMES, st.sampled_from(sorted(PLACES)), st.lists(st.sampled_from(FIELDS), max_size=3))
@example("SourceA", "verb", [])
@example("SourceA", "name of a field", [])
def test_no_name_stands_anywhere(name: str, place: str, around: list[str]) -> None:
    body: object = PLACES[place](name)
    for field in around:
        body = {field: [body] if len(field) % 2 else body, "n": 1}
    assert name.casefold() not in everything_of(body, name).casefold()


def test_a_known_word_that_is_a_name_elsewhere_is_replaced_in_verbs() -> None:
    rows = [
        {"id": "e1", "verb": "grant.approved", "actor": {"name": "Grant"}, "status": "granted"},
        {"id": "e2", "action": "ron_created", "user": "Ron", "type": "RonInvoke", "ron_id": "x1"},
    ]
    _, text = altered(rows)
    assert not re.search(r"(?i)grant\b|grant\.|ron", text)
    told = json.loads(text)
    assert told[0]["verb"] == f"{told[0]['actor']['name'].lower()}.approved"
    assert told[0]["status"] == "granted"
    assert told[1]["action"].endswith("_created")


@settings(max_examples=60, deadline=None)
@given(
    ADDRESSES,
    st.integers(10**9, 10**13),
    st.floats(-90, 90)
    .map(lambda degrees: round(degrees, 7))
    .filter(lambda d: len(str(abs(d))) > 7 and abs(d) > 1),
    st.sampled_from(FIELDS),
)
def test_no_address_phone_number_or_position_stands_anywhere(
    address: str, phone: int, degrees: float, field: str
) -> None:
    private = {
        **{"ip": address, "source": address, "value": address, "clientIp": [address]},
        **{
            "phone": phone,
            "phone_number": str(phone),
            "tel": f"+{phone}",
            "mobile": {"value": phone},
        },
        **{"latitude": degrees, "lat": degrees, "geo": {"x": degrees}, "position": [degrees]},
        **{"location": {"amount": degrees, "limit": degrees, "coordinates": [[degrees]]}},
        **{"note": f"{address} {phone} {degrees}"},
    }
    body = {"records": [{"id": "r1", "status": "active", field: private, **private}]}
    _, text = altered(body, f"/api/tasks?from_ip={address}")
    for secret in (address, str(phone), str(abs(degrees))):
        assert secret not in text
    assert json.loads(text)["records"][0]["status"] == "active"


@pytest.mark.parametrize(
    "body",
    [
        {"contacts": [{"type": "phone", "value": 4915112345678}]},
        {"contacts": [{"kind": "work mobile", "total": "4915112345678"}]},
        {"records": [{"label": "whatsapp", "amount": 4915112345678, "spent": 5}]},
        [{"ip": 4915112345678, "value": 4915112345678}],
        {"value": 4915112345678, "callers": [{"phone_number": "4915112345678"}]},
    ],
)
def test_a_private_number_below_the_name_of_a_figure_is_replaced(body: object) -> None:
    _, text = altered(body)
    assert "4915112345678" not in text


def test_figures_beside_a_word_for_something_private_stay() -> None:
    rows = [{"type": "task", "title": "Move the phone", "position": 3, "cost": 51.25}]
    _, text = altered(rows)
    assert json.loads(text)[0]["cost"] == 51.25


def test_what_a_mapping_names_is_kept_and_what_every_platform_has() -> None:
    body = [
        {"id": "a1", "kosten_je_monat": 7, "zustand": "wartet", "agent": {"name": "Task Agent"}}
    ]
    made = Pseudonyms(ROOT, ["kosten_je_monat", "wartet"])
    _, data = made.alter(Recorded(1.0, "GET /api/tasks", 0.1), json.dumps(body).encode())
    [row] = json.loads(data)
    assert row["kosten_je_monat"] == 7
    assert row["agent"]["name"] != "Task Agent"
    assert "zustand" not in row
    made = Pseudonyms(ROOT, ["wartet"])
    _, data = made.alter(Recorded(1.0, "GET /x", 0.1), b'{"status": "wartet", "type": "task"}')
    assert json.loads(data) == {"status": "wartet", "type": "task"}


def test_ids_of_digits_are_others_and_the_same_everywhere() -> None:
    made = Pseudonyms(ROOT)
    body = {"tasks": [{"id": 4711, "agent_id": "815", "cost": 4711, "by": {"id": 815}}]}
    answer, data = made.alter(Recorded(1.0, "GET /api/tasks", 0.1), json.dumps(body).encode())
    [row] = json.loads(data)["tasks"]
    assert row["cost"] == 4711, "a figure"
    assert row["id"] not in (4711, 815)
    assert row["agent_id"] == str(row["by"]["id"]) != str(row["id"])
    for path in ("/api/tasks/4711/trace", "/api/agents?agent_id=815", "/api/agents/815"):
        answer, _ = made.alter(Recorded(1.0, f"GET {path}", 0.1), b"{}")
        assert not re.search("4711|815", answer.target)
        assert str(row["id"]) in answer.target or row["agent_id"] in answer.target


@pytest.mark.parametrize("name", golden.names())
def test_a_body_of_another_platform_has_as_many_records(name: str) -> None:
    body = golden.load(name)["answer"]["body"]
    kind = KINDS.get(golden.load(name)["call"])
    if kind is None or name in NOT_THE_SAME:
        return
    _, text = altered(body)
    assert counted(kind, parse_json(text.encode())) == counted(kind, parsed(body))


def counted(kind: Kind[Any], body: Any) -> object:
    """How many records are read, and how many are not; or that none can be."""
    try:
        page = decode_page(kind, body)
    except (UnexpectedShape, RefusedBody) as error:
        return type(error)
    return len(page.records), page.unread


KINDS: dict[str, Kind[Any]] = {
    **{"activity": ACTIVITY, "agents": AGENTS, "agent_budgets": AGENT_BUDGETS, "tasks": TASKS},
    **{"companies": COMPANIES, "company_budgets": COMPANY_BUDGETS, "budget_alerts": ALERTS},
}
NOT_THE_SAME: frozenset[str] = frozenset()
