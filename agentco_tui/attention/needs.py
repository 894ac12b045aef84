"""Defines a need: one item of the "needs you" list, with its level and its rank.

A need is one thing that requires the user: a task that waits for approval, a budget that runs out,
an agent that fails. (All of these are records of the platform, the remote service with companies of
AI agents; the store is what is known of it in memory.) A need has one record that shows it best,
further ones that belong to it, and a key by which it is snoozed. A platform may report one cause in
several lists, and say so (`model.Record.cause`): the needs of one cause are joined to one.
`NeedsModel` makes and sorts the needs; `need_words` describes them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from enum import StrEnum
from operator import itemgetter

import msgspec
from msgspec.structs import replace

from agentco_tui.attention.snooze import Snooze
from agentco_tui.history.spending_alarms import Runaway
from agentco_tui.live.insight import Level
from agentco_tui.live.ownership import cause_of
from agentco_tui.live.spend_rate import FastSpend
from agentco_tui.model import Activity, Agent, Alert, Budget, Task


class NeedKind(StrEnum):
    """The first four say which record shows a need best."""

    BUDGET = "budget"
    TASK = "task"  # a task that waits for the user
    ALERT = "alert"  # the platform's own warning about a budget
    AGENT = "agent"
    STUCK = "stuck"  # approved tasks of one agent to which nothing happens
    FAILURES = "failures"  # a failure that repeats in the activity log


class RankReason(StrEnum):
    """The reason for a need's rank among those of its level, the gravest first.

    The values complete the sentence "Ranked by ...".
    """

    DECIDED = "an approval that is not confirmed"
    """The user approved the task, and no read has shown yet that it is approved."""
    BURNING = "a limit reached within the hour"
    STOPS = "blocked work"
    WHOLE = "money shared by several agents"  # of a company, or of all together
    URGENT = "priority"
    SOON = "money that runs out before its period ends"
    RUNAWAY = "a rate far above the agent's usual"  # of spending
    STUCK = "approved work that does not move"
    REPEATS = "a repeated failure"
    ONE = "one agent, with no blocked work"
    WAIT = "wait"


_PLACE_OF_REASON = {reason: place for place, reason in enumerate(RankReason)}

RankKey = tuple[bool, int, int, tuple[float, ...], str]
"""The sort key of a need, smaller for worse; its last part is the key of the need."""
RankedNeed = tuple[RankKey, "Need"]
"""A need with its sort key."""


class Need(msgspec.Struct, frozen=True):
    """One thing that requires the user, with the record that shows it best."""

    level: Level
    kind: NeedKind
    record: Task | Budget | Alert | Agent | Activity
    rank_reason: RankReason
    rank: tuple[float, ...] = ()
    """Order among the needs of one level with the same reason, smaller first."""
    own_key: str = ""
    """The key of a need about more than its record, such as "agent:ag_1"."""
    alike: tuple[Task, ...] = ()
    """All tasks that it stands for, where several are alike."""
    related: tuple[Alert | Agent | Budget | Task, ...] = ()
    """Records that belong to the same need: its agent, alerts, further tasks that are stuck."""
    others: tuple[Need, ...] = ()
    """All further needs of the same cause, the worst first; none of them is listed itself."""
    count: int = 0
    """Tasks that wait for its subject; of a task those of its agent; how many tasks are stuck, or
    how often something failed."""
    waits_longest: bool = False
    """Of a task: whether none of its agent's waits longer."""
    since: float | None = None
    """Since when it has been a need, in seconds since 1970."""
    money_gone_at: float | None = None
    """When the money will be gone, in seconds since 1970."""
    runaway: Runaway | None = None
    """The alarm that its agent spends at a rate far above its usual."""
    fast_spend: FastSpend | None = None
    """The alarm that its limit is reached within the hour."""
    snooze: Snooze | None = None
    """Set if the user has put it off."""

    @property
    def key(self) -> str:
        """Identifies the need for as long as it lasts, also after a restart."""
        return self.own_key or f"{self.kind}:{self.record.id}"

    @property
    def keys(self) -> list[str]:
        """The keys of all that it stands for: each is snoozed separately."""
        own = [f"{self.kind}:{task.id}" for task in self.alike] or [self.key]
        return own + [other.key for other in self.others]

    @property
    def cause(self) -> str | None:
        """What it is about by `cause_of`; None if that is not known, or is not one cause alone."""
        if self.kind is NeedKind.STUCK and self.related:
            return None
        for record in (self.record, *self.related):
            is_another_task = record is not self.record and isinstance(record, Task)
            if record.cause is not None and not is_another_task:
                return cause_of(record)
        return None

    @property
    def is_decidable(self) -> bool:
        """Whether it is a task that the user can approve."""
        return self.kind is NeedKind.TASK and self.record.unwritable is None


def rank_key(level: Level, reason: RankReason, rank: tuple[float, ...], key: str) -> RankKey:
    """The one rule by which needs are ordered, smaller first.

    An approval that is not known to be done comes before everything. Then the level decides, then
    the reason, then the rank among needs of the same reason.
    """
    return reason is not RankReason.DECIDED, -level, _PLACE_OF_REASON[reason], rank, key


def join_needs(needs: Iterable[RankedNeed]) -> RankedNeed | None:
    """The needs of one cause as one; None if nothing of it needs the user yet.

    The one is what the user can decide, else the worst. It has the level and the place of the worst
    in any case, as nothing of the cause may be taken for less than it is.
    """
    ranked = sorted(needs, key=itemgetter(0))
    if not ranked or ranked[0][1].level < Level.WARNING:
        return None
    if len(ranked) == 1:
        return ranked[0]
    worst_first = [need for _, need in ranked]
    worst = worst_first[0]
    shown = next((need for need in worst_first if need.is_decidable), worst)
    others = tuple(need for need in worst_first if need is not shown)
    joined = replace(
        shown, level=worst.level, rank_reason=worst.rank_reason, rank=worst.rank, others=others
    )
    return rank_key(worst.level, worst.rank_reason, worst.rank, joined.own_key), joined


def group_alike_tasks(needs: Iterable[Need], apart: Collection[str]) -> list[Need]:
    """Put needs with tasks of one title and level together, in the place of the worst of them.

    Tasks with the ids `apart` stay single, and so do those whose id does not identify one task
    (`id_doubt`), so that they can't be approved, and those that have `others`.
    """
    groups: dict[object, list[Need]] = {}
    for need in needs:
        task = need.record
        group: object = need.own_key or need.key
        is_apart = bool(need.others) or task.id in apart
        if isinstance(task, Task) and task.id_doubt is None and not is_apart:
            group = need.kind, need.level, task.title, need.snooze
        groups.setdefault(group, []).append(need)
    merged: list[Need] = []
    for group in groups.values():
        first = group[0]
        if len(group) > 1:
            alike = tuple(need.record for need in group if isinstance(need.record, Task))
            first = replace(first, alike=alike)
        merged.append(first)
    return merged
