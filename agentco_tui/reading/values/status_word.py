"""Maps the status words of platforms to our states and severities.

Platforms are the remote services with the tasks, AI agents and alerts that have these words. Case,
hyphens, spaces, capitals inside a word, enum prefixes (`TASK_STATE_INPUT_REQUIRED`,
`TaskStatus.RUNNING`) and spelling (canceled, cancelled) do not matter. An unknown status is OTHER:
it is shown as it was sent, and never treated as done.

The tables list the words of each state. Words that are in no table are decided by their parts:
`waiting_for_manager_approval` is PENDING.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

from agentco_tui.model import AgentState, Severity, TaskState
from agentco_tui.reading.field_names import HUMP, word_set
from agentco_tui.text.memoized import memoized

_E = TypeVar("_E", TaskState, AgentState, Severity, bool)

_SEPARATORS: Final = re.compile(r"[\s\-_/]+")
_PREFIX: Final = re.compile(r"(?:^|_)(?:state|status|phase|stage|severity|level|priority)_(?=.)")
"""The prefix of an enum's member: `task_state_` of `task_state_input_required`."""
_ENUM: Final = re.compile(r"^.*[.:](?=.)")
"""The name of an enum: `taskstatus.` of `taskstatus.running`."""
_MAX_WORD: Final = 80
"""Longer words are cut."""


def _table(words_by_meaning: dict[_E, str]) -> dict[str, _E]:
    """The meaning of each word, from blank-separated words by meaning."""
    return {word: meaning for meaning, words in words_by_meaning.items() for word in words.split()}


_TASKS: Final = _table(
    {
        TaskState.PENDING: """pending pending_approval awaiting_approval waiting_approval
            waiting_for_approval needs_approval needs_input needs_review needs_attention
            awaiting_human_approval awaiting_human_feedback awaiting_input awaiting_review
            input_required auth_required approval_required review_required action_required
            requires_action requires_approval plan_review in_review under_review in_approval
            review interrupted revision_requested changes_requested on_hold pending_review
            user_input_required waiting_for_human human_review human_in_the_loop unapproved
            awaiting_decision undecided waiting_on_user waiting_for_user blocked_on_approval
            suspended_for_approval pending_human proposed requested waiting unconfirmed""",
        TaskState.QUEUED: """queued queue todo to_do backlog scheduled submitted new ready
            enqueued up_for_retry up_for_reschedule scheduled_retry retrying retry deferred
            not_started unstarted planned accepted_for_processing received pending_start
            pending_run pending_execution open assigned awaiting_retry late awaiting_execution
            pending_version delayed dequeued""",
        TaskState.RUNNING: """running in_progress inprogress progress working started active
            executing execution processing busy ongoing doing claimed checked_out resumed
            continued_as_new leased dispatched delegated thinking preparing initializing
            initialising planning applying finalizing canceling cancelling stopping""",
        TaskState.APPROVED: """approved accepted accept approve allow allowed confirmed granted
            authorized authorised signed_off greenlit auto_approved""",
        TaskState.DONE: """done completed complete success succeeded successful finished closed
            resolved ok published answered merged delivered fulfilled ended shipped passed
            applied""",
        TaskState.FAILED: """failed failure error errored crashed timed_out timeout timedout
            upstream_failed fatal broken dead exception aborted_with_error fail
            system_failure startup_failure""",
        TaskState.CANCELLED: """cancelled canceled terminated aborted killed stopped skipped
            dismissed expired archived deleted removed recalled withdrawn abandoned superseded
            revoked discarded obsolete""",
        TaskState.REJECTED: """rejected reject denied deny declined refused disapproved vetoed
            not_approved""",
    }
)
_PERSON: Final = word_set(
    """approval approve approver human review reviewer input user feedback confirmation
    decision action person operator permission authorization auth signoff sign attention manager
    owner"""
)
"""Parts of a word that say that the operator has to act."""
_FOR_REVIEW: Final = re.compile(
    r"_(?:for|on|in|to|under)_(?:approval|review|sign_?off|confirmation|decision|authori[sz]ation)$"
)
"""The end of a word such as `sent_for_approval`."""
_ENDED_STATES: Final = frozenset(
    (TaskState.APPROVED, TaskState.REJECTED, TaskState.DONE, TaskState.CANCELLED, TaskState.FAILED)
)
_NOT: Final = word_set("no not non never without unneeded unnecessary waived")
"""Parts of a word that reverse its meaning: `approval_not_required`."""
_WAITING: Final = word_set("""awaiting await waiting wait needs need requires pending require""")
"""First parts of a word that say that a task waits."""

_AGENTS: Final = _table(
    {
        AgentState.ACTIVE: """active running enabled online busy working up live started executing
            in_progress processing on normal healthy operational alive available_busy thinking
            connected ok""",
        AgentState.IDLE: """idle ready available standby sleeping waiting free asleep quiet
            unassigned""",
        AgentState.PAUSED: """paused suspended on_hold throttled budget_paused blocked hold
            paused_by_budget budget_exceeded over_budget frozen hard_stop snoozed interrupted""",
        AgentState.ERROR: """error errored failed crashed unhealthy faulty failing broken failure
            degraded unresponsive stuck""",
        AgentState.PENDING: """pending pending_approval provisioning starting initializing
            initialising created draft new awaiting_approval onboarding booting queued deploying
            hiring training""",
        AgentState.STOPPED: """stopped terminated killed disabled offline archived deleted retired
            inactive down dead fired decommissioned shutdown shut_down off removed exited
            disconnected dismissed not_active not_enabled""",
    }
)

