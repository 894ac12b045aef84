"""`agentco-tui approve`, `create-task`, `set-limit`: writes of the dashboard, by the same flow."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from decimal import Decimal
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from agentco_tui.actions.approve import Approval
from agentco_tui.actions.creations import TaskCreation
from agentco_tui.actions.form_check import check_form
from agentco_tui.actions.limit_change import LimitChange
from agentco_tui.actions.limit_text import check_limit
from agentco_tui.actions.outcome import GOOD, KnownBy, Outcome, OutcomeKind, Reason, Verb
from agentco_tui.actions.outcome_words import outcome_sentence
from agentco_tui.actions.services import Permissions, Services
from agentco_tui.actions.task_resolution import decision_about
from agentco_tui.actions.write_flow import Write
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, complain, say, say_json
from agentco_tui.commands.journal_command import leaving
from agentco_tui.commands.running import running
from agentco_tui.commands.with_workspace import opened as opened_for_reading
from agentco_tui.config import Given, Settings, off_by
from agentco_tui.config.api_key import API_KEY
from agentco_tui.config.resolve import CONFIG, VARIABLES
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Agent, Budget, BudgetScope, Money, Ref, Task
from agentco_tui.reading.content import SIZE
from agentco_tui.system.state_folder import JOURNAL_FILE, state_folder
from agentco_tui.text import plain, safe
from agentco_tui.workspace.named_records import named_agent
from agentco_tui.workspace.workspace import Workspace

# fmt: off
CODES: Final = {
    **dict.fromkeys(OutcomeKind, 1), **dict.fromkeys(GOOD, 0),
    OutcomeKind.NOT_SENT: 3, OutcomeKind.CHANGED: 4,
    OutcomeKind.UNCLEAR: 5, OutcomeKind.STILL_PENDING: 5,
    OutcomeKind.DECIDED_ELSEWHERE: 6, OutcomeKind.GONE: 6,
}
# fmt: on
_FINGERPRINT: Final = re.compile(f"[0-9a-f]{{{2 * SIZE}}}")


def run(given: Given, env: Mapping[str, str]) -> int:
    """By outcome, as `--help` has it; JSON as `docs/records.md` has it.

    Every argument is checked before anything is asked of the platform. Raises UsageError.
    """
    _refuse_empty_variables(env)
    match given["command"]:
        case "approve":
            _check_fingerprint(given)
        case "create-task":
            _check_form({"title": given["title"], "priority": given["priority"]})
        case _:
            _limit(given["limit"], "AMOUNT")
            if given["expect"] is not None:
                _limit(given["expect"], "--expect")
    with running(given, env) as settings:
        outcome = asyncio.run(_run(settings, given))
    code = Exit.USAGE if outcome.is_writing_off else CODES[outcome.kind]
    sentence = outcome_sentence(outcome)
    if given["json"]:
        say_json(
            {
                "exit_code": code,
                "verb": outcome.verb,
                "kind": outcome.kind,
                "subject": outcome.subject,
                "title": outcome.title,
                "sentence": sentence,
                "known_by": outcome.known_by,
                "words": outcome.platform_words,
                "attempt_id": outcome.attempt_id,
            }
        )
    else:
        say(f"{outcome.title}: {sentence}")
    return code


def _refuse_empty_variables(env: Mapping[str, str]) -> None:
    """Raises UsageError for a variable that is set and empty: elsewhere it counts as not set, but
    here it might send a write to another platform than was meant, or in spite of a read-only.
    """
    for name in (*VARIABLES.values(), CONFIG, API_KEY):
        if name in env and not env[name].strip():
            raise UsageError(f"{name} is set and empty: give it a value, or unset it")


def _check_fingerprint(given: Given) -> None:
    if given["expect"] is None:
        how = f"agentco-tui get task {safe(given['id'], 60)} --json"
        raise UsageError(f"--expect FINGERPRINT is needed: what was read is approved. {how} has it")
    if not _FINGERPRINT.fullmatch(given["expect"].strip().casefold()):
        raise UsageError(
            f"--expect must be the fingerprint that `get task` shows, {2 * SIZE} hexadecimal "
            f"digits, is “{safe(given['expect'], 60)}”"
        )


def _check_form(form: Mapping[str, str]) -> None:
    problems = check_form(form)
    if problems:
        raise UsageError("; ".join(f"{name}: {why}" for name, why in problems.items()))


def _limit(text: str, argument: str) -> Decimal:
    """The limit that an argument says. Raises UsageError."""
    limit = check_limit(text)
    if not isinstance(limit, Decimal):
        raise UsageError(f"{argument}: {limit}, is “{safe(text, 60)}”")
    return limit


@asynccontextmanager
async def opened(settings: Settings) -> AsyncIterator[tuple[Workspace, Services]]:
    """A workspace, and what its writes need; at the end what is left unsettled goes to stderr."""
    async with opened_for_reading(settings) as workspace:
        services = workspace.open_services(
            state_folder() / JOURNAL_FILE, Permissions(off_by(settings))
        )
        try:
            yield workspace, services
        finally:
            await workspace.aclose()
            services.journal.close()
            complain(*leaving(services.journal, time.time()))


async def settled(write: Write[Any], wait: float) -> Outcome:
    """What became of it, or that this is not known after so many seconds."""
    try:
        async with asyncio.timeout(wait):
            return await write.run()
    except TimeoutError:
        if not write.is_sent:
            unsent = write.unsent(Reason.NO_ANSWER_IN_TIME, seconds=wait)
            return await write.record_outcome(unsent)
        return write.outcome(
            OutcomeKind.UNCLEAR, Reason.UNSETTLED_IN_TIME, KnownBy.HERE, seconds=wait
        )


class _FoundTask(NamedTuple):
    """What the platform's lists and the journal know of a task id."""

    task: Task | None
    is_decided: bool
    """Whether the journal has an attempt to approve it, or the platform's log a decision."""
    error: str | None
    """Why a task that was not found may exist all the same; None if no list can have it."""


