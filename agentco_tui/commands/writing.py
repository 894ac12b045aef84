"""`agentco-tui approve`, `create-task` and `set-limit`: the changes that scripts can make.

They use the dashboard's write flow (`actions.write_flow.Write`): the change is noted in the
journal, sent once to the platform (the service with AI agents that is watched), and its outcome is
read from there. `approve` needs the fingerprint of the task as it was read, so that a task that has
changed since is not approved; it is a digest of the task's fields, `Task.content`.

An `Outcome` has a kind (done, refused, ...), a reason, and what it is known by: a later read, the
answer alone, or HERE, by this program. `Services` is what all writes need: client, journal, reader.
"""

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
from agentco_tui.commands.command_context import command_context
from agentco_tui.commands.command_output import Exit, print_json, print_lines, print_to_stderr
from agentco_tui.commands.command_workspace import open_workspace
from agentco_tui.commands.journal_command import unsettled_report
from agentco_tui.config import Arguments, Settings, off_by
from agentco_tui.config.api_key import API_KEY
from agentco_tui.config.resolve import CONFIG, VARIABLES
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.insight import waits_for_person
from agentco_tui.model import Agent, Budget, BudgetScope, Money, Ref, Task
from agentco_tui.reading.content import SIZE
from agentco_tui.system.state_folder import JOURNAL_FILE, state_folder
from agentco_tui.text import clean_line, mark_safe
from agentco_tui.workspace.named_records import named_agent
from agentco_tui.workspace.workspace import Workspace

