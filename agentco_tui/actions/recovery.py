"""Finds out the outcomes of attempts that an earlier run of the program left open in the journal.

A write is a request that changes the platform, the remote service that runs AI agents; an attempt
is the journal's note of a write that was about to be sent. Nothing is sent here: the right kind of
`Write` (`Approval`, `VerbWrite`, …) reads the platform until it is known whether the write was
applied. `subject` is the id acted on.
"""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.creations import CompanyCreation, TaskCreation
from agentco_tui.actions.decisions import task_of
from agentco_tui.actions.journal_lines import Attempt
from agentco_tui.actions.limit_change import LimitChange
from agentco_tui.actions.outcome import Outcome, Verb
from agentco_tui.actions.services import Services
from agentco_tui.actions.verb_write import VerbWrite
from agentco_tui.actions.write_flow import Write
from agentco_tui.api.capabilities import NO_INPUT
from agentco_tui.model import Agent, Alert, Company, Record, Ref
from agentco_tui.text import clean_line


async def recover_attempt(services: Services, attempt: Attempt) -> Outcome | None:
    """Find out by reading what became of an attempt that was left behind; nothing is sent.

    Returns None for an attempt whose verb neither this version nor the platform knows.
    """
    write = _write_of(services, attempt)
    if write is None:
        return None
    return await write.resume(attempt).reconcile()


def _write_of(services: Services, attempt: Attempt) -> Write[Any] | None:
    match attempt.verb:
        case Verb.APPROVE:
            return Approval(services, task_of(attempt))
        case Verb.CREATE_TASK:
            form = {
                "company_id": attempt.company or "",
                "title": str(attempt.details.get("title", attempt.title)),
                "agent_id": attempt.agent or "",
                "priority": "",
            }
            return TaskCreation(services, form)
        case Verb.CREATE_COMPANY | Verb.CLONE_COMPANY:
            name = str(attempt.details.get("name", attempt.title))
            return CompanyCreation(services, {"name": name})
        case Verb.SET_LIMIT:
            agent = Ref(id=attempt.subject)
            company = Ref(id=attempt.company)
            return LimitChange(services, agent, Decimal(0), company=company)
        case _:
            return _verb_write_of(services, attempt)


def _verb_write_of(services: Services, attempt: Attempt) -> Write[Any] | None:
    """The write of a verb that the platform offers beside the others."""
    verb = services.client.capabilities.verb(attempt.verb)
    if verb is None:
        return None
    shown: Record
    company = Ref(id=attempt.company)
    match verb.kind:
        case "task":
            shown = task_of(attempt)
        case "agent":
            shown = Agent(id=attempt.subject, name=clean_line(attempt.title), company=company)
        case "company":
            shown = Company(id=attempt.subject, name=clean_line(attempt.title))
        case "alert":
            shown = Alert(id=attempt.subject, text=clean_line(attempt.title), company=company)
    return VerbWrite(services, verb, shown, NO_INPUT)
