"""What must be true of the verbs of the Paperclip file: which rows have which, and what is sent.

`check_verbs` compares everything; `CASES` has one row for each verb. The expectations are written
here once more, from the answers and the server's own routes, and not from the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, NamedTuple

import pytest

from agentco_tui.api import errors
from agentco_tui.api.capabilities import VerbInput, VerbProof
from agentco_tui.model import Receipt, Record, Verdict
from agentco_tui.platforms.declared_platform import DeclaredPlatform
from tests.platforms.recorded_answers import (
    ACME,
    GLOBEX,
    INITECH,
    LISTS,
    body_of,
    companies_of,
)
from tests.platforms.recorded_paperclip import RecordedPaperclip

ROW = {
    "acme": ACME,
    "globex": GLOBEX,
    "initech": INITECH,
    "waiting": "93241870-db2c-44ea-9fad-4711f114cd40",
    "override": "4237adda-a09f-4d82-9693-9fbb02f95107",
    "review": "7fe41f20-c27d-4ce2-835b-2973e86750b1",
    "question": "55d3feb9-1f2c-4c37-a2ac-dcda8a64aecb",
    "about": "12223f62-bb2b-463f-8d16-dc739fcacf67",
    "thread": "asks-subject",
    "blocked": "060d523c-3da4-47e9-ac55-f5b4f0f4a40e",
    "stranded": "53f1ebde-9234-4ea1-9514-a79be9e0aafc",
    "backlog": "c1f3a11d-b088-4a1e-87e8-89efdbcd8593",
    "bea": "c39cfe5f-7d1d-4c70-9ef6-a8a7c3d6c6d3",
    "pat": "d46cbadf-2f15-445e-8c5a-a883b638a0d4",
    "maya": "14123f24-32d3-4ea3-a8f4-07436d553e08",
    "run": "4371661d-caaf-4c35-b0c1-6a5fc5b2df3c",
    "stop": "c7b18cac-23ec-43a2-b205-44901fd774fd",
}
"""The ids of the rows that the cases are about. `question` and `thread` are asked `about` an issue;
`blocked` and `stranded` are issues, `bea` an agent in error, `stop` an incident of a budget."""
GIVEN = {
    "": VerbInput(),
    "note": VerbInput("a word"),
    "amount": VerbInput(None, Decimal("400.50")),
    "amount note": VerbInput("a word", Decimal("400.50")),
}
"""What the user gives, by what a verb takes."""
OTHERS = {
    "note": VerbInput("another word"),
    "amount": VerbInput(None, Decimal("500.50")),
    "amount note": VerbInput("a word", Decimal("500.50")),
}
"""Something else, which is not proved by what was done."""


class VerbCase(NamedTuple):
    """A verb, on one record: what the user is shown, what arrives, and what shows that it was done.

    Names in braces are those of `ROW`.
    """

    name: str
    record: str
    """How its id begins."""
    shown: tuple[str, str, str]
    """Its key, its word in the footer, and the question."""
    takes: str
    """What `GIVEN` has; "note!" for a note that must not be empty."""
    line: str
    body: dict[str, Any]
    done: tuple[str, ...] = ()
    """The status words of an answer that are a yes; empty if every answer is one."""
    proof: str = ""
    """The request that shows that it was done; none if the status of the record does."""
    is_new: bool = False
    proved_by: tuple[str, ...] = ()
    """The status words that prove it, of the row with the id `status_of`; no others do."""
    status_of: str = ""

    @property
    def given(self) -> VerbInput:
        return GIVEN[self.takes.rstrip("!")]


# fmt: off
CASES = (
    VerbCase("reject", "{waiting}",
        ("R", "reject", "Reject it? The note is kept with the request."), "note",
        "POST /api/approvals/{waiting}/reject", {"decisionNote": "a word"}, ("rejected",)),
    VerbCase("revise", "{waiting}",
        ("V", "revise", "Send it back to be revised? The note is kept with the request."), "note!",
        "POST /api/approvals/{waiting}/request-revision", {"decisionNote": "a word"},
        ("revision_requested",)),
    VerbCase("send back", "{review}",
        ("R", "send back", "Send GLO-2 back to be done again? The note becomes a comment."),
        "note!",
        "PATCH /api/issues/{review}", {"status": "todo", "comment": "a word"},
        ("todo", "in_progress")),
    VerbCase("decline", "{question}",
        ("R", "decline", "Answer no? The note reaches the agent."), "note",
        "POST /api/issues/{about}/interactions/{question}/reject", {"reason": "a word"},
        ("rejected",), proof="GET /api/issues/{about}/interactions",
        proved_by=("rejected",), status_of="{question}"),
    VerbCase("skip", "{thread}",
        ("R", "skip", "Tell the agent to go on without an answer?"), "note",
        "POST /api/issues/{about}/interactions/{thread}/skip", {"reason": "a word"},
        proof="GET /api/issues/{about}/interactions",
        proved_by=("cancelled",), status_of="{thread}"),
    VerbCase("unblock", "blocker_attention:blocker:{blocked}",
        ("U", "unblock", "Let ACM-6 be worked on again? Its agent starts at once."), "note",
        "PATCH /api/issues/{blocked}", {"status": "todo", "comment": "a word"}, ("todo",),
        proof="GET /api/issues/{blocked}",
        proved_by=("todo", "in_progress", "in_review", "done"), status_of="{blocked}"),
    VerbCase("try again", "recovery_action:recovery:missing_disposition:{stranded}",
        ("U", "try again", "Let GLO-9 be tried again? Its agent starts at once."), "note",
        "POST /api/issues/{stranded}/recovery-actions/resolve",
        {"outcome": "restored", "sourceIssueStatus": "todo", "resolutionNote": "a word"},
        proof="GET /api/issues/{stranded}",
        proved_by=("todo", "in_progress", "in_review"), status_of="{stranded}"),
    VerbCase("call it done", "recovery_action:recovery:missing_disposition:{stranded}",
        ("d", "done", "Is GLO-9 done all the same?"), "note",
        "POST /api/issues/{stranded}/recovery-actions/resolve",
        {"outcome": "restored", "sourceIssueStatus": "done", "resolutionNote": "a word"},
        proof="GET /api/issues/{stranded}", proved_by=("done",), status_of="{stranded}"),
    *(
        VerbCase("comment", record, ("c", "comment", "Write this below the task?"), "note!",
            f"POST /api/issues/{issue}/comments", {"body": "a word"},
            proof=f"GET /api/issues/{issue}/comments", is_new=True)
        for record, issue in (
            ("{review}", "{review}"),
            ("{question}", "{about}"),
            ("{thread}", "{about}"),
            ("recovery_action:recovery:missing_disposition:{stranded}", "{stranded}"),
            ("{backlog}", "{backlog}"),
        )
    ),
    VerbCase("comment on the request", "{override}",
        ("c", "comment", "Write this below the request?"), "note!",
        "POST /api/approvals/{override}/comments", {"body": "a word"},
        proof="GET /api/approvals/{override}/comments", is_new=True),
    VerbCase("cancel the run", "{run}", ("X", "cancel", "Stop this run?"), "",
        "POST /api/heartbeat-runs/{run}/cancel", {},
        proof="GET /api/heartbeat-runs/{run}", proved_by=("cancelled",), status_of="{run}"),
    VerbCase("pause", "{maya}", ("p", "pause", "Pause Maya Globex? What it runs is stopped."), "",
        "POST /api/agents/{maya}/pause", {}, ("paused",)),
    VerbCase("resume", "{pat}", ("p", "resume", "Let Paused Pat go on?"), "",
        "POST /api/agents/{pat}/resume", {}, ("idle", "running")),
    VerbCase("clear error", "{bea}",
        ("e", "clear error", "Let Broken Bea work again after its error?"), "",
        "POST /api/agents/{bea}/clear-error", {}, ("idle", "running")),
    VerbCase("clear the agent's error", "agent_error_alert:agent_error:{bea}",
        ("e", "clear error", "Let Broken Bea work again after its error?"), "",
        "POST /api/agents/{bea}/clear-error", {},
        proof="GET /api/agents/{bea}", proved_by=("idle", "running"), status_of="{bea}"),
    VerbCase("run now", "{maya}", ("i", "run now", "Start Maya Globex now?"), "",
        "POST /api/agents/{maya}/heartbeat/invoke", {}, ("queued", "running"),
        proof="GET /api/companies/{globex}/heartbeat-runs?agentId={maya}&limit=50&summary=1",
        is_new=True),
    VerbCase("pause the company", "{acme}",
        ("p", "pause",
         "Pause Acme Robotics? None of its agents starts anything until it is resumed."), "",
        "PATCH /api/companies/{acme}", {"status": "paused"}, ("paused",)),
    VerbCase("resume the company", "{initech}",
        ("p", "resume", "Let Initech Content go on?"), "",
        "PATCH /api/companies/{initech}", {"status": "active"}, ("active",)),
    VerbCase("set the budget", "{acme}",
        ("b", "budget", "Set the monthly budget of Acme Robotics?"), "amount",
        "PATCH /api/companies/{acme}/budgets", {"budgetMonthlyCents": 40050},
        proof="GET /api/companies/{acme}"),
    VerbCase("raise the limit", "{stop}",
        ("b", "raise", "Raise the limit of Initech Content, and let it go on?"), "amount note",
        "POST /api/companies/{initech}/budget-incidents/{stop}/resolve",
        {"action": "raise_budget_and_resume", "amount": 40050, "decisionNote": "a word"},
        ("resolved",), proof="GET /api/companies/{initech}/budgets/overview"),
    VerbCase("raise its limit", "{override}",
        ("b", "raise limit", "Raise the limit of Initech Content, and let it go on?"), "amount",
        "POST /api/companies/{initech}/budgets/policies",
        {"scopeType": "company", "scopeId": "{initech}", "amount": 40050, "warnPercent": 80},
        ("ok", "warning"), proof="GET /api/companies/{initech}/budgets/overview",
        proved_by=("ok", "warning"), status_of="{initech}"),
    VerbCase("keep it paused", "{stop}",
        ("K", "keep paused", "Keep Initech Content stopped until its budget begins again?"
         " The request to raise it is rejected."), "note",
        "POST /api/companies/{initech}/budget-incidents/{stop}/resolve",
        {"action": "keep_paused", "decisionNote": "a word"},
        ("dismissed",), proof="GET /api/approvals/{override}",
        proved_by=("rejected",), status_of="{override}"),
)
# fmt: on
STATUSES = (
    *("backlog", "todo", "in_progress", "in_review", "done", "blocked", "cancelled"),
    *("pending", "accepted", "rejected", "approved", "revision_requested"),
    *("idle", "running", "error", "paused", "ok", "warning", "hard_stop"),
)
"""Status words of all sorts of rows."""


def offers(most_issues: int) -> Iterator[tuple[str, set[str]]]:
    """Each record with the verbs that are due for it, apart from an approval, by the answers.

    Of the issues of each company, the first `most_issues`.
    """
    for row in companies_of("approvals"):
        if row["type"] == "budget_override_required":
            verbs = {"raise its limit"} if row["status"] == "pending" else set()
        else:
            by_status = {"pending": {"reject", "revise"}, "revision_requested": {"reject"}}
            verbs = by_status.get(row["status"], set())
        yield row["id"], {*verbs, "comment on the request"}
    for row in companies_of("attention", "items"):
        yield from _offers_of_item(row)
    for answer in LISTS["issues"].values():
        for row in body_of(answer)[:most_issues]:
            if row["status"] != "in_review" or not _is_stalled(row["id"]):
                yield row["id"], {"comment"}
    for row in companies_of("live-runs"):
        yield row["id"], {"cancel the run"}
    by_status = {
        "idle": {"pause", "run now"},
        "active": {"pause", "run now"},
        "running": {"pause", "run now"},
        "error": {"pause", "clear error"},
        "paused": {"resume"},
    }
    for row in companies_of("agents"):
        yield row["id"], by_status.get(row["status"], set())
    for row in companies_of("budgets/overview", "activeIncidents"):
        is_asked = row["approvalId"] is not None
        yield row["id"], {"raise the limit", *(["keep it paused"] if is_asked else [])}


def _is_stalled(issue: str) -> bool:
    """Whether an issue is also in the list of what needs a person, as a review."""
    return issue in {row["subject"]["id"] for row in companies_of("attention", "items")}


def _offers_of_item(row: Any) -> Iterator[tuple[str, set[str]]]:
    match row["sourceKind"]:
        case "review":
            yield row["subject"]["id"], {"send back", "comment"}
        case "issue_thread_interaction":
            is_plain = row["subject"]["metadata"]["kind"] == "request_confirmation"
            yield row["subject"]["id"], {"decline" if is_plain else "skip", "comment"}
        case "blocker_attention":
            yield row["id"], {"unblock", "comment"}
        case "recovery_action":
            yield row["id"], {"try again", "call it done", "comment"}
        case "agent_error_alert":
            yield row["id"], {"clear the agent's error"}
        case "failed_run" | "decision" | "join_request":
            yield row["id"], set() if row["relatedIssue"] is None else {"comment"}


async def records_of(platform: DeclaredPlatform) -> dict[str, Record]:
    """Every record that can have verbs, by id; of a task that waits, as it waits."""
    listings = (
        await platform.tasks(),
        await platform.tasks(status="pending"),
        await platform.agents(),
        await platform.companies(),
        await platform.budget_alerts(),
    )
    return {record.id: record for listing in listings for record in listing.records}


async def check_verbs(
    platform: DeclaredPlatform, server: RecordedPaperclip, only: str | None = None
) -> None:
    """Check which rows have which verbs, and each verb; or of the verbs only this one."""
    server.forget()
    server.most_issues = 20  # which is quicker
    server.decided[INITECH] = "paused"
    reader = platform.for_decisions()  # which gets no answer of a moment ago
    records = await records_of(reader)
    for record_id, due in offers(server.most_issues):
        found = set(platform.verbs_of(records[record_id]))
        assert found - {"approve"} == due, record_id
    for company in server.companies:
        word = "resume" if company["id"] == INITECH else "pause"
        found = set(platform.verbs_of(records[company["id"]]))
        assert found == {f"{word} the company", "set the budget"}
    assert {verb.name for verb in platform.capabilities.verbs} == {case.name for case in CASES}
    for case in CASES:
        if only in (None, case.name):
            begins = case.record.format_map(ROW)
            (record,) = (each for each in records.values() if each.id.startswith(begins))
            await CaseCheck(platform, server, case, record).check()


class CaseCheck:
    """The check of one verb on one record."""

    def __init__(
        self,
        platform: DeclaredPlatform,
        server: RecordedPaperclip,
        case: VerbCase,
        record: Record,
    ) -> None:
        verb = platform.capabilities.verb(case.name)
        assert verb is not None
        self.platform = platform
        self.server = server
        self.case = case
        self.verb = verb
        self.record = record

    async def check(self) -> None:
        case = self.case
        self.check_words()
        for word in case.done:
            assert (await self.act(answer=word)).verdict is Verdict.YES, word
        other = await self.act(answer="nonsense")
        assert other.verdict is (Verdict.NO if case.done else Verdict.YES)
        self.server.forget()
        before = await self.proof()
        receipt = await self.act()
        assert receipt.verdict is Verdict.YES, receipt
        assert receipt.record is None or receipt.record.id == self.record.id
        sent = self.server.requests[-1]
        assert (sent.line, sent.body) == (self.filled(case.line), self.filled(case.body))
        if self.verb.takes_amount:
            odd = VerbInput(case.given.note, Decimal("400.555"))
            with pytest.raises(errors.NotSent, match="whole cents"):
                await self.platform.act(self.verb, self.record.id, odd)
        if case.proof:
            await self.check_proof(before)
        else:
            reader = self.platform.for_decisions()
            read = await records_of(reader)
            assert getattr(read[self.record.id], "status", None) in case.done
            self.server.forget()
            await records_of(reader)

    def check_words(self) -> None:
        """Check what the user is shown, and what is asked for."""
        case = self.case
        verb = self.verb
        question = self.platform.question_of(case.name, self.record)
        assert (verb.key, verb.label, question) == case.shown
        note = "optional" if "note" in case.takes else "none"
        assert verb.note == ("required" if case.takes.endswith("!") else note)
        assert verb.takes_amount == ("amount" in case.takes)
        assert verb.done == (() if case.proof else case.done)
        assert verb.proof_is_new == case.is_new

    def filled(self, template: Any) -> Any:
        if isinstance(template, dict):
            return {name: self.filled(value) for name, value in template.items()}
        return template.format_map(ROW) if isinstance(template, str) else template

    async def act(self, *, answer: str | None = None) -> Receipt[Any]:
        """Send it, as if nothing had been sent before; `answer` is the status that comes back."""
        self.server.forget()
        self.server.answers_with = answer
        receipt = await self.platform.act(self.verb, self.record.id, self.case.given)
        self.server.answers_with = None
        return receipt

    async def proof(self, **more: Any) -> VerbProof:
        given = more.pop("given", self.case.given)
        return await self.platform.proof_of(self.verb, self.record.id, given, **more)

    async def check_proof(self, before: VerbProof) -> None:
        """Check the read that shows that it was done, now that it was; `before` is from earlier."""
        case = self.case
        server = self.server
        assert bool(before.shown_by) == (case.name == "run now")  # there is a run of the past
        proof = await self.proof()
        read = server.requests[-1]
        query = "&".join(f"{name}={value}" for name, value in read.query.items())
        line = f"{read.line}?{query}" if query else read.line
        assert line == self.filled(case.proof)
        assert len(proof.shown_by - before.shown_by) == 1
        assert await self.proof(row=proof.row) == proof
        if case.takes.rstrip("!") in OTHERS and not case.status_of:
            assert not (await self.proof(given=OTHERS[case.takes.rstrip("!")])).shown_by
        for word in STATUSES if case.status_of else ():
            server.changed[self.filled(case.status_of)] = {"status": word}
            assert bool((await self.proof()).shown_by) == (word in case.proved_by), word
