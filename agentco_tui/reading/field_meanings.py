"""The meaning of each of our fields, in a phrase, for users who map a platform's fields to ours.

Platforms are the remote services with AI agents that are watched; a profile is the user's
configuration for one. The names are those of the settings: `[profiles.X.fields.task] title = "…"`.
The tables of `kinds/` have further slots (our names of fields), each of which helps to read the odd
answer of some platform: a total beside its parts, a flag beside a status. Those are not listed
here, since users have no reason to map them; a profile may do so all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_AGENT: Final = {
    "agent": "the agent, as an object or a name",
    "agent_id": "the agent's id",
    "agent_name": "the agent's name",
}
_COMPANY: Final = {
    "company": "the company, as an object or a name",
    "company_id": "the company's id",
    "company_name": "the company's name",
}
_UNITS: Final = {
    "currency": "the currency of the sums",
    "unit": "the unit of the sums, such as cents",
}
_BUDGET: Final = {
    "limit": "what may be spent",
    "spent": "what was spent",
    "remaining": "what is left",
    "share": "how much of the limit is spent, as a share or a percentage",
    "warn": "the share at which the platform warns",
    "forecast": "what the platform expects to be spent by the end",
    "period": "the length of the period, such as month",
    "period_start": "when the period began",
    "resets": "when the period ends",
    "status": "the budget's status word",
    "paused": "a flag: the budget stopped its owner",
    "no_limit": "a flag: there is no limit",
    **_UNITS,
}
MEANINGS: Final[Mapping[str, Mapping[str, str]]] = {
    "company": {
        "id": "the company's id",
        "name": "the company's name",
        "template": "the template it was made from",
        "mission": "what it is for",
        "status": "its status word",
        "created": "when it was created",
        "agent_count": "how many agents it has",
        "task_count": "how many tasks it has",
        "pending_count": "how many of its tasks wait for approval",
    },
    "agent": {
        "id": "the agent's id",
        "name": "the agent's name",
        "role": "its role",
        **_COMPANY,
        "status": "its status word",
        "paused": "a flag: it is paused",
        "enabled": "a flag: it is switched on",
        "pause_reason": "why it is paused",
        "error_reason": "what went wrong",
        "reports_to": "the agent that it reports to, as an object or a name",
        "reports_to_id": "that agent's id",
        "reports_to_name": "that agent's name",
        "trust": "its trust score",
        "model": "the language model it runs on",
        "provider": "who provides the model",
        "tasks_completed": "how many tasks it has completed",
        "created": "when it was created",
        "last_seen": "when it was last active",
        "limit": "its monthly limit",
        "spent": "what it spent this month",
        "remaining": "what is left of its budget",
        **_UNITS,
    },
    "task": {
        "id": "the task's id, which approving uses",
        "title": "the title",
        "description": "the text below the title",
        "tool": "the tool it wants to use",
        "key": "what users call it beside its title, such as GLO-7",
        "kind": "what sort of thing it is, in the platform's word",
        "status": "the status word",
        "approval": "the status word of its approval",
        "result": "how it ended",
        "waits": "a flag: it waits for a person",
        "requires": "a flag: it needs an approval",
        "approved": "a flag: it is approved",
        "done": "a flag: it is done",
        **_AGENT,
        **_COMPANY,
        "priority": "how urgent it is",
        "trust": "the trust score of its agent",
        "created": "when it was created",
        "waiting_since": "since when it waits for approval",
        "updated": "when it last changed",
        "expires": "until when it can be decided",
        "decided": "when it was decided",
        "decided_by": "who decided it",
        "cost": "what it cost",
        "estimate": "what it is expected to cost",
        **_UNITS,
    },
    "company_budget": {**_COMPANY, **_BUDGET},
    "agent_budget": {**_AGENT, **_COMPANY, **_BUDGET},
    "budget": _BUDGET,
    "alert": {
        "id": "the alert's id",
        "text": "its message",
        "title": "its title",
        "severity": "how bad it is, as a word",
        "kind": "the kind of alert",
        "status": "its status word",
        "active": "a flag: it is open",
        "acknowledged": "a flag or a time: it is acknowledged",
        "resolved": "a flag or a time: it is over",
        "at": "when it was raised",
        **_AGENT,
        **_COMPANY,
        "limit": "the limit it is about",
        "spent": "what was spent then",
        "share": "how much of the limit was spent",
        "warn": "the share it is raised at",
        **_UNITS,
    },
    "activity": {
        "id": "the entry's id",
        "at": "when it happened",
        "text": "what happened, in words",
        "verb": "what happened, as a word such as task.approved",
        **_AGENT,
        "actor": "who did it, if not the agent",
        "actor_id": "that person's id",
        "actor_name": "that person's name",
        **_COMPANY,
        "task": "the task it is about, as an object or a name",
        "task_id": "that task's id",
        "task_name": "that task's title",
        "task_key": "that task's key, such as ACT-1778",
        "target": "what else it is about",
        "target_id": "that target's id",
        "target_name": "that target's name",
        "severity": "how bad it is, as a word",
        "outcome": "how it ended, as a word",
    },
}
"""Our fields that a profile may want to map, with what each means, by kind."""
