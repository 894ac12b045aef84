"""The content of a task: a digest of every field that was sent, except the volatile ones.

An AI agent on the platform, the remote service, asks the user to approve the task. Two answers with
the same digest ask for the same thing, to the last code point; the order of their fields does not
count. By the digest the program makes sure that users approve what they saw. *Volatile* fields
change while the task itself does not, such as `updated_at` or `age_seconds`. A field is left out
only if all three are true: `VOLATILE` names it, its value is of the sort declared there, and it is
in an object where such a field is about the record or about someone whom the record names (see
`Place`).

Nothing is left out of the *substance*, which is what the task is about (a payload, arguments): an
agent writes it, and could hide a change behind a harmless name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from enum import IntEnum
from hashlib import blake2b
from operator import is_not
from typing import Any, Final, NamedTuple

import msgspec

from agentco_tui.model import AgentState
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.schema import UnreadableRecord
from agentco_tui.reading.values.money import Sum, to_sum
from agentco_tui.reading.values.status_word import agent_state
from agentco_tui.reading.values.time import to_moment, to_seconds
from agentco_tui.text.memoized import memoized
from agentco_tui.text.patterns import lazy_pattern

SIZE: Final = 15
"""Bytes of a digest: with one more, each would take 64 bytes of memory instead of 48."""

_MAX_DEPTH: Final = 60
"""Below this depth, volatile fields are kept."""
_MAX_TAG: Final = 200
"""Characters of the longest version mark, such as an ETag."""

_encode = msgspec.json.Encoder(order="deterministic", decimal_format="number").encode


class Place(IntEnum):
    """The role of an object in a task, which decides which of its fields may be volatile."""

    RECORD = 0
    """The task itself, or an object that wraps it or its times."""
    REFERENCE = 1
    """An agent, a company or a user that the task names."""
    PART = 2
    """Any other object."""


def _is_time(value: Json) -> bool:
    """Whether it is a point in time."""
    if type(value) is dict and not {*map(type, value.values())} <= {int, Decimal}:
        return False  # words in it could say anything
    return to_moment(value) is not None


_SPAN_WORD: Final = lazy_pattern(
    r"\d[\d.,:]*[a-z]{0,12}|about|over|almost|less|than|just|now|in|an?|few|ago|left|and"
    r"|(?:second|sec|minute|min|hour|hr|day|week|month|year)s?",
    re.ASCII,
)
"""One word of a span of time such as "about 3 hours ago"."""


def _is_span(value: Json) -> bool:
    """Whether it is a span of time, in seconds or in words; True for anything but a text."""
    if to_seconds(value) is not None:
        return True
    if type(value) is not str:
        return True
    words = value.lower().replace(",", " ").split()
    return len(words) <= 8 and all(map(_SPAN_WORD.fullmatch, words))


def _is_figure(value: Json) -> bool:
    """Whether it is a flag, a number or a sum."""
    return type(value) is bool or type(to_sum(value)) is Sum


def _is_tag(value: Json) -> bool:
    """Whether it is a number or a short text."""
    return type(value) in (int, Decimal) or (type(value) is str and len(value) <= _MAX_TAG)


def _is_activity(value: Json) -> bool:
    """Whether it is an agent's status word, such as "idle", or a flag, such as `online`."""
    is_word = type(value) is str and agent_state(value) is not AgentState.OTHER
    return is_word or type(value) is bool


class Volatile(NamedTuple):
    """Fields that say nothing about what a task asks for."""

    names: str
    """Blank-separated; compared folded."""
    test: Callable[[Json], bool]
    """Tells whether a value is of the sort that is left out; null always is."""
    places: tuple[Place, ...]
    """The objects in which the fields are left out."""
    reason: str


_RECORD_OR_REFERENCE: Final = (Place.RECORD, Place.REFERENCE)

