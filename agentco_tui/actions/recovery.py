"""Finding out what became of writes that an earlier run left without an outcome."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.create import CompanyCreation, CompanyForm, TaskCreation, TaskForm
from agentco_tui.actions.decisions import task_of
from agentco_tui.actions.journal_file import Attempt
from agentco_tui.actions.outcome import Outcome, Verb
from agentco_tui.actions.services import Services
from agentco_tui.actions.set_limit import LimitChange
from agentco_tui.actions.write_flow import Write
from agentco_tui.model import Ref


async def recover(services: Services, attempt: Attempt) -> Outcome | None:
    """Find out by reading what became of an attempt that was left behind; nothing is sent.

    None for one of a verb that only a newer version knows.
    """
    write: Write[Any]
    match attempt.verb:
        case Verb.APPROVE:
            write = Approval(services, task_of(attempt))
        case Verb.CREATE_TASK:
            form = TaskForm(
                company_id=attempt.company or "",
                title=str(attempt.details.get("title", attempt.title)),
                agent_id=attempt.agent or "",
                priority="",
            )
            write = TaskCreation(services, form)
        case Verb.CREATE_COMPANY | Verb.CLONE_COMPANY:
            name = str(attempt.details.get("name", attempt.title))
            write = CompanyCreation(services, CompanyForm(name=name, mission=""))
        case Verb.SET_LIMIT:
            agent, company = Ref(id=attempt.subject), Ref(id=attempt.company)
            write = LimitChange(services, agent, Decimal(0), company=company)
        case _:
            return None
    return await write.take_up(attempt).reconcile()
