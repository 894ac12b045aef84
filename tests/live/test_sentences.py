"""What the log tells, as sentences about names; and what of it is folded."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from agentco_tui.live.feeds import FeedName
from agentco_tui.live.names import Names
from agentco_tui.live.sentences import (
    action_words,
    actor_words,
    fold_repeats,
    sentence,
    without_particulars,
)
from agentco_tui.live.store import Store
from agentco_tui.model import (
    Activity,
    Agent,
    Company,
    Listing,
    Moment,
    Record,
    Ref,
    Severity,
    Task,
    extra_fields,
)
from agentco_tui.reading.decode import read_page
from agentco_tui.reading.kinds.activity import ACTIVITY
from agentco_tui.text import clean_line, mark_safe

USER = {"actor_type": "user", "actor_id": "u1"}
ADA = {"actor_type": "agent", "actor_id": "a1", "agent_id": "a1"}
STORED: dict[FeedName, Record] = {
    FeedName.AGENTS: Agent(id="a1", name=mark_safe("Ada"), company=Ref(id="c1")),
    FeedName.COMPANIES: Company(id="c1", name=mark_safe("Acme")),
    FeedName.TASKS: Task(id="t1", title=mark_safe("Refund 3")),
}


def entry_of(**sent: Any) -> Activity:
    found: Activity = read_page(ACTIVITY, [{"id": "e", **sent}]).records[0]
    return found


@pytest.mark.parametrize(
    ("sent", "by_ids", "by_names"),
    [
        (
            {**ADA, "action": "task.approved", "entity_type": "task", "entity_id": "t1"},
            "agent · approved task t1 by a1",
            "Ada · approved task “Refund 3”",
        ),
        (
            {**USER, "action": "agent.budget_updated", "entity_type": "agent", "entity_id": "a1"},
            "user · updated budget of agent a1 by u1",
            "user · updated budget of agent Ada by u1",
        ),
        (
            {"actor": "Wanda", "agent_id": "a1", "action": "agent.paused"},
            "Wanda · paused agent a1",
            "Wanda · paused agent Ada",
        ),
        (
            {**ADA, "action": "issue.checked_out", "entity_type": "issue", "entity_id": "t1"},
            "agent · checked out issue t1 by a1",
            "Ada · checked out issue “Refund 3”",
        ),
        (
            {**ADA, "action": "issue.updated", "entity_type": "issue", "entity_id": "t1",
             "details": {"identifier": "GLO-7"}},
            "agent · updated issue GLO-7 by a1",
            "Ada · updated issue GLO-7 “Refund 3”",
        ),
        (
            {**ADA, "action": "issue.created", "entity_type": "issue", "entity_id": "t9",
             "details": {"identifier": "GLO-8", "title": "Publish the prices"}},
            "agent · created issue GLO-8 “Publish the prices” by a1",
            "Ada · created issue GLO-8 “Publish the prices”",
        ),
        (
            {**ADA, "action": "issue.comment_added", "entity_type": "issue", "entity_id": "t9",
             "details": {"issueIdentifier": "GLO-8", "issueTitle": "Publish the prices"}},
            "agent · added comment of issue GLO-8 “Publish the prices” by a1",
            "Ada · added comment of issue GLO-8 “Publish the prices”",
        ),
        (
            {**ADA, "action": "lease_released", "entity_type": "environment_lease",
             "entity_id": "l1"},
            "agent · released environment lease l1 by a1",
            "Ada · released environment lease l1",
        ),
        (
            {"agent_id": "a1", "action": "ToolInvoke", "task_id": "t1", "outcome": "denied"},
            "agent · tool invoke task t1 by a1 (denied)",
            "Ada · tool invoke task “Refund 3” (denied)",
        ),
        (
            {"actor_type": "agent", "actor_id": "a2", "agent_id": "a1", "action": "agent.hired"},
            "agent · hired agent a1 by a2",
            "agent · hired agent Ada by a2",
        ),
        (
            {**ADA, "action": "agent.noted", "entity_type": "agent", "entity_id": "a1"},
            "agent · noted by a1",
            "Ada · noted",
        ),
        (
            {"action": "project.archived", "project.archived": {"id": "p1"}},
            "– · archived project p1",
            "– · archived project p1",
        ),
        ({"agent_id": "a1", "text": "Ada saved t1"}, "agent · Ada saved t1", "Ada · saved t1"),
        ({"details": {"a": 1}}, "– · an entry without words", "– · an entry without words"),
    ],
)  # fmt: skip
def test_an_entry_is_a_sentence_with_the_names_known_by_then(
    sent: dict[str, Any], by_ids: str, by_names: str
) -> None:
    entry, store = entry_of(**sent), Store()
    names = Names(store)
    assert f"{actor_words(entry, names)} · {action_words(entry, names)}" == by_ids
    for feed, record in STORED.items():
        store.take(feed, Listing(records=(record,)))
    assert f"{actor_words(entry, names)} · {action_words(entry, names)}" == by_names
    who, _, what = by_names.partition(" · ")
    assert sentence(entry, names) == (what if who == "–" else f"{who} {what}")


def note(at: float | None, words: str | None, **more: Any) -> Activity:
    fields = {"agent": Ref(id="a1"), "verb": mark_safe("agent.note"), **more}
    moment = None if at is None else Moment(at)
    return Activity(
        id=f"{at}{words}", at=moment, text=None if words is None else clean_line(words), **fields
    )


def kinds(*entries: Activity) -> list[int]:
    """How many entries are in each fold, given the newest first."""
    return [len(fold.entries) for fold in fold_repeats(entries, Names(Store()))]


def test_what_is_alike_but_for_figures_and_names_is_folded_into_the_newest() -> None:
    failed = "Lookup for {} failed: permission denied"
    log = [
        note(1_000.0, failed.format("Corner Bakery Group")),
        note(990.0, "Read 12 new messages"),
        note(900.0, failed.format("Élan")),
        note(800.0, "Read 3 new messages"),
        note(400.0, failed.format("Kestrel")),
        note(399.0, failed.format("Kestrel")),
    ]
    folds = fold_repeats(log, Names(Store()))
    assert [[entry.at and entry.at.at for entry in fold.entries] for fold in folds] == [
        [1_000.0, 900.0, 400.0],
        [990.0, 800.0],
        [399.0],
    ]
    assert [fold.count_and_span() for fold in folds] == ["×3 in 10 m", "×2 in 3 m", ""]
    assert [fold.count for fold in folds] == ["×3", "×2", ""]


@pytest.mark.parametrize(
    "other",
    [
        {"agent": Ref(id="a2")},
        {"verb": mark_safe("agent.remark")},
        {"task": Ref(id="t2")},
        {"company": Ref(id="c2")},
        {"target": Ref(id="g", name=mark_safe("Kofi"))},
        {"severity": Severity.CRITICAL},
        {"words": "Wrote 3 messages"},
        {"at": None},
        {"words": "Read 3 messages.send(to=4)"},
    ],
)
def test_what_differs_in_more_is_not_folded(other: dict[str, Any]) -> None:
    usual: dict[str, Any] = {"at": 990.0, "words": "Read 3 messages"}
    assert kinds(note(1_000.0, "Read 12 messages"), note(**usual)) == [2]
    assert kinds(note(1_000.0, "Read 12 messages"), note(**{**usual, **other})) == [1, 1]


def test_of_noise_without_words_the_verb_tells_the_kind() -> None:
    leases = [note(float(n), None, target=Ref(id=f"l{n}")) for n in (3, 2)]
    assert kinds(*leases) == [2]
    assert kinds(note(3.0, None, verb=None), note(2.0, None, verb=None)) == [1, 1]


def test_records_of_several_kinds_may_have_one_id() -> None:
    """As where each kind counts from 1: a name is only that of the kind that is meant."""
    store = Store()
    store.take(FeedName.AGENTS, Listing(records=(Agent(id="3", name=mark_safe("Ada")),)))
    store.take(FeedName.COMPANIES, Listing(records=(Company(id="3", name=mark_safe("Acme")),)))
    store.take(FeedName.TASKS, Listing(records=(Task(id="4", title=mark_safe("Refund 3")),)))
    names, verb = Names(store), {"action": "budget.updated", "entity_id": "3"}
    ada = entry_of(actor_type="agent", actor_id="3", entity_type="company", **verb)
    assert (
        f"{actor_words(ada, names)} · {action_words(ada, names)}"
        == "Ada · updated budget company Acme"
    )
    user = entry_of(actor_type="user", actor_id="3", **verb)
    assert actor_words(user, names) == "user"
    assert "Ada" not in action_words(user, names)
    assert names.of_entry(user, "target") is None, "one of two"
    assert names.known_name(Ref(id="4")) == "Refund 3"
    assert names.known_name(Ref(id="4"), "user") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Refund 214 customers", "Refund customers"),
        ("Refund 1,214 customers of Fairview Hotels", "Refund customers of"),
        ("Share the Q2 churn report with 3 others", "Share the churn report with others"),
        ("Deploy Checkout 2", "Deploy Checkout"),  # a name, or a word of the title?
        ("Возврат денег 3 клиентам Москвы", "Возврат денег клиентам"),
        ("Publish “A short guide to battery care”", "Publish “…”"),
        ("4711", "4711"),
        ("", ""),
    ],
)
def test_what_texts_that_are_alike_have_in_common(text: str, words: str) -> None:
    assert without_particulars(text) == words


def test_the_key_of_a_task_is_known_from_its_list() -> None:
    store = Store()
    names = Names(store)
    keyed = Task(id="t1", title=mark_safe("Refund 3"), key=mark_safe("GLO-7"))
    store.publish(store.tasks.put(keyed))
    sent = {**USER, "action": "task.approved", "entity_type": "task", "entity_id": "t1"}
    assert action_words(entry_of(**sent), names) == "approved task GLO-7 “Refund 3” by u1"
    of_its_own = entry_of(**sent, issue_identifier="GLO-8")
    assert action_words(of_its_own, names) == "approved task GLO-8 “Refund 3” by u1"
    store.publish(store.tasks.put(replace(keyed, title=mark_safe("GLO-7: Refund 3"))))
    assert action_words(entry_of(**sent), names) == "approved task “GLO-7: Refund 3” by u1"


@pytest.mark.parametrize(
    ("entity", "details"),
    [
        ("issue", {"title": "The new title?"}),  # of what, it does not say
        ("environment_lease", {"identifier": "GLO-7", "title": "Publish the prices"}),
    ],
)
def test_details_name_no_other_record(entity: str, details: dict[str, str]) -> None:
    sent = {"action": "it.updated", "entity_type": entity, "entity_id": "x1", "details": details}
    entry = entry_of(**sent)
    assert "x1" in sentence(entry, Names(Store()))
    assert entry.task_key is None
    assert extra_fields(entry.extra)["details"] == details