VOLATILE: Final = (
    Volatile(
        """updated_at modified_at updated last_modified last_modified_at last_updated
        last_updated_at update_time modified changed_at date_updated updated_on last_update
        modified_on date_modified last_changed_at sys_updated_on updated_time
        last_seen last_seen_at last_active last_active_at last_activity last_activity_at
        last_heartbeat last_heartbeat_at heartbeat_at last_ping last_ping_at last_poll
        last_polled_at last_contact last_contact_at last_online last_login last_login_at
        last_used_at last_run_at last_output_at
        last_viewed last_viewed_at viewed_at last_read_at read_at last_accessed
        last_accessed_at accessed_at last_checked_at last_reminded_at last_notified_at
        last_touch_at my_last_touch_at monitor_last_triggered_at monitor_next_check_at
        monitor_wake_requested_at
        now server_time generated_at fetched_at retrieved_at as_of synced_at last_synced_at
        indexed_at cached_at snapshot_at""",
        _is_time,
        (*_RECORD_OR_REFERENCE, Place.PART),
        "moves with any write, while an agent works, when the record is looked at or answered; "
        "what changed is compared itself",
    ),
    Volatile(
        """age age_seconds age_secs age_ms age_minutes age_hours age_days age_text waiting_seconds
        waiting_secs waiting_ms waiting_minutes waiting_for waited waited_seconds wait_seconds
        wait_time waiting_time wait_ms pending_for pending_seconds elapsed elapsed_seconds
        elapsed_secs elapsed_ms time_waiting time_in_queue time_in_status queued_for idle_for
        idle_seconds uptime uptime_seconds seconds_since_update expires_in expires_in_seconds
        seconds_left time_left time_remaining remaining_seconds seconds_remaining ttl_remaining
        created_ago updated_ago time_ago""",
        _is_span,
        _RECORD_OR_REFERENCE,
        "a span from or to now: it grows while nothing changes",
    ),
    Volatile(
        """view_count views_count read_count poll_count hit_count
        access_count seen_count notification_count notifications_sent reminder_count
        reminders_sent heartbeat_count heartbeats ping_count unread_count monitor_attempt_count
        unread is_unread is_unread_for_me is_read seen is_seen viewed is_viewed has_new_activity
        queue_position position_in_queue queue_index place_in_queue row_number row_num rownum
        order_index _score search_score""",
        _is_figure,
        _RECORD_OR_REFERENCE,
        "counts who looked or was reminded, or is the place in the list as others leave it",
    ),
    Volatile(
        """etag _etag odata_etag e_tag resource_version lock_version row_version change_key
        sync_token sys_mod_count _seq_no _primary_term cursor""",
        _is_tag,
        _RECORD_OR_REFERENCE,
        "marks a version or an answer: what it stands for is compared itself",
    ),
    Volatile(
        "status state availability presence activity online is_online busy is_busy idle active",
        _is_activity,
        (Place.REFERENCE,),
        "what an agent does right now, while its task waits",
    ),
    Volatile(
        """tasks_completed completed_tasks tasks_done task_count tasks_count open_tasks
        active_tasks pending_tasks pending_count agent_count active_agents run_count total_runs
        runs error_count success_rate message_count messages_count token_count tokens_used
        total_tokens budget_remaining remaining_budget budget_spent budget_used spent spend
        total_spent monthly_spend spent_this_month spent_monthly spent_monthly_cents spent_cents
        cost_to_date total_cost usage used""",
        _is_figure,
        (Place.REFERENCE,),
        "counts what an agent or a company did and spent, which goes on while the task waits",
    ),
)
"""All fields that may change between reading and approving a task without changing it."""
_RULES: Final = {fold(name): rule for rule in VOLATILE for name in rule.names.split()}
"""The rule for a field, by its folded name."""

_WRAPPED: Final = word_set(
    """attributes node properties fields embedded source info resource item record document task
    spec metadata meta timestamps dates times audit status state approval review context refs
    references"""
)
"""Folded names of objects in a record that are part of it (`Place.RECORD`)."""
_NAMED: Final = word_set(
    """agent agents assignedagent assignedagents assignee assignees assignedto agentref owneragent
    worker executor responsible assistant requestedbyagent assigneeagent bot aiagent employee owner
    company companyref organization organisation org workspace tenant account employer user creator
    createdby requester requestedby reporter author approver approvers reviewer reviewers
    assignedapprover project team relationships"""
)
"""Folded names of objects that are references (`Place.REFERENCE`)."""
_SUBSTANCE: Final = word_set(
    """payload input inputs args arguments param params parameters toolinput toolargs toolarguments
    toolcall toolcalls variables proposal action request command"""
)
"""Folded names of fields that hold the substance, in which everything counts."""

_HOLDERS: Final = frozenset((dict, list))


@memoized(2048)
def _volatility_tests(
    keys: tuple[str, ...], place: Place
) -> list[tuple[str, Callable[[Json], bool]]]:
    """(key, test) of the fields of an object that may be volatile.

    It is memoized, since the objects of a list mostly have the same keys.
    """
    rules = ((key, _RULES.get(fold(key))) for key in keys)
    return [(key, rule.test) for key, rule in rules if rule and place in rule.places]


def content_of(raw: Json) -> bytes:
    """The digest of a task as it was sent. Raises UnreadableRecord if it is nested too deeply."""
    try:
        return blake2b(_encode(without_volatile(raw)), digest_size=SIZE).digest()
    except RecursionError:
        raise UnreadableRecord("a task nested too deeply to be compared") from None


def is_substance(name: str) -> bool:
    """Whether a field of this name holds what a task is about."""
    return fold(name) in _SUBSTANCE


def without_volatile(value: Json, place: Place = Place.RECORD, depth: int = 0) -> Any:
    """`value`, a part of a task, without its volatile fields; the same object if it has none."""
    if depth > _MAX_DEPTH or type(value) not in _HOLDERS:
        return value
    if type(value) is list:
        items = [without_volatile(item, place, depth + 1) for item in value]
        has_changed = any(map(is_not, items, value))
        return items if has_changed else value
    kept: dict[str, Json] = value
    for key, test in _volatility_tests(tuple(value), place):
        if value[key] is None or test(value[key]):
            if kept is value:
                kept = dict(value)
            del kept[key]
    if _HOLDERS.isdisjoint(map(type, kept.values())):
        return kept
    for key, inner in list(kept.items()):
        if not inner or type(inner) not in _HOLDERS:
            continue
        folded = fold(key)
        if folded in _SUBSTANCE:
            continue
        inner_place = Place.PART
        if place is Place.REFERENCE or folded in _NAMED:
            inner_place = Place.REFERENCE
        elif place is Place.RECORD and folded in _WRAPPED:
            inner_place = Place.RECORD
        stable = without_volatile(inner, inner_place, depth + 1)
        if stable is not inner:
            if kept is value:
                kept = dict(value)
            kept[key] = stable
    return kept
