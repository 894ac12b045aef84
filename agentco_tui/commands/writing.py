"""`agentco-tui approve`, `create-task`, `set-limit`: writes of the dashboard, by the same flow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

from msgspec.structs import replace

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.journal import Journal
from agentco_tui.actions.outcome import GOOD, KnownBy, Outcome, OutcomeKind
from agentco_tui.actions.services import Permissions, Services
from agentco_tui.actions.write_flow import Write
from agentco_tui.actions.writes import LimitChange, TaskCreation, check_form, check_limit
from agentco_tui.arguments import UsageError
from agentco_tui.commands.journal_command import leaving
from agentco_tui.commands.naming import agent_of
from agentco_tui.commands.running import Exit, complain, running, say, say_json
from agentco_tui.commands.watch import watching
from agentco_tui.config import Given, Settings, off_by
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waits_for_person
from agentco_tui.live.watcher import Watcher
from agentco_tui.model import Budget, BudgetScope, Money, Ref, Task
from agentco_tui.state_folder import state_folder
from agentco_tui.text import safe

# fmt: off
CODES: Final = {
    **dict.fromkeys(OutcomeKind, 1), **dict.fromkeys(GOOD, 0),
    OutcomeKind.NOT_SENT: 3, OutcomeKind.CHANGED: 4,
    OutcomeKind.UNCLEAR: 5, OutcomeKind.STILL_PENDING: 5,
    OutcomeKind.DECIDED_ELSEWHERE: 6, OutcomeKind.GONE: 6,
}
# fmt: on
_TOLD: Final = ("verb", "kind", "subject", "title", "sentence", "known_by", "words", "attempt_id")


def run(given: Given, env: Mapping[str, str]) -> int:
    """By outcome, as `--help` has it; JSON as `docs/records.md` has it."""
    if given["command"] == "approve" and given["expect"] is None:
        how = f"agentco-tui get task {safe(given['id'], 60)} --json"
        raise UsageError(f"--expect FINGERPRINT is needed: what was read is approved. {how} has it")
    with running(given, env) as settings:
        outcome = asyncio.run(_run(settings, given))
    code = Exit.USAGE if outcome.off else CODES[outcome.kind]
    if given["json"]:
        say_json({"exit_code": code, **{name: getattr(outcome, name) for name in _TOLD}})
    else:
        say(f"{outcome.title}: {outcome.sentence}")
    return code


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Watcher, Services]]:
    """What is read and written without a screen; in the end it tells what it leaves unsettled."""
    async with watching(settings) as watcher:
        client = watcher.poller.client
        journal = Journal(state_folder() / "journal.jsonl", client.transport.key.redact)
        services = Services(client, watcher.poller, journal, origin=str(settings.base_url),
            profile=settings.profile, permissions=Permissions(off_by(settings)))  # fmt: skip
        try:
            yield watcher, services
        finally:
            await services.close()
            journal.close()
            complain(*leaving(journal, time.time()))


async def settled(write: Write[Any], wait: float) -> Outcome:
    """What became of it, or that this is not known after so many seconds."""
    try:
        async with asyncio.timeout(wait):
            return await write.run()
    except TimeoutError:
        if write.attempt_id is None:
            return write.unsent(f"nothing was sent: no answer within {wait:g} s")
        words = f"it was sent, and no read has told within {wait:g} s what became of it"
        return write.outcome(OutcomeKind.UNCLEAR, words, KnownBy.HERE)


async def _run(settings: Settings, given: Given) -> Outcome:
    """Raises UsageError, SettingsError and ApiError before anything is sent."""
    async with opened(replace(settings, history=False)) as (watcher, services):
        client, company = services.client, watcher.poller.query.company
        if given["command"] == "approve":
            task_id, expect = given["id"], given["expect"].casefold()
            for feed in (FeedName.PENDING, FeedName.TASKS):
                task = (await services.reader.read(feed, company)).tasks.get(task_id)
                if task is not None and waits_for_person(task):
                    break
            task = task or Task(id=task_id, title=safe(task_id))
            if waits_for_person(task) and task.content and task.content.hex() != expect:
                words = "nothing was sent: it is not what was read; `get task` has it as it is now"
                return Approval(services, task).outcome(OutcomeKind.CHANGED, words, KnownBy.HERE)
            return await settled(Approval(services, task), given["wait"])
        agent_id = await agent_of(given["agent"], client, company)
        agent = await client.agent(agent_id)
        if given["command"] == "create-task":
            form = {"agent_id": agent_id, "title": given["title"], "priority": given["priority"]}
            form["company_id"] = company or (agent.company or Ref()).id or ""
            if problems := check_form(form):
                raise UsageError("; ".join(f"{name}: {why}" for name, why in problems.items()))
            return await settled(TaskCreation(services, form), given["wait"])
        limit, seen = (check_limit(given[name] or "0") for name in ("limit", "expect"))
        if isinstance(limit, str) or isinstance(seen, str):
            raise UsageError(f"a limit: {limit if isinstance(limit, str) else seen}")
        budget = Budget(id=agent_id, scope=BudgetScope.AGENT, limit=Money(seen))
        shown, ref = budget if given["expect"] else None, Ref(id=agent_id, name=agent.name)
        write = LimitChange(services, ref, limit, shown=shown, company=agent.company)
        return await settled(write, given["wait"])
