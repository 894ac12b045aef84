"""Creating and cloning companies, with the care of `write` and the looking of `likeness`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agentco_tui.actions.answer import Answer
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.form_checks import CompanyForm, Problems, check_clone, check_company
from agentco_tui.actions.journal import Attempt
from agentco_tui.actions.journal_entries import seconds_of
from agentco_tui.actions.likeness import Before, Seen, ids, looked, otherwise, seen_in, subject_of
from agentco_tui.actions.outcome import Outcome
from agentco_tui.actions.pen import Draft
from agentco_tui.actions.verbs import Verb
from agentco_tui.actions.watch import Look, Looked
from agentco_tui.actions.write import OnProgress, Plan, Write
from agentco_tui.api.errors import ApiError
from agentco_tui.model.records import Company, Receipt, Ref
from agentco_tui.text import SafeText, plain, safe

Send = Callable[[str], Awaitable[Receipt[Company]]]


class CompanyWriter:
    """Makes companies from forms that a person filled in."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._creates: Write[Company] = Write(desk, Verb.CREATE_COMPANY)
        self._clones: Write[Company] = Write(desk, Verb.CLONE_COMPANY)

    async def create(self, form: CompanyForm, on_progress: OnProgress | None = None) -> Outcome:
        """Create a company. `Outcome.fields` has the messages for the form if it was refused.

        Raises nothing but cancellation.
        """
        form = form.stripped()

        def send(attempt_id: str) -> Awaitable[Receipt[Company]]:
            return self._desk.client.create_company(
                name=form.name,
                template=form.template,
                mission=form.mission,
                attempt_id=attempt_id,
            )

        return await self._made(
            self._creates, form, check_company(form), send, source=None, on_progress=on_progress
        )

    async def clone(
        self, source: Company, form: CompanyForm, on_progress: OnProgress | None = None
    ) -> Outcome:
        """Clone `source` under the form's name and mission; as `create` otherwise."""
        form = form.stripped()

        def send(attempt_id: str) -> Awaitable[Receipt[Company]]:
            return self._desk.client.clone_company(
                source.id, name=form.name, mission=form.mission, attempt_id=attempt_id
            )

        return await self._made(
            self._clones, form, check_clone(form), send, source=source, on_progress=on_progress
        )

    async def take_up(self, attempt: Attempt) -> Outcome:
        """Find out what became of a create or a clone that was left behind; nothing is sent."""
        name = str(attempt.details.get("name", attempt.title))
        before = Before.from_details(attempt.details, seconds_of(attempt.time) or 0.0)
        draft = Draft(verb=Verb(attempt.verb), subject=attempt.subject, title=safe(name))
        plan = self._plan(draft, name, before, _never)
        write = self._clones if attempt.verb == Verb.CLONE_COMPANY else self._creates
        return await write.settle_earlier(plan, attempt)

    async def _made(
        self,
        write: Write[Company],
        form: CompanyForm,
        problems: Problems,
        send: Send,
        *,
        source: Company | None,
        on_progress: OnProgress | None,
    ) -> Outcome:
        name = safe(form.name)
        subject = subject_of(("" if source is None else source.id, form.name))
        if problems:
            return write.refused_form(name, subject, problems)

        async def prepare() -> Plan[Company] | Outcome:
            seen = await self._alike(form.name)
            if seen.error is not None and seen.stops:
                return write.unread(name, subject, seen.error.sentence)
            known = ids(seen.alike) if seen.error is None and seen.whole else None
            before = Before(ids=known, at=self._desk.clock.now())
            draft = Draft(
                verb=write.verb,
                subject=subject,
                title=name,
                company=None if source is None else Ref(id=source.id, name=source.name),
                details={**before.details(), "name": form.name},
            )
            return self._plan(draft, form.name, before, send)

        return await write.carry_out(name, subject, prepare, self.take_up, on_progress)

    def _plan(self, draft: Draft, name: str, before: Before, send: Send) -> Plan[Company]:
        def look(answer: Answer[Company] | None) -> Look[Company]:
            async def one() -> Looked[Company]:
                return looked(await self._alike(name), before, answer)

            return one

        store = self._desk.store
        fields = ("name", "mission")
        return Plan(
            draft=draft,
            send=send,
            look=look,
            fields=(*fields, "template") if draft.verb is Verb.CREATE_COMPANY else fields,
            done=_done,
            otherwise=otherwise,
            take=lambda record: store.publish(store.companies.put(record)),
        )

    async def _alike(self, name: str) -> Seen[Company]:
        """The companies of this name."""
        began = self._desk.clock.monotonic()
        wanted = safe(name)
        try:
            listing = await self._desk.client.companies()
        except ApiError as error:
            return Seen(alike=(), began=began, error=error)
        return seen_in(listing, lambda company: company.name == wanted, began)


async def _never(_: str) -> Receipt[Company]:
    raise AssertionError("what was left behind is only read")


def _done(record: Company | None) -> SafeText:
    return plain("created" if record is None else f"created: {safe(record.id)}")