EXIT_CODES: Final = {
    **dict.fromkeys(OutcomeKind, 1),
    **dict.fromkeys(GOOD, 0),
    OutcomeKind.NOT_SENT: 3,
    OutcomeKind.CHANGED: 4,
    OutcomeKind.UNCLEAR: 5,
    OutcomeKind.STILL_PENDING: 5,
    OutcomeKind.DECIDED_ELSEWHERE: 6,
    OutcomeKind.GONE: 6,
}
"""The exit code for each kind of outcome; 2 is for wrong usage.

`GOOD` are the kinds that say that it is done. GONE: the task is in no list any more, and what
became of it can't be read. STILL_PENDING: the platform said yes, but still lists it as waiting.
"""
_VERBS: Final = {
    "approve": Verb.APPROVE,
    "create-task": Verb.CREATE_TASK,
    "set-limit": Verb.SET_LIMIT,
}
"""What each command does."""
# SIZE is the length of a fingerprint in bytes.
_FINGERPRINT: Final = re.compile(f"[0-9a-f]{{{2 * SIZE}}}")


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Make a change, and print and return its result.

    The exit codes are listed by `--help`, the fields of the JSON in `docs/records.md`. Every
    argument is checked before a request is sent. Raises UsageError.
    """
    _refuse_empty_variables(env)
    match arguments["command"]:
        case "approve":
            _check_fingerprint(arguments)
        case "create-task":
            _check_form({"title": arguments["title"], "priority": arguments["priority"]})
        case _:
            _parse_limit(arguments["limit"], "AMOUNT")
            if arguments["expect"] is not None:
                _parse_limit(arguments["expect"], "--expect")
    with command_context(arguments, env) as settings:
        outcome = asyncio.run(_write(settings, arguments))
    # Writing is off: read-only, no permission, or no journal.
    code = Exit.USAGE if outcome.is_writing_off else EXIT_CODES[outcome.kind]
    sentence = outcome_sentence(outcome)
    if arguments["json"]:
        print_json(
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
        print_lines(f"{outcome.title}: {sentence}")
    return code


def _refuse_empty_variables(env: Mapping[str, str]) -> None:
    """Raise UsageError for an environment variable that is set to an empty value.

    Elsewhere it counts as not set. For a change that could mean another platform than the user
    meant, or no read-only mode.
    """
    for name in (*VARIABLES.values(), CONFIG, API_KEY):
        if name in env and not env[name].strip():
            raise UsageError(f"{name} is set and empty: give it a value, or unset it")


def _check_fingerprint(arguments: Arguments) -> None:
    if arguments["expect"] is None:
        command = f"agentco-tui get task {clean_line(arguments['id'], 60)} --json"
        raise UsageError(
            f"--expect FINGERPRINT is required, the fingerprint of the task you read: {command}"
        )
    if not _FINGERPRINT.fullmatch(arguments["expect"].strip().casefold()):
        raise UsageError(
            f"--expect must be the fingerprint that `get task` shows, {2 * SIZE} hexadecimal "
            f"digits, is “{clean_line(arguments['expect'], 60)}”"
        )


def _check_form(form: Mapping[str, str]) -> None:
    problems = check_form(form)
    if problems:
        raise UsageError("; ".join(f"{name}: {why}" for name, why in problems.items()))


def _parse_limit(text: str, argument: str) -> Decimal:
    """Convert an argument to a limit, in whole currency units. Raises UsageError."""
    limit = check_limit(text)
    if not isinstance(limit, Decimal):
        raise UsageError(f"{argument}: {limit}, is “{clean_line(text, 60)}”")
    return limit


@asynccontextmanager
async def open_for_writing(settings: Settings) -> AsyncIterator[tuple[Workspace, Services]]:
    """Open a workspace, and the services that writes need.

    At the end, changes whose outcome is still unknown are reported on stderr.
    """
    async with open_workspace(settings) as workspace:
        services = workspace.open_services(
            state_folder() / JOURNAL_FILE, Permissions(off_by(settings))
        )
        try:
            await workspace.read_role()
            yield workspace, services
        finally:
            await workspace.aclose()
            services.journal.close()
            print_to_stderr(*unsettled_report(services.journal, time.time()))


async def run_write(write: Write[Any], wait: float) -> Outcome:
    """Run a write to its outcome, for at most `wait` seconds; then the outcome is unclear."""
    try:
        async with asyncio.timeout(wait):
            return await write.run()
    except TimeoutError:
        if not write.is_sent:
            # `unsent` makes an outcome that says that nothing was sent, and why.
            unsent = write.unsent(Reason.NO_ANSWER_IN_TIME, seconds=wait)
            return await write.record_outcome(unsent)
        return write.outcome(
            OutcomeKind.UNCLEAR, Reason.UNSETTLED_IN_TIME, KnownBy.HERE, seconds=wait
        )


class _TaskLookup(NamedTuple):
    """The result of looking for a task by its id."""

    task: Task | None
    is_decided: bool
    """Whether the journal has an attempt to approve it, or the platform's log a decision."""
    error: str | None
    """Why the task may exist although it was not found; None if every list was read completely."""


async def _find_task(services: Services, task_id: str, company: str | None) -> _TaskLookup:
    """Look for a task in the pending tasks, in all tasks, in the journal and in the log."""
    lists = [(FeedName.PENDING, company), (FeedName.TASKS, company)]
    if company is not None:
        lists.append((FeedName.TASKS, None))  # the task may belong to another company
    last_seen: Task | None = None
    error: str | None = None
    for feed, scope in lists:
        tasks = await services.reader.read(feed, scope)
        task = tasks.tasks.get(task_id)
        if task is not None:
            last_seen = task
            if feed is FeedName.TASKS or waits_for_person(task):
                break
        # `why` says why this list may lack a task that exists, such as an unread page.
        error = error or tasks.why or (tasks.error and tasks.error.sentence)
    # What other processes on this machine have written to the journal meanwhile.
    following = await asyncio.to_thread(services.journal.follow, services.origin)
    error = error or following.trouble
    is_decided = services.earlier(Verb.APPROVE, task_id) is not None
    if last_seen is None and not is_decided:
        log = await services.reader.read(FeedName.ACTIVITY, company)
        is_decided = decision_about(task_id, log, None) is not None
    return _TaskLookup(last_seen, is_decided, error)