async def _find_task(services: Services, task_id: str, company: str | None) -> _FoundTask:
    """Look for a task in the list of those that wait, in the list of all, and in the log."""
    lists = [(FeedName.PENDING, company), (FeedName.TASKS, company)]
    if company is not None:
        lists.append((FeedName.TASKS, None))  # it may be another company's
    last_seen: Task | None = None
    error: str | None = None
    for feed, scope in lists:
        tasks = await services.reader.read(feed, scope)
        seen = tasks.tasks.get(task_id)
        last_seen = seen or last_seen
        if seen is not None and waits_for_person(seen):
            break
        if seen is not None and feed is FeedName.TASKS:
            break
        error = error or tasks.why or (tasks.error and tasks.error.sentence)
    following = await asyncio.to_thread(services.journal.follow, services.origin)
    error = error or following.trouble
    is_decided = services.earlier(Verb.APPROVE, task_id) is not None
    if last_seen is None and not is_decided:
        log = await services.reader.read(FeedName.ACTIVITY, company)
        is_decided = decision_about(task_id, log, None) is not None
    return _FoundTask(last_seen, is_decided, error)


async def _run(settings: Settings, given: Given) -> Outcome:
    """Do what the command says. Raises UsageError, SettingsError and ApiError before anything is
    sent.
    """
    async with opened(replace(settings, history=False)) as (workspace, services):
        company = workspace.poller.query.company
        if given["command"] == "approve":
            return await _approve(services, given, company)
        listed = await named_agent(given["agent"], services.client, company)
        agent = listed
        if listed.unwritable is None:
            agent = await services.client.agent(listed.id)
        if given["command"] == "create-task":
            agent_company = agent.company.id if agent.company is not None else None
            write = _creation(services, given, listed.id, company or agent_company or "")
        else:
            write = _limit_change(services, given, listed.id, agent)
        if listed.unwritable is not None:
            return write.unsent(Reason.NOT_WRITABLE, cause=listed.unwritable)
        return await settled(write, given["wait"])


async def _approve(services: Services, given: Given, company: str | None) -> Outcome:
    """Approve the task if it is the one whose fingerprint was given."""
    task_id = given["id"]
    found = await _find_task(services, task_id, company)
    task = found.task or Task(id=task_id, title=safe(task_id))
    approval = Approval(services, task)
    if found.task is None and not found.is_decided:
        if found.error is None:
            raise UsageError(f"no task has the id {safe(task_id, 60)}: nothing was sent")
        return approval.unsent(Reason.NOT_FOUND_IN_PART, cause=plain(found.error))
    fingerprint = given["expect"].strip().casefold()
    is_waiting = found.task is not None and waits_for_person(task)
    if is_waiting and task.content.hex() != fingerprint:
        return approval.outcome(OutcomeKind.CHANGED, Reason.NOT_AS_EXPECTED, KnownBy.HERE)
    return await settled(approval, given["wait"])


def _creation(services: Services, given: Given, agent_id: str, company_id: str) -> Write[Any]:
    form = {
        "agent_id": agent_id,
        "title": given["title"],
        "priority": given["priority"],
        "company_id": company_id,
    }
    _check_form(form)
    return TaskCreation(services, form)


def _limit_change(services: Services, given: Given, agent_id: str, agent: Agent) -> Write[Any]:
    limit = _limit(given["limit"], "AMOUNT")
    shown: Budget | None = None
    if given["expect"] is not None:
        expected = Money(_limit(given["expect"], "--expect"))
        shown = Budget(id=agent_id, scope=BudgetScope.AGENT, limit=expected)
    ref = Ref(id=agent_id, name=agent.name)
    return LimitChange(services, ref, limit, shown=shown, company=agent.company)