_SEVERITIES: Final = _table(
    {
        Severity.INFO: """info information informational debug trace notice default low minor ok
            success normal none green hint verbose ordinary""",
        Severity.WARNING: """warning warn medium moderate alert alerting soft yellow amber orange
            caution elevated approaching approaching_limit near_limit at_risk attention
            threshold_reached soft_limit""",
        Severity.CRITICAL: """critical crit error err fatal emergency emerg severe high urgent
            danger red hard hard_stop exceeded over_budget overbudget budget_exceeded exhausted
            blocked panic breach breached over_limit limit_reached limit_exceeded blocker p0 p1
            sev0 sev1 sev_0 sev_1 ceiling_hit depleted stopped very_high highest failure failed""",
    }
)
_ALERTS: Final = _table(
    {
        False: """resolved dismissed closed acknowledged acked ack read seen cleared done inactive
            handled silenced muted ignored expired archived fixed recovered ended off snoozed
            suppressed ok normal false""",
        True: """open active firing triggered new unread unresolved pending raised alerting ongoing
            current unacknowledged on warning critical exceeded breached true
            alarm in_alarm alarming""",
    }
)


@memoized(4096)
def snake_case(word: str) -> str:
    """`word` in lower case, `_` between its parts: "InProgress" and "in-progress" → in_progress.

    (`field_names.fold` removes what is between the parts: inprogress.)
    """
    parts = HUMP.sub("_", word.strip()[:_MAX_WORD])
    return _SEPARATORS.sub("_", parts).strip("_").lower()


def _forms(word: str) -> list[str]:
    """The spellings to look up: the whole word first, then without an enum's name and prefix."""
    folded = snake_case(word)
    forms = [folded]
    if "." in folded or ":" in folded:
        forms.append(_ENUM.sub("", folded).strip("_ "))
    prefixes = list(_PREFIX.finditer(forms[-1]))
    if prefixes:
        forms.append(forms[-1][prefixes[-1].end() :])
    return forms


def _look_up(table: dict[str, _E], word: str) -> _E | None:
    """The meaning of a word, None if no form of it is in the table."""
    for form in _forms(word):
        if form in table:
            return table[form]
    return None


@memoized(2048)
def task_state(word: str) -> TaskState:
    """The state that a task's status word means; OTHER if it is unknown."""
    state = _look_up(_TASKS, word)
    if state is not None:
        return state
    form = _forms(word)[-1]
    parts = form.split("_")
    if not _NOT.isdisjoint(parts):
        return TaskState.OTHER
    if _FOR_REVIEW.search(form) and _TASKS.get(parts[0]) not in _ENDED_STATES:
        return TaskState.PENDING
    waits = parts[0] in _WAITING or parts[-1] in ("required", "requested", "needed", "pending")
    if waits and _PERSON.intersection(parts):
        return TaskState.PENDING
    return TaskState.OTHER


@memoized(2048)
def agent_state(word: str) -> AgentState:
    """The state that an agent's status word means; OTHER if it is unknown."""
    return _look_up(_AGENTS, word) or AgentState.OTHER


@memoized(2048)
def severity(word: str) -> Severity:
    """The severity that a word means: a severity, a level or a budget's state ("over_budget").

    UNKNOWN if it means none.
    """
    level = _look_up(_SEVERITIES, word)
    if level is not None:
        return level
    parts = set(_forms(word)[-1].replace(".", "_").split("_"))
    if parts & {"exceeded", "critical", "exhausted", "overrun", "breached", "blocked", "runaway"}:
        return Severity.CRITICAL
    if parts & {"warning", "warn", "approaching", "threshold", "nearing", "soft"}:
        return Severity.WARNING
    return Severity.UNKNOWN


def alert_open(word: str) -> bool | None:
    """Whether an alert's status word means that it is open; None if the word is unknown."""
    return _look_up(_ALERTS, word)


_VERBS: Final = _table(
    {
        Severity.CRITICAL: """failed failure error errored crashed fatal exceeded exhausted breached
            breach overrun""",
        Severity.WARNING: """warning warn denied refused timeout blocked paused stopped
            terminated suspended throttled escalated retrying""",
    }
)
"""Parts of the verb of an activity (an entry of a platform's log), such as "task.failed", by the
severity that they mean."""
_MENDED: Final = word_set("resolved cleared recovered acknowledged dismissed closed fixed reset")
"""Parts of a verb that mean that a problem is over."""


@memoized(2048)
def verb_severity(verb: str, outcome: str = "") -> Severity:
    """How bad an activity is by its verb ("task.failed") and outcome; UNKNOWN if neither says."""
    parts = snake_case(verb.replace(".", "_").replace(":", "_")).split("_")
    levels: list[Severity] = []
    if not _MENDED.intersection(parts):
        levels = [_VERBS[part] for part in parts if part in _VERBS]
    if _TASKS.get(snake_case(outcome)) in (TaskState.FAILED, TaskState.REJECTED):
        levels.append(Severity.WARNING)
    if Severity.CRITICAL in levels:
        return Severity.CRITICAL
    return levels[0] if levels else Severity.UNKNOWN
