"""`Platform`: what the program asks of a platform, whatever its interface looks like.

A platform is a remote service with companies of AI agents, whose tasks wait for the user's
decision. All rooms above `api` know this protocol only: no path, no HTTP method, no name of a
platform. `api.client.Client` implements it for the generic REST interface. There are 17 operations,
each a method; `capabilities.Operation` has their names, by which everything else speaks of them.

What every implementation must keep: all operations raise ApiError and nothing else; a write is sent
once, after `why_withheld` has returned None, and `ApiError.sent` says whether it may have arrived.
An operation that the platform does not offer raises NotOffered, and sends nothing.

Beside its class, an implementation has a function `first_request(company)`, as `api.generic` has:
the `FirstRequest` for the company in scope, None for all. It is called before a client is opened.

Nothing is needed from here at run time: import it for type checking only.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import date
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import (
        Capabilities,
        OfferedVerb,
        Read,
        VerbInput,
        VerbProof,
    )
    from agentco_tui.api.credentials import KeyInUse
    from agentco_tui.api.measurements import Measurements
    from agentco_tui.api.recorder import Recorder
    from agentco_tui.api.transport import WhyWithheld
    from agentco_tui.model import (
        Activity,
        Agent,
        Alert,
        Budget,
        BudgetOverview,
        Company,
        Listing,
        Receipt,
        Record,
        Task,
        Trace,
    )
    from agentco_tui.reading.json_access import Json
    from agentco_tui.reading.mapping import ProfileMapping
    from agentco_tui.text import SafeText


class PlatformConnection(Protocol):
    """What is known of the connection to a platform, whatever is asked (`api.transport`)."""

    key: KeyInUse
    """The API key; `redact` masks it in a text, `replace` changes it."""
    measured: Measurements
    """Latency and clock skew."""
    recorder: Recorder | None
    """Gets every answer, for a recording."""


class Platform(Protocol):
    """One platform, for one event loop. Use it with `async with`, or close it with `aclose`.

    Ids are those of records that it has returned. A listing with every row that was asked for is
    whole, even if the platform sent others that were left out on purpose. Writes take `attempt_id`,
    for platforms that recognise a repeated request by it, and `why_withheld`, which is called right
    before the bytes leave: if it returns a reason, nothing is sent, and Withheld is raised. A
    `Receipt` is a hint at the outcome, and no proof of it.
    """

    @property
    def name(self) -> SafeText:
        """What the user calls this sort of platform; the same as `capabilities.platform`."""

    @property
    def capabilities(self) -> Capabilities:
        """What it offers. Never changes."""

    @property
    def mapping(self) -> ProfileMapping:
        """The names and units that the user has declared for it; `AS_SENT` declares none."""

    @property
    def transport(self) -> PlatformConnection:
        """Its key, its measurements and its recorder."""

    # ---- connections

    def for_decisions(self) -> Platform:
        """The same platform with separate connections: a decision waits for no other request.

        Closing either closes both.
        """

    def connect_ahead(self) -> None:
        """Begin a connection for a write that is about to come; nothing is sent on it."""

    def ask_anew(self) -> None:
        """Ask for everything that is read next, even if it was answered a moment ago."""

    async def aclose(self) -> None:
        """Close all connections."""

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc_info: object) -> None: ...

    def news_of(self, company_id: str) -> AsyncGenerator[None]:
        """Yields once the platform tells what changes in a company, then whenever it does.

        That is a reason to read, and no knowledge; what changed before the first is not known. It
        never just ends. Raises ApiError: NotOffered if `capabilities` have no news.
        """

    # ---- what it says about itself

    def verbs_of(self, record: Record) -> Sequence[str]:
        """The verbs that can be tried on a record, such as "approve", as the journal has them.

        "approve" is `approve_task`; every other one is among `capabilities.verbs`.
        """

    def question_of(self, verb: str, record: Record) -> SafeText:
        """What the user is asked before one of `verbs_of(record)` is sent."""

    def curl(self, read: Read) -> str:
        """A shell command that gets what `read` gets; the shell puts the key in."""

    async def as_sent(self, read: Read, kind: str, sent_id: str) -> Mapping[str, Json]:
        """The JSON object that a record of a kind is read from, in a list that is requested now.

        {} if the list has no record with this id. The key is masked in it, but no other secret.
        """

    def mapping_of(self, read: Read) -> ProfileMapping:
        """The names, units and words by which the records of a list are read."""

    async def read_body(self, read: Read, decode: Callable[[Json], Any]) -> Any:
        """What `decode` makes of the JSON that the records of a list are read from."""

    async def why_read_only(self) -> SafeText | None:
        """Why the key may change nothing at all, for the user; None if it may, or if that is not
        known. Sends one request at most.
        """

    # ---- the operations

    async def companies(self) -> Listing[Company]: ...

    async def company(self, company_id: str) -> Company: ...

    async def create_company(
        self,
        name: str,
        template: str | None = None,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Company]: ...

    async def clone_company(
        self,
        company_id: str,
        name: str,
        mission: str | None = None,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Company]: ...

    async def agents(self, company_id: str | None = None) -> Listing[Agent]:
        """The agents of a company, or of all.

        If a company is required, Invalid or NotFound is raised: the caller then asks for each.
        """

    async def agent(self, agent_id: str) -> Agent: ...

    async def tasks(
        self,
        company_id: str | None = None,
        status: str | None = None,
        *,
        begins: Callable[[Sequence[Task]], None] | None = None,
    ) -> Listing[Task]:
        """The tasks of a company, or of all. The status "pending" asks for those that wait.

        `begins` may be called with the first rows of a list that is long and new.
        """

    async def create_task(
        self,
        company_id: str,
        title: str,
        agent_id: str,
        priority: str,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Task]: ...

    async def approve_task(
        self,
        task_id: str,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Task]: ...

    async def act(
        self,
        verb: OfferedVerb,
        record_id: str,
        given: VerbInput = ...,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Any]:
        """Send one of `capabilities.verbs` for a record, with what the user has given for it.

        NotOffered is raised for a record that the verb is not for, and for a note or a sum that
        could not be sent.
        """

    async def proof_of(
        self,
        verb: OfferedVerb,
        record_id: str,
        given: VerbInput = ...,
        row: Mapping[str, str] = ...,
    ) -> VerbProof:
        """Read what shows that a verb was done.

        Only for a verb without `done`, as the others are shown by the status of the record. `row`
        is that of an earlier proof: with it, the record need not have been read before. Without it,
        NotOffered is raised for a record that is not known.
        """

    async def task_trace(self, task_id: str) -> Trace: ...

    async def activity(
        self,
        company_id: str | None = None,
        agent_id: str | None = None,
        from_date: date | None = None,
        to_date: date | None = None,
        limit: int | None = None,
        *,
        once: bool = False,
    ) -> Listing[Activity]:
        """The newest entries of the log, at most `limit`; whole days by the platform's clock.

        `once`: the same entries will not be asked for again, so they need not be cached.
        """

    def export_activity(
        self, file_format: str = "csv", *, cap: int | None = None
    ) -> AbstractAsyncContextManager[AsyncGenerator[bytes]]:
        """The log as a file, in chunks; `cap` is in bytes."""

    async def budget(self) -> BudgetOverview: ...

    async def company_budgets(self) -> Listing[Budget]: ...

    async def agent_budgets(self, company_id: str | None = None) -> Listing[Budget]:
        """The budgets of the agents of a company, or of all; raises as `agents`."""

    async def set_agent_limit(
        self,
        agent_id: str,
        monthly_limit: Decimal | int,
        *,
        attempt_id: str | None = None,
        why_withheld: WhyWithheld | None = None,
    ) -> Receipt[Budget]:
        """Set a monthly limit, in whole units of the currency whatever the platform's unit is."""

    async def budget_alerts(self) -> Listing[Alert]: ...