async def _write(settings: Settings, arguments: Arguments) -> Outcome:
    """Make the change that the arguments say.

    Raises UsageError, SettingsError and ApiError before anything is sent.
    """
    verb = _VERBS[arguments["command"]]
    # No history, the database of what was observed: a change needs no forecast.
    async with open_for_writing(replace(settings, history=False)) as (workspace, services):
        not_offered = services.why_not_offered(verb)
        if not_offered is not None:
            subject = arguments["id"] if verb is Verb.APPROVE else arguments["agent"]
            return Outcome(
                verb=verb,
                kind=OutcomeKind.NOT_SENT,
                reason=Reason.NOT_OFFERED,
                known_by=KnownBy.HERE,
                subject=subject,
                title=clean_line(subject),
                cause=not_offered,
            )
        company = workspace.poller.query.company
        if verb is Verb.APPROVE:
            return await _approve(services, arguments, company)
        listed = await named_agent(arguments["agent"], services.client, company)
        agent = listed
        is_offered_alone = services.client.capabilities.why_not("agent") is None
        # `unwritable` says why no change may name the agent: several were sent with its id.
        if listed.unwritable is None and is_offered_alone:
            agent = await services.client.agent(listed.id)
        if arguments["command"] == "create-task":
            agent_company = agent.company.id if agent.company is not None else None
            write = _creation(services, arguments, listed.id, company or agent_company or "")
        else:
            write = _limit_change(services, arguments, listed.id, agent)
        if listed.unwritable is not None:
            return write.unsent(Reason.NOT_WRITABLE, cause=listed.unwritable)
        services.agents_read[listed.id] = agent if agent.name else listed
        await services.read_owners(None, Ref(id=company) if company else agent.company)
        return await run_write(write, arguments["wait"])


async def _approve(services: Services, arguments: Arguments, company: str | None) -> Outcome:
    """Approve the task if it still has the expected fingerprint."""
    task_id = arguments["id"]
    lookup = await _find_task(services, task_id, company)
    # A task that is in no list any more can still be reported as decided.
    task = lookup.task or Task(id=task_id, title=clean_line(task_id))
    approval = Approval(services, task)
    if lookup.task is None and not lookup.is_decided:
        if lookup.error is None:
            raise UsageError(f"no task has the id {clean_line(task_id, 60)}: nothing was sent")
        return approval.unsent(Reason.NOT_FOUND_IN_PART, cause=mark_safe(lookup.error))
    fingerprint = arguments["expect"].strip().casefold()
    is_waiting = lookup.task is not None and waits_for_person(task)
    if is_waiting and task.content.hex() != fingerprint:
        return approval.outcome(OutcomeKind.CHANGED, Reason.NOT_AS_EXPECTED, KnownBy.HERE)
    if is_waiting:
        await services.read_owners(task.agent, task.company)
    return await run_write(approval, arguments["wait"])


def _creation(
    services: Services, arguments: Arguments, agent_id: str, company_id: str
) -> Write[Any]:
    form = {
        "agent_id": agent_id,
        "title": arguments["title"],
        "priority": arguments["priority"],
        "company_id": company_id,
    }
    _check_form(form)
    return TaskCreation(services, form)


def _limit_change(
    services: Services, arguments: Arguments, agent_id: str, agent: Agent
) -> Write[Any]:
    limit = _parse_limit(arguments["limit"], "AMOUNT")
    # What the user saw: if the limit is another one now, nothing is sent.
    shown: Budget | None = None
    if arguments["expect"] is not None:
        expected = Money(_parse_limit(arguments["expect"], "--expect"))
        shown = Budget(id=agent_id, scope=BudgetScope.AGENT, limit=expected)
    ref = Ref(id=agent_id, name=agent.name)
    return LimitChange(services, ref, limit, shown=shown, company=agent.company)
