"""What every form needs: the screen it was opened from, name fields, writing, and new files.

A `FormRequest` is passed to the function that builds a form (`form_definitions.FORMS`). It turns
the names of companies and AI agents that the user typed into ids, and makes the function with which
a form sends a `Write`: one change on the platform (the remote service that has the companies),
which is noted in the journal, a file, and sent once. A `Ref` names a record by id, name or both.

The scope is the company that the dashboard is limited to; `workspace.poller.query.company` has its
id, or None for all companies. The frame is the main screen, the workspace what is known of the
platform in memory.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from agentco_tui.actions.form_check import check_form
from agentco_tui.actions.outcome import GOOD, Outcome, Step
from agentco_tui.actions.outcome_words import sentence_with_platform_words
from agentco_tui.actions.write_flow import CREATING, Write
from agentco_tui.live.names import records_named
from agentco_tui.model import Agent, Record, Ref
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.dialogs.base import title_of
from agentco_tui.screens.dialogs.form_dialog import (
    Errors,
    Form,
    FormError,
    FormField,
    Send,
    Values,
)
from agentco_tui.screens.targets import completed
from agentco_tui.system.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.widgets.tones import Cell

FILE_HINT: Final = "in the folder that the program was started in; must not exist yet"
"""The hint of a field for a file name."""


class FormRequest(msgspec.Struct, frozen=True):
    """The main screen from which a form is opened, and the record under its cursor."""

    frame: BaseFrame
    subject: Record | None

    def title(self, verb: str, what: SafeText) -> list[Cell]:
        return title_of(self.frame.workspace.settings, verb, what)

    # ---- companies and agents by name or id

    def name_fields(
        self, company: Ref | None, agent: Ref | None, company_hint: str, agent_hint: str
    ) -> tuple[FormField, FormField]:
        """Return the fields `company_id` and `agent_id`, each for a name or an id.

        `company` and `agent` are in them when the form opens. An agent is completed from the
        agents of the company in the form, or else of the scope.
        """
        workspace = self.frame.workspace

        def complete_company(typed: str, _: Values) -> str | None:
            return completed(
                typed, (one.name or clean_line(one.id) for one in workspace.store.companies)
            )

        def complete_agent(typed: str, values: Values) -> str | None:
            company_id = self._company_id(values["company_id"]) or workspace.poller.query.company
            agents = self._agents_of(company_id)
            return completed(typed, (one.name or clean_line(one.id) for one in agents))

        company_name = "" if company is None else workspace.names.company(company)
        agent_name = "" if agent is None else workspace.names.agent(agent)
        return (
            FormField("company_id", "company", company_name, company_hint, complete_company),
            FormField("agent_id", "agent", agent_name, agent_hint, complete_agent),
        )

    def find_ids(self, values: Values) -> tuple[str | None, str | None, dict[str, SafeText]]:
        """Return the ids of the company and the agent in the form, and errors by field.

        An id is None if nothing was typed, or if not exactly one record has the name or id.
        """
        workspace = self.frame.workspace
        errors: dict[str, SafeText] = {}
        company_id = self._company_id(values["company_id"])
        if values["company_id"] and company_id is None:
            errors["company_id"] = mark_safe("no company here has this name or id")
        scope = workspace.poller.query.company
        agents = records_named(values["agent_id"], self._agents_of(company_id or scope))
        agent_id = agents[0].id if len(agents) == 1 else None
        if values["agent_id"] and agent_id is None:
            where = "of this company" if company_id else "here"
            errors["agent_id"] = mark_safe(f"no agent {where} has this name or id")
            if company_id and scope not in (None, company_id):
                errors["agent_id"] = mark_safe(
                    f"only agents of {workspace.names.scope(scope)} are known while only it is "
                    "shown (0 shows all)"
                )
        return company_id, agent_id, errors

    def _company_id(self, name: str) -> str | None:
        """Return the id of the only company with this name or id; None if it isn't exactly one."""
        companies = records_named(name, self.frame.workspace.store.companies)
        return companies[0].id if len(companies) == 1 else None

    def _agents_of(self, company_id: str | None) -> Iterable[Agent]:
        """Yield the agents of a company and those of unknown company; all if it is None."""
        for agent in self.frame.workspace.store.agents:
            if not company_id or not agent.company or agent.company.id in (None, company_id):
                yield agent

    # ---- sending

    def send_write(
        self,
        make_write: Callable[[Any], Write[Any]],
        when_done: Callable[[Outcome], object] | None = None,
    ) -> Send:
        """Return the `send` of a form that changes something on the platform.

        `make_write` makes the change from the parsed input. After a good outcome a notice is shown
        and, unless the form was left, the list goes to a new record. After any other outcome the
        form stays open, with the reason. `when_done` is called with a good outcome.
        """

        async def send(parsed: Any, form: Form) -> None:
            def show_step(step: Step) -> None:
                if step is Step.UNKNOWN:
                    form.show_progress(
                        "the answer was lost: it is looked for by reading, nothing is sent"
                    )

            outcome = await make_write(parsed).run(show_step)
            if outcome.kind not in GOOD:
                raise FormError(outcome.fields, sentence_with_platform_words(outcome))
            self.frame.dialogs.show_outcome(outcome)
            if when_done is not None:
                when_done(outcome)
            # CREATING are the kinds of write after which there is a new record.
            if outcome.verb in CREATING and outcome.record and form.is_attached:
                self.frame.view.go_to(outcome.record.id)

        return send


def check_values(values: Values, errors: Errors | None = None) -> Values:
    """Return the values; raise `FormError` if a text can't be sent, or if there are `errors`."""
    all_errors = {**check_form(values), **(errors or {})}
    if all_errors:
        raise FormError(all_errors)
    return values


def absolute_path(name: str) -> SafeText:
    """Return the absolute path of a file, safe to show."""
    return clean_line(str(Path(name).expanduser().resolve()), 200)


async def write_new_file(
    request: FormRequest, name: str, text: Sequence[str], field: str = "file"
) -> SafeText:
    """Write the parts of a text to a new file, and return its path. The API key is left out.

    Raises `FormError` for the form's `field` if the file exists or can't be written.
    """
    redact = request.frame.workspace.client.transport.key.redact

    def write() -> SafeText:
        with atomic_write(Path(name)) as file:
            for part in text:
                file.write(redact(part).encode())
        return absolute_path(name)

    try:
        return await asyncio.to_thread(write)
    except AtomicWriteError as error:
        raise FormError({field: mark_safe(str(error))}, mark_safe(str(error))) from error
