"""Makes every write on a live Paperclip from the screen, and reads each back from the server.

python -m tests.benchmarks.paperclip_writes [http://127.0.0.1:3100] [WORDS]

The server must be one that needs no key (`deploymentMode` local_trusted), and one that may be
changed: a company "Drill …" is made in it. The real dashboard runs in a pseudo-terminal at 120x40;
each step prepares a record through the server's own interface, presses the keys that a person would
press, and compares what the server says afterwards. With WORDS, only steps with these words in
their names are done. The last line has the counts; the exit code is 1 if anything differs.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.terminal.pty_session import NotSeenError, PtySession, clean_environment

CONFIG = """\
history = false
[approve]
hold = 0
[profiles.paperclip]
base_url = "{base}"
platform = "paperclip"
company = "{company}"
"""
WAIT = 40.0
"""Seconds after which what the server should do is taken not to come."""
MINUTES = 420.0
"""The same where the server itself waits before it asks a person."""


class Server:
    """The server's own interface."""

    def __init__(self, base: str) -> None:
        self.base = f"{base}/api"

    def call(self, method: str, path: str, body: Any = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"}
        request = Request(self.base + path, method=method, data=data, headers=headers)
        try:
            with urlopen(request, timeout=30) as reply:
                text = reply.read()
        except HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read()[:300]!r}") from error
        return json.loads(text) if text else None

    def get(self, path: str) -> Any:
        return self.call("GET", path)

    def until(self, read: Callable[[], Any], seconds: float = WAIT) -> Any:
        """What `read` returns as soon as it is something; None if it never is."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            found = read()
            if found:
                return found
            time.sleep(0.5)
        return None


class World(NamedTuple):
    """The company in which everything is tried, and an agent of it that does nothing."""

    server: Server
    company: str
    agent: str
    number: str
    """What makes all names of this run different from those of others."""

    def path(self, rest: str) -> str:
        return f"/companies/{self.company}/{rest}"

    def new_agent(self, name: str, script: str = "true", cents: int = 0) -> str:
        body = {
            "name": f"{name} {self.number}", "role": "engineer", "adapterType": "process",
            "adapterConfig": {"command": "bash", "args": ["-c", script]},
            "budgetMonthlyCents": cents,
        }  # fmt: skip
        return str(self.server.call("POST", self.path("agents"), body)["id"])

    def new_issue(self, title: str, status: str = "backlog", agent: str | None = None) -> Any:
        body = {"title": f"{title} {self.number}", "status": status}
        if agent is not None:
            body["assigneeAgentId"] = agent
        return self.server.call("POST", self.path("issues"), body)

    def new_approval(self, title: str) -> str:
        payload = {"title": f"{title} {self.number}", "summary": "We need reach"}
        body = {
            "type": "request_board_approval", "requestedByAgentId": self.agent, "payload": payload,
        }  # fmt: skip
        return str(self.server.call("POST", self.path("approvals"), body)["id"])

    def decision_of(self, approval: str) -> tuple[str, str | None]:
        """The status of an approval, and what the agent is told of the reason."""
        row = self.server.get(f"/approvals/{approval}")
        return row["status"], row["decisionNote"]

    def new_interaction(self, issue: str, kind: str) -> str:
        payloads: dict[str, Any] = {
            "request_confirmation": {
                "version": 1, "prompt": "Refund?", "acceptLabel": "Yes", "rejectLabel": "No",
                "allowDeclineReason": True,
            },
            "ask_user_questions": {
                "version": 1,
                "questions": [
                    {
                        "id": "q1", "prompt": "Which colour?", "selectionMode": "single",
                        "options": [{"id": "r", "label": "Red"}, {"id": "b", "label": "Blue"}],
                    }
                ],
            },
        }  # fmt: skip
        body = {"kind": kind, "payload": payloads[kind]}
        return str(self.server.call("POST", f"/issues/{issue}/interactions", body)["id"])

    def spend(self, agent: str, cents: int) -> None:
        body = {
            "agentId": agent, "provider": "anthropic", "model": "claude-sonnet",
            "inputTokens": 1000, "outputTokens": 300, "costCents": cents,
            "occurredAt": time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime()),
        }  # fmt: skip
        self.server.call("POST", self.path("cost-events"), body)

    def issue(self, issue_id: str) -> Any:
        return self.server.get(f"/issues/{issue_id}")

    def comments(self, path: str) -> list[str]:
        return [row["body"] for row in self.server.get(f"{path}/comments")]

    def incident(self, agent: str) -> Any:
        rows = self.server.get(self.path("budgets/overview"))["activeIncidents"]
        return next((row for row in rows if row["scopeId"] == agent), None)

    def limit(self, scope: str) -> int | None:
        rows = self.server.get(self.path("budgets/overview"))["policies"]
        return next((row["amount"] for row in rows if row["scopeId"] == scope), None)


class Screen(PtySession):
    """The dashboard, as a person uses it."""

    def show(self, tab: str) -> None:
        """Leave what is open, and show a tab."""
        for key in ("esc", "esc", tab):
            self.press(key)
            # A key in the same packet as an escape would be another key.
            self.wait_quiet(0.4)

    def go(self, tab: str, words: str) -> None:
        """Show a tab, and the only row that has these words."""
        self.show(tab)
        self.press("/")
        self.wait_for("earlier")
        self.write(words)
        self.press("enter")
        deadline = time.monotonic() + WAIT
        while time.monotonic() < deadline:
            self.press("r")
            try:
                self.wait_for(lambda text: self._cursor_has(text, words), 5.0)
            except NotSeenError:
                continue
            return
        raise NotSeenError(f"no row with {words!r}:\n{self.text}")

    def _cursor_has(self, text: str, words: str) -> bool:
        """Whether one row alone is shown, and has the cursor; its words may be cut."""
        is_under_cursor = any(line.startswith("▌") for line in text.splitlines()[3:])
        return is_under_cursor and f"/{words}" in text and re.search(r"\b1 of \d", text) is not None

    def fill(self, key: str, *values: str) -> None:
        """Press a key that opens a form, and fill in its fields."""
        self.press(key)
        self.wait_for(re.compile(r"esc: cancel|n, esc"))
        for value in values:
            self.write(value)
            self.press("enter")

    def confirm(self) -> None:
        """Say yes to the question that stands, and wait until it is answered."""
        self.wait_for("n, esc")
        for _ in range(10):
            time.sleep(0.6)  # as a person does: a question can't be answered at once
            self.press("y")
            try:
                self.wait_for(lambda text: "n, esc" not in text, 6.0)
            except NotSeenError:
                continue
            return


class Step(NamedTuple):
    """One write: how it is prepared, made, and read back."""

    name: str
    make: Callable[[World, Screen], Callable[[], Any]]
    """Makes the write from the screen; returns what reads it back, true once it is there."""


STEPS: list[Step] = []


def step(make: Callable[[World, Screen], Callable[[], Any]]) -> Callable[..., Any]:
    STEPS.append(Step(make.__name__.replace("_", " "), make))
    return make


@step
def approve_a_request(world: World, screen: Screen) -> Callable[[], Any]:
    approval = world.new_approval("Buy a printer")
    screen.go("4", f"Buy a printer {world.number}")
    screen.press("a")
    screen.confirm()
    return lambda: world.server.get(f"/approvals/{approval}")["status"] == "approved"


@step
def reject_a_request_with_a_note(world: World, screen: Screen) -> Callable[[], Any]:
    approval = world.new_approval("Buy a plane")
    screen.go("4", f"Buy a plane {world.number}")
    screen.fill("R", "too dear")
    screen.confirm()
    return lambda: world.decision_of(approval) == ("rejected", "too dear")


@step
def send_a_request_back_to_be_revised(world: World, screen: Screen) -> Callable[[], Any]:
    approval = world.new_approval("Buy a car")
    screen.go("4", f"Buy a car {world.number}")
    screen.fill("V", "which one?")
    screen.confirm()
    return lambda: world.decision_of(approval) == ("revision_requested", "which one?")


@step
def comment_on_a_request(world: World, screen: Screen) -> Callable[[], Any]:
    approval = world.new_approval("Buy a house")
    screen.go("4", f"Buy a house {world.number}")
    screen.fill("c", "where is it?")
    screen.confirm()
    return lambda: "where is it?" in world.comments(f"/approvals/{approval}")


@step
def call_a_review_done(world: World, screen: Screen) -> Callable[[], Any]:
    issue = world.new_issue("Good work", "in_review", world.agent)["id"]
    screen.go("4", f"Good work {world.number}")
    screen.press("a")
    screen.confirm()
    return lambda: world.issue(issue)["status"] == "done"


@step
def send_a_review_back(world: World, screen: Screen) -> Callable[[], Any]:
    issue = world.new_issue("Bad work", "in_review", world.agent)["id"]
    screen.go("4", f"Bad work {world.number}")
    screen.fill("R", "again, please")
    screen.confirm()

    def is_done() -> bool:
        is_back = world.issue(issue)["status"] in ("todo", "in_progress", "done")
        return is_back and "again, please" in world.comments(f"/issues/{issue}")

    return is_done


@step
def comment_on_a_task(world: World, screen: Screen) -> Callable[[], Any]:
    issue = world.new_issue("Odd work", "in_review", world.agent)["id"]
    screen.go("4", f"Odd work {world.number}")
    screen.fill("c", "hm")
    screen.confirm()
    return lambda: "hm" in world.comments(f"/issues/{issue}")


def interaction_of(world: World, issue: str, interaction: str) -> Any:
    rows = world.server.get(f"/issues/{issue}/interactions")
    return next(row for row in rows if row["id"] == interaction)


@step
def say_yes_to_a_question(world: World, screen: Screen) -> Callable[[], Any]:
    asking = world.new_issue("Ask first", agent=world.agent)
    issue = asking["id"]
    asked = world.new_interaction(issue, "request_confirmation")
    screen.go("4", f"Answer {asking['identifier']}")
    screen.press("a")
    screen.confirm()
    return lambda: interaction_of(world, issue, asked)["status"] == "accepted"


@step
def say_no_to_a_question(world: World, screen: Screen) -> Callable[[], Any]:
    asking = world.new_issue("Ask second", agent=world.agent)
    issue = asking["id"]
    asked = world.new_interaction(issue, "request_confirmation")
    screen.go("4", f"Answer {asking['identifier']}")
    screen.fill("R", "not now")
    screen.confirm()

    def is_done() -> bool:
        row = interaction_of(world, issue, asked)
        return row["status"] == "rejected" and "not now" in json.dumps(row["result"])

    return is_done


@step
def skip_a_question(world: World, screen: Screen) -> Callable[[], Any]:
    asking = world.new_issue("Ask third", agent=world.agent)
    issue = asking["id"]
    asked = world.new_interaction(issue, "ask_user_questions")
    screen.go("4", f"Answer {asking['identifier']}")
    screen.fill("R", "as you like")
    screen.confirm()
    return lambda: interaction_of(world, issue, asked)["status"] != "pending"


@step
def pause_and_resume_an_agent(world: World, screen: Screen) -> Callable[[], Any]:
    agent = world.new_agent("Pat")
    screen.go("3", f"Pat {world.number}")
    screen.press("p")
    screen.confirm()
    paused = world.server.until(lambda: world.server.get(f"/agents/{agent}")["status"] == "paused")
    screen.go("3", f"Pat {world.number}")
    screen.wait_for("resume")
    screen.press("p")
    screen.confirm()
    return lambda: paused and world.server.get(f"/agents/{agent}")["status"] == "idle"


@step
def run_an_agent_now(world: World, screen: Screen) -> Callable[[], Any]:
    agent = world.new_agent("Ray")
    screen.go("3", f"Ray {world.number}")
    screen.press("i")
    screen.confirm()
    return lambda: world.server.get(world.path(f"heartbeat-runs?agentId={agent}"))


@step
def clear_an_agents_error(world: World, screen: Screen) -> Callable[[], Any]:
    agent = world.new_agent("Bea", "exit 3")
    world.server.call("POST", f"/agents/{agent}/heartbeat/invoke", {})
    world.server.until(lambda: world.server.get(f"/agents/{agent}")["status"] == "error")
    screen.go("3", f"Bea {world.number}")
    screen.wait_for("clear error")
    screen.press("e")
    screen.confirm()
    return lambda: world.server.get(f"/agents/{agent}")["status"] == "idle"


@step
def set_an_agents_limit(world: World, screen: Screen) -> Callable[[], Any]:
    agent = world.new_agent("Lea", cents=1000)
    screen.go("3", f"Lea {world.number}")
    screen.press("l")
    screen.wait_for("monthly limit")
    screen.write("\x15")
    screen.write("43.21")
    screen.press("enter")
    screen.confirm()
    return lambda: world.limit(agent) == 4321


def stopped(world: World, name: str) -> str:
    """An agent that its budget has stopped."""
    agent = world.new_agent(name, cents=1000)
    world.spend(agent, 1500)
    assert world.server.until(lambda: world.incident(agent)), "no incident"
    return agent


@step
def raise_the_limit_of_a_stopped_agent(world: World, screen: Screen) -> Callable[[], Any]:
    agent = stopped(world, "Max")
    screen.go("1", f"Max {world.number}")
    screen.fill("b", "25.50", "")
    screen.confirm()
    return lambda: (
        world.limit(agent) == 2550
        and world.server.get(f"/agents/{agent}")["status"] == "idle"
        and world.incident(agent) is None
    )


@step
def raise_it_from_the_request(world: World, screen: Screen) -> Callable[[], Any]:
    agent = stopped(world, "Ned")
    screen.go("4", f"Ned {world.number} is stopped")
    screen.fill("b", "30")
    screen.confirm()
    return lambda: (
        world.limit(agent) == 3000 and world.server.get(f"/agents/{agent}")["status"] == "idle"
    )


@step
def keep_a_stopped_agent_paused(world: World, screen: Screen) -> Callable[[], Any]:
    agent = stopped(world, "Ute")
    screen.go("1", f"Ute {world.number}")
    screen.fill("K", "enough")
    screen.confirm()
    return lambda: (
        world.incident(agent) is None and world.server.get(f"/agents/{agent}")["status"] == "paused"
    )


@step
def set_a_companys_budget(world: World, screen: Screen) -> Callable[[], Any]:
    screen.go("2", f"Drill {world.number}")
    screen.fill("b", "1234.50")
    screen.confirm()
    path = f"/companies/{world.company}"
    return lambda: world.server.get(path)["budgetMonthlyCents"] == 123450


@step
def pause_and_resume_a_company(world: World, screen: Screen) -> Callable[[], Any]:
    path = f"/companies/{world.company}"
    screen.go("2", f"Drill {world.number}")
    screen.press("p")
    screen.confirm()
    paused = world.server.until(lambda: world.server.get(path)["status"] == "paused")
    screen.go("2", f"Drill {world.number}")
    screen.wait_for("resume")
    screen.press("p")
    screen.confirm()
    return lambda: paused and world.server.get(path)["status"] == "active"


@step
def create_a_company(world: World, screen: Screen) -> Callable[[], Any]:
    name = f"Made {world.number}"
    screen.show("2")
    screen.fill("n", name, "", "to try")
    screen.confirm()
    return lambda: [row for row in world.server.get("/companies") if row["name"] == name]


def waits_as(world: World, title: str, sort: str) -> Any:
    """The issue of a title, once it waits for a person as a sort of item; that takes minutes."""
    title = f"{title} {world.number}"

    def item() -> Any:
        items = world.server.get(world.path("attention?limit=100"))["items"]
        of_sort = [each for each in items if each["sourceKind"] == sort]
        related = [each["relatedIssue"] or each["subject"] for each in of_sort]
        return next((each for each in related if each["title"] == title), None)

    found = world.server.until(item, MINUTES)
    assert found, f"{title} never waited as {sort}"
    return found


@step
def unblock_a_task(world: World, screen: Screen) -> Callable[[], Any]:
    issue = waits_as(world, "Stuck work", "blocker_attention")["id"]
    screen.go("4", f"Stuck work {world.number}")
    screen.fill("U", "go on")
    screen.confirm()
    return lambda: "go on" in world.comments(f"/issues/{issue}")


@step
def try_a_stranded_task_again(world: World, screen: Screen) -> Callable[[], Any]:
    issue = waits_as(world, "Lost work", "recovery_action")
    before = len(world.server.get(f"/issues/{issue['id']}/runs"))
    screen.go("4", f"Recover {issue['identifier']}")
    screen.fill("U", "once more")
    screen.confirm()
    return lambda: len(world.server.get(f"/issues/{issue['id']}/runs")) > before


@step
def call_a_stranded_task_done(world: World, screen: Screen) -> Callable[[], Any]:
    issue = waits_as(world, "Found work", "recovery_action")
    screen.go("4", f"Recover {issue['identifier']}")
    screen.fill("d", "seen by hand")
    screen.confirm()
    return lambda: world.issue(issue["id"])["status"] == "done"


@step
def create_a_task(world: World, screen: Screen) -> Callable[[], Any]:
    title = f"Made here {world.number}"
    screen.show("4")
    screen.press("n")
    screen.wait_for("esc: cancel")
    for value in (f"Idle {world.number}", title, "high"):  # the company is that in scope
        screen.write(value)
        screen.press("enter")
    screen.confirm()
    return lambda: [row for row in world.server.get(world.path("issues")) if row["title"] == title]


@step
def cancel_a_run(world: World, screen: Screen) -> Callable[[], Any]:
    agent = world.new_agent("Sam", "for i in $(seq 200); do echo step $i; sleep 2; done")
    run = world.server.call("POST", f"/agents/{agent}/heartbeat/invoke", {})["id"]
    screen.show("4")
    screen.press("v")
    screen.wait_quiet(0.5)
    screen.press("a")
    screen.go("4", f"Run of Sam {world.number}")
    screen.press("X")
    screen.confirm()
    return lambda: world.server.get(f"/heartbeat-runs/{run}")["status"] == "cancelled"


def new_world(server: Server) -> World:
    number = str(int(time.time()))[-6:]
    body = {"name": f"Drill {number}", "description": "Everything is tried here."}
    company = server.call("POST", "/companies", body)["id"]
    empty = World(server, company, "", number)
    world = empty._replace(agent=empty.new_agent("Idle"))
    # What takes minutes until a person is asked is begun now.
    world.new_issue("Stuck work", "blocked", world.agent)
    for title in ("Lost work", "Found work"):
        world.new_issue(title, "todo", world.new_agent(title.partition(" ")[0]))
    return world


def main(base: str, words: str = "", say: Callable[[str], object] = print) -> int:
    world = new_world(Server(base))
    wrong = 0
    steps = [each for each in STEPS if words in each.name]
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "config.toml"
        config.write_text(CONFIG.format(base=base, company=world.company), encoding="utf-8")
        command = [sys.executable, "-m", "agentco_tui", "--profile", "paperclip", "--refresh", "1"]
        environment = clean_environment(
            {"HOME": folder, "AGENTCO_CONFIG": str(config), "TEXTUAL_ANIMATIONS": "none"}
        )
        with Screen(command, env=environment, size=(120, 40)) as screen:
            screen.wait_for("live")
            for number, each in enumerate(steps, start=1):
                outcome = tried(each, world, screen)
                wrong += outcome != "done"
                say(f"{number:>2} {each.name}: {outcome}")
    say(f"{len(steps)} writes made from the screen, {len(steps) - wrong} read back from the server")
    return 1 if wrong else 0


def tried(each: Step, world: World, screen: Screen) -> str:
    """How a step ended, in words."""
    try:
        is_done = each.make(world, screen)
        is_shown = world.server.until(is_done)
    except (NotSeenError, AssertionError, RuntimeError) as error:
        return f"{error}\n{screen.text}"
    return "done" if is_shown else f"the server does not show it\n{screen.text}"


if __name__ == "__main__":
    arguments = sys.argv[1:]
    address = arguments[0] if arguments else "http://127.0.0.1:3100"
    sys.exit(main(address, " ".join(arguments[1:])))
