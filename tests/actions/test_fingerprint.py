"""What of a task counts for a decision: every field it was sent with, but the volatile ones."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.actions.fingerprint import differences
from agentco_tui.model import Ref, Task
from agentco_tui.reading import json_body
from agentco_tui.reading.content import VOLATILE
from agentco_tui.reading.identity import mark_shared
from agentco_tui.text import mark_safe
from tests.api.canary import client_of
from tests.platform import EmbeddedPlatform
from tests.platform.shapes import SHAPE_NAMES
from tests.reading import decode

SENT: dict[str, Any] = {
    "id": "ap_1",
    "type": "request_board_approval",
    "title": "Pay $40 to ACME",
    "description": "For the campaign.\nPayable in 14 days.",
    "status": "pending",
    "priority": "high",
    "agent": {"id": "ag_1", "name": "Scout", "last_seen": "2026-11-20T10:00:00Z", "runs": 5},
    "company": {"id": "cmp_1", "name": "Acme", "task_count": 7},
    "estimated_cost_usd": 40,
    "created_at": "2026-11-20T09:00:00Z",
    "requested_at": "2026-11-20T09:30:00Z",
    "expires_at": "2026-12-20T09:00:00Z",
    "updated_at": "2026-11-20T10:00:00Z",
    "age_seconds": 3_600,
    "view_count": 3,
    "queue_position": 4,
    "etag": 'W/"1"',
    "trust_score": 80,
    "requires_approval": True,
    "decisionNote": None,
    "comments": [{"by": "Ada", "text": "fine by me", "updated_at": "2026-11-20T10:00:00Z"}],
    "payload": {
        "vendor": "ACME",
        "amount_cents": 4_000,
        "updated_at": "2026-11-20",
        "lines": [{"item": "Banner", "count": 1}, {"item": "Newsletter", "count": 2}],
        "urgent": False,
        "terms": {"days": 14, "rate": 0.1},
    },
}
"""A task with something volatile wherever it may stand, and the like of it where it may not."""

VOLATILE_PATHS: dict[tuple[str | int, ...], Any] = {
    ("updated_at",): "2026-11-21T10:00:00Z",
    ("age_seconds",): 7_200,
    ("view_count",): 12,
    ("queue_position",): 1,
    ("etag",): 'W/"2"',
    ("agent", "last_seen"): "2026-11-21T10:00:00Z",
    ("agent", "runs"): 6,
    ("company", "task_count"): 8,
    ("comments", 0, "updated_at"): 1_795_000_000,
}


def read(sent: dict[str, Any]) -> Task:
    page = decode.decode_page(decode.TASKS, json_body.parse_json(json.dumps([sent]).encode()))
    [task] = page.records
    return task


def changed(path: tuple[str | int, ...], value: Any) -> dict[str, Any]:
    sent = copy.deepcopy(SENT)
    holder: Any = sent
    for step in path[:-1]:
        holder = holder[step]
    holder[path[-1]] = value
    return sent


def leaves(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    if isinstance(value, dict):
        return [leaf for key, each in value.items() for leaf in leaves(each, (*path, key))]
    if isinstance(value, list):
        return [leaf for at, each in enumerate(value) for leaf in leaves(each, (*path, at))]
    return [path]


def at(path: tuple[str | int, ...]) -> Any:
    value: Any = SENT
    for step in path:
        value = value[step]
    return value


LEAVES = [path for path in leaves(SENT) if path not in VOLATILE_PATHS]
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(max_size=30)
    | st.lists(st.integers(), max_size=3)
    | st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=5), max_size=2)
)
SHOWN = read(SENT)


@given(st.sampled_from(LEAVES), VALUES)
def test_any_change_that_counts_has_a_name(path: tuple[str | int, ...], value: Any) -> None:
    if json.dumps(at(path)) == json.dumps(value) or (path == ("id",) and not value):
        return
    page = decode.decode_page(
        decode.TASKS, json_body.parse_json(json.dumps([changed(path, value)]).encode())
    )
    for now in page.records:
        assert now.content != SHOWN.content
        assert now != SHOWN
        found = differences(SHOWN, now)
        assert found
        assert all(each.was != each.is_ for each in found)


@pytest.mark.parametrize("path", LEAVES, ids=lambda path: ".".join(map(str, path)))
def test_the_change_of_one_field_is_named_by_that_field(path: tuple[str | int, ...]) -> None:
    was = at(path)
    value: Any = not was if isinstance(was, bool) else "now there is one"
    if isinstance(was, int | float) and not isinstance(was, bool):
        value = was + 1
    elif isinstance(was, str):
        value = was.replace("20", "19", 1) if "T09" in was else f"{was}, and more"
    found = differences(SHOWN, read(changed(path, value)))
    names = {
        "requested_at": "waits since", "expires_at": "expires", "created_at": "created",
        "type": "kind",
        "trust_score": "trust", "requires_approval": "needs approval", "estimated_cost_usd": "cost",
    }  # fmt: skip
    numbered = [str(step + 1) if isinstance(step, int) else step for step in path]
    wanted = names.get(str(path[0]), ".".join(numbered))
    if path[0] in ("agent", "company"):
        wanted = str(path[0])
    assert wanted in [each.field for each in found]


@given(st.sets(st.sampled_from(sorted(VOLATILE_PATHS, key=str)), min_size=1), st.randoms())
def test_volatile_fields_and_order_do_not(paths: set[tuple[str | int, ...]], chance: Any) -> None:
    sent = copy.deepcopy(SENT)
    for path in paths:
        holder: Any = sent
        for step in path[:-1]:
            holder = holder[step]
        holder[path[-1]] = VOLATILE_PATHS[path]

    def shuffled(value: Any) -> Any:
        if isinstance(value, list):
            return [shuffled(each) for each in value]
        if not isinstance(value, dict):
            return value
        items = [(key, shuffled(each)) for key, each in value.items()]
        chance.shuffle(items)
        return dict(items)

    now = read(shuffled(sent))
    assert now.content == SHOWN.content
    assert differences(SHOWN, now) == ()


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("updated_at",), "Pay $90,000 to EVIL Corp"),
        (("agent", "last_seen"), {"to": "EVIL Corp"}),
        (("age_seconds",), "ninety thousand to EVIL Corp"),
        (("view_count",), [90_000]),
        (("etag",), "x" * 300),
        (("payload", "updated_at"), "2026-11-21"),
        (("payload", "last_seen"), "2026-11-21"),
        (("payload", "terms", "age"), 15),
    ],
)
def test_a_harmless_name_hides_nothing(path: tuple[str | int, ...], value: Any) -> None:
    assert differences(SHOWN, read(changed(path, value)))


def test_every_volatile_name_has_its_reason_and_stands_once() -> None:
    names = [name for volatile in VOLATILE for name in volatile.names.split()]
    assert len(names) == len(set(names))
    assert all(volatile.reason and volatile.places for volatile in VOLATILE)


def test_a_change_beyond_where_a_title_is_cut_is_named() -> None:
    long = "Pay ACME " + "for services rendered " * 30
    found = differences(
        read(changed(("title",), f"{long}$40")), read(changed(("title",), f"{long}$90,000"))
    )
    assert [each.field for each in found] == ["title"]
    assert found[0].was.endswith("$40")
    assert found[0].is_.endswith("$90,000")


@pytest.mark.parametrize("hidden", ["\u200b", "\u202e", "\U000e0041", "\x1b", "\u00ad"])
@pytest.mark.parametrize("field", ["title", "description", "status", "priority"])
def test_a_character_that_is_not_shown_is_named_and_written_out(field: str, hidden: str) -> None:
    shown = read(changed((field,), "low\u200b"))
    now = read(changed((field,), f"low\u200b{hidden}"))
    found = differences(shown, now)
    assert [each.field for each in found] == [field]
    assert "\\" in found[0].is_ or found[0].was != found[0].is_


def test_a_change_that_only_the_digest_shows_is_told_as_such() -> None:
    one = read(changed(("decisionNote",), {"api_key": "first"}))
    other = read(changed(("decisionNote",), {"api_key": "second"}))
    [found] = differences(one, other)
    assert "not shown" in found.field


def test_a_reused_id_is_another_task() -> None:
    now = read(changed(("created_at",), "2026-11-21T09:00:00Z"))
    assert [each.field for each in differences(SHOWN, now)] == ["created"]


def test_a_task_that_shares_its_id_now_is_not_what_was_shown() -> None:
    both = mark_shared((SHOWN, read(changed(("title",), "Pay $90,000"))))
    assert [task.shared_id for task in both] == [True, True]
    assert both[0].id == SHOWN.id != both[1].id
    assert [each.field for each in differences(SHOWN, both[0])] == ["id"]


def test_a_name_that_is_looked_up_later_changes_nothing() -> None:
    bare = msgspec.structs.replace(SHOWN, agent=Ref(id="ag_1"))
    assert differences(SHOWN, bare) == ()


def test_two_agents_of_one_name_are_told_apart() -> None:
    other = msgspec.structs.replace(SHOWN, agent=Ref(id="ag_2", name=mark_safe("Scout")))
    [difference] = differences(SHOWN, other)
    assert difference.sentence == "agent was “Scout (ag_1)”, is “Scout (ag_2)”"


def test_an_agent_that_another_replaces_is_told_by_what_is_known_of_both() -> None:
    unnamed = msgspec.structs.replace(SHOWN, agent=Ref(id="ag_2"))
    without = msgspec.structs.replace(SHOWN, agent=None)
    bare = msgspec.structs.replace(SHOWN, agent=Ref(name=mark_safe("Scout")))
    one, other, third = (differences(SHOWN, now)[0] for now in (unnamed, without, bare))
    assert (one.was, one.is_) == ("Scout", "ag_2")
    assert (other.was, other.is_) == ("Scout", "–")
    assert (third.was, third.is_) == ("Scout (ag_1)", "Scout")


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("priority",), None, "priority was “high”, is “–”"),
        (("payload", "urgent"), True, "payload.urgent was “no”, is “yes”"),
        (("payload", "vendor"), None, "payload.vendor was “ACME”, is “nothing”"),
        (("payload", "vendor"), "", "payload.vendor was “ACME”, is “an empty text”"),
        (("payload", "terms"), [], 'payload.terms was “{"days":14,"rate":0.1}”, is “[]”'),
        (("payload", "lines", 1, "count"), 3, "payload.lines.2.count was “2”, is “3”"),
        (
            ("payload", "lines", 1),
            7,
            'payload.lines.2 was “{"item":"Newsletter","count":2}”, is “7”',
        ),
    ],
)
def test_a_difference_is_told_in_these_words(
    path: tuple[str | int, ...], value: Any, words: str
) -> None:
    assert [each.sentence for each in differences(SHOWN, read(changed(path, value)))] == [words]


def test_two_times_that_read_the_same_are_told_apart() -> None:
    sent = changed(("created_at",), "2026-11-20T09:00:00.250Z")
    [found] = differences(SHOWN, read(sent))
    assert found.field == "created"
    assert found.was != found.is_


def test_beyond_so_many_values_the_digest_alone_tells() -> None:
    rows = list(range(30_000))
    one = read(changed(("payload", "lines"), rows))
    last = read(changed(("payload", "lines"), [*rows[:-1], -1]))
    first = read(changed(("payload", "lines"), [-1, *rows[1:]]))
    assert [each.field for each in differences(one, first)] == ["payload.lines.1"]
    [found] = differences(one, last)
    assert "not shown" in found.field


@pytest.mark.parametrize("name", sorted(SHAPE_NAMES))
async def test_in_every_shape_all_counts_but_what_moves_by_itself(name: str) -> None:
    with EmbeddedPlatform(shape=name, speed=0.0, companies=2, agents=16, tasks=1) as platform:
        [task] = platform.world.tasks()
        others = [one for one in platform.world.agents() if one.company is not task.agent.company]
        otherwise = {
            "updated": task.updated + 9e4, "created": task.created - 9e4, "agent": others[0],
            "title": "Pay $90,000 to EVIL Corp", "description": "For nothing.",
            "priority": "low" if task.priority == "high" else "high", "estimate": 90_000_000_000,
        }  # fmt: skip
        async with client_of(platform) as client:
            [shown] = (await client.tasks()).records
            for field, value in otherwise.items():
                was = getattr(task, field)
                setattr(task, field, value)
                platform.world.state.changed(task)
                [now] = (await client.tasks()).records
                assert (now.content != shown.content) is (field != "updated"), field
                assert bool(differences(shown, now)) is (field != "updated"), field
                setattr(task, field, was)
