"""`agentco-tui metrics`: parsed by the library's own parser, whatever the platform does."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path

import pytest

from agentco_tui.commands.demo import past_of
from agentco_tui.commands.series import FAMILIES
from agentco_tui.live.backfill import PAST
from agentco_tui.live.history import History
from agentco_tui.live.history_file import reading
from agentco_tui.live.history_reader import Reader
from agentco_tui.state_folder import HISTORY_FILE
from tests.commands.conftest import Child, Command
from tests.commands.test_tail import Lines
from tests.embedded import EmbeddedPlatform

PARSER = import_module("prometheus_client.openmetrics.parser")
Labels = frozenset[tuple[str, str]]
ROOT = Path(__file__).parents[2]


class Told(dict[tuple[str, Labels], float]):
    """Figures by family and labels, as the library's parser reads them."""

    def __init__(self, text: str) -> None:
        assert text.endswith("# EOF\n")
        super().__init__()
        for family in PARSER.text_string_to_metric_families(text):
            assert family.name.removeprefix("agentco_") in FAMILIES
            for sample in family.samples:
                key = sample.name.removeprefix("agentco_"), frozenset(sample.labels.items())
                assert key not in self
                self[key] = sample.value

    def of(self, family: str, /, **labels: str) -> list[float]:
        """The figures of a family whose labels include these."""
        wanted = labels.items()
        told = ((dict(has), value) for (of, has), value in self.items() if of == family)
        return [value for has, value in told if wanted <= has.items()]

    def one(self, family: str, /, **labels: str) -> float:
        (value,) = self.of(family, **labels)
        return value

    def up(self) -> set[float]:
        return set(self.of("feed_up"))


def test_what_is_printed_is_what_the_platform_has(
    command: Command, still: EmbeddedPlatform
) -> None:
    ran = command.on(still)("metrics")
    assert (ran.code, ran.err) == (0, "")
    assert still.full_key not in ran.out
    told, state = Told(ran.out), still.world.state
    assert told.up() == {1.0}
    assert told.one("tasks_waiting", scope="all") == len(state.pending)
    for company in state.companies.values():
        about = {"scope": "company", "id": company.id, "name": company.name}
        assert told.one("tasks_waiting", **about) == company.pending
        assert told.one("budget_limit", **about) == (company.limit or 0) / 1_000_000
        assert told.one("budget_spent", **about) == pytest.approx(company.spent / 1_000_000)
    assert len(told.of("budget_spent", scope="agent")) == len(state.agents)
    assert sum(told.of("agents")) == len(state.agents)
    assert told.one("needs", level="critical", kind="budget") == 2
    assert told.one("needs", level="warning", kind="stuck") == 1
    assert told.one("oldest_wait_seconds", scope="all") > 3_600
    assert told.of("series_left_out") == [0, 0]
    assert {request.method for request in still.requests} == {"GET"}
    globex = Told(command("metrics", "--company", "globex").out)
    assert {dict(labels)["name"] for name, labels in globex if name == "tasks_waiting"} == {
        "all",
        "Globex",
    }
    assert command("metrics", "--company", "umbrella").code == 2


@pytest.mark.parametrize("shape", ["plain", "cents"])
def test_hostile_texts_and_names_are_parsed(command: Command, shape: str) -> None:
    with EmbeddedPlatform(speed=0, shape=shape) as platform:
        platform.faults.add("*:hostile")
        platform.faults.add("companies:odd_rows")
        ran = command.on(platform)("metrics")
        assert ran.code == 0
        assert Told(ran.out).of("budget_spent", scope="company")
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", ran.out)


def test_what_fails_is_told(command: Command, still: EmbeddedPlatform) -> None:
    still.faults.add("budget:status=404")
    ran = command.on(still)("metrics")
    told = Told(ran.out)
    assert (ran.code, told.one("feed_up", feed="budget"), told.one("feed_up", feed="agents")) == (
        0,
        0,
        1,
    )
    assert told.of("feed_age_seconds", feed="budget") == []
    assert told.one("http_errors_total", feed="budget", error="not_found") >= 1
    still.stop()
    ran = command("metrics")
    assert (ran.code, Told(ran.out).up()) == (3, {0.0})


def test_the_number_of_series_is_bounded(command: Command) -> None:
    with EmbeddedPlatform(speed=0, companies=20, agents=400, tasks=50) as platform:
        told = Told(command.on(platform)("metrics", "--series", "300").out)
        assert len(told) <= 300
        assert len(told.of("budget_spent", scope="company")) == 20
        shown = told.of("budget_share_ratio", scope="agent")
        assert len(told.of("budget_spent", scope="agent")) + told.one(
            "series_left_out", scope="agent"
        ) == len(platform.world.state.agents)
        limited = (agent for agent in platform.world.agents() if agent.limit)
        shares = sorted((agent.spent / (agent.limit or 1) for agent in limited), reverse=True)
        assert sorted(shown, reverse=True) == pytest.approx(shares[: len(shown)], abs=1e-3)
        told = Told(command("metrics", "--series", "100").out)
        assert len(told) <= 100
        assert told.one("series_left_out", scope="company") > 0
        assert told.of("budget_spent", scope="agent") == []


def scrape(port: int, path: str = "/metrics", method: str = "GET") -> tuple[int, str, str]:
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(method, path)
    answer = connection.getresponse()
    return answer.status, answer.headers["content-type"], answer.read().decode()


def until(port: int, seen: Callable[[Told], bool]) -> Told:
    while True:
        told = Told(scrape(port)[2])
        if seen(told):
            return told


def served(child: Child) -> int:
    found = re.search(r":(\d+)/metrics", Lines(child.stderr).until("serving http://127.0.0.1:"))
    assert found is not None
    return int(found[1])


def test_it_serves_while_the_platform_comes_and_goes(
    command: Command, still: EmbeddedPlatform
) -> None:
    words = ("metrics", "--listen", "0", "--refresh", "0.5")
    with command.on(still).start(*words) as child:
        port = served(child)
        told = until(port, lambda told: told.up() == {1.0})
        status, media, text = scrape(port)
        assert (status, media.split(";")[0]) == (200, "application/openmetrics-text")
        assert still.full_key not in text
        still.stop()
        down = until(port, lambda told: told.up() == {0.0})
        assert down.one("tasks_waiting", scope="all") == told.one("tasks_waiting", scope="all")
        assert down.of("budget_spent") == told.of("budget_spent")
        later = until(port, lambda told: min(told.of("feed_age_seconds")) > 1)
        assert sum(later.of("http_errors_total", error="refused")) >= len(later.of("feed_up"))
        # Nonsense and silence of others hold nothing up.
        with socket.create_connection(("127.0.0.1", port)) as silent:
            silent.sendall(b"GET /metr")
            with socket.create_connection(("127.0.0.1", port)) as odd:
                odd.sendall(b"\r\n\r\n")
                assert odd.recv(100).startswith(b"HTTP/1.1 405")
            assert scrape(port, "/")[0] == 404
            assert scrape(port, method="POST")[0] == 405
            assert scrape(port, method="HEAD")[2] == ""
            still.start()
            until(port, lambda told: told.up() == {1.0})
            # It records what the dashboard would.
            child.send_signal(signal.SIGTERM)
            assert child.wait(timeout=30) == 0
        assert "tasks" in command("history").out or command("history").code == 0


def test_a_file_is_whole_at_every_moment(command: Command, still: EmbeddedPlatform) -> None:
    path = command.home / "agentco.prom"
    command.on(still)
    assert command("metrics", "--textfile", str(path), "--once").code == 0
    first, seen, over = path.read_text(), set[str](), threading.Event()
    Told(first)

    def read() -> None:
        while not over.is_set():
            seen.add(path.read_text())

    reader = threading.Thread(target=read)
    with command.start("metrics", "--textfile", str(path), "--refresh", "0.5") as child:
        reader.start()
        while len(seen) < 4:
            assert child.poll() is None
            over.wait(0.05)
        child.terminate()
        assert child.wait(timeout=30) == 0
    over.set()
    reader.join()
    for text in seen:
        assert Told(text).up() == {1.0}
    assert [each.name for each in command.home.iterdir() if "agentco.prom" in each.name] == [
        path.name
    ]
    ran = command("metrics", "--textfile", str(command.home / "nowhere" / "x.prom"), "--once")
    assert (ran.code, "there is no folder" in ran.err) == (1, True)


def test_what_it_cannot_do_is_said(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.on(still)
    for place in ("here", "localhost:http", "1:2:99999"):
        ran = command("metrics", "--listen", place)
        assert (ran.code, "must be HOST:PORT" in ran.err) == (2, True)
    ran = command("metrics", "--listen", f"127.0.0.1:{still.port}")
    assert (ran.code, "nothing can be served there" in ran.err) == (2, True)
    ran = command("metrics", "--listen", "0", "--textfile", "x.prom")
    assert (ran.code, "not both" in ran.err) == (2, True)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    ran = command("metrics")
    assert (ran.code, "pip install 'agentco-tui[metrics]'" in ran.err) == (2, True)


def test_rules_and_docs_name_what_there_is(tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text()
    rules = re.search(r"```yaml\n(groups:.*?)```", readme, re.DOTALL)
    assert rules is not None
    named = set(re.findall(r"agentco_(\w+?)(?:_total)?\b", rules[1]))
    assert named
    assert named <= FAMILIES.keys()
    if promtool := shutil.which("promtool"):
        (tmp_path / "rules.yml").write_text(rules[1])
        check = [promtool, "check", "rules", str(tmp_path / "rules.yml")]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        assert "SUCCESS: 6 rules found" in done.stdout, done.stderr
    docs = (ROOT / "docs" / "metrics.md").read_text()
    for name, (words, labels) in FAMILIES.items():
        shown = ", ".join(f"`{label}`" for label in labels)
        assert f"| `agentco_{name}` | {shown} | {words} |" in docs


def test_at_the_first_start_the_past_is_read_and_only_then(
    command: Command, still: EmbeddedPlatform
) -> None:
    command.on(still)
    now = still.world.time()
    past = [entry.at for entry in still.world.activity() if entry.at >= now - PAST]
    asked: list[list[str]] = []
    for _ in range(2):
        still.requests.clear()
        with command.start("metrics", "--listen", "0", "--refresh", "0.5") as child:
            served(child)
            days, polls = list[str](), list[str]()
            while len(polls) < 5 or not (days or asked):
                with suppress(subprocess.TimeoutExpired):
                    child.wait(0.05)
                    pytest.fail("it has ended")
                queries = [seen.query for seen in still.requests.matching("activity")]
                days = [query for query in queries if "from=" in query]
                polls = [query for query in queries if "from=" not in query]
            child.terminate()
            assert child.wait(timeout=30) == 0
        asked.append(days)
    assert asked[0]
    assert not asked[1]
    assert not any("company_id" in query for query in asked[0])
    with reading(command.home / ".local" / "state" / "agentco-tui" / HISTORY_FILE) as connection:
        counts, seen = Reader(connection, 1).activity(now - PAST)
    assert sum(each.count for each in counts if each.at > now - PAST) == len(past)
    assert seen[0][0] <= now - PAST + 60


def test_the_history_tells_where_the_money_goes(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        path = command.home / ".local" / "state" / "agentco-tui" / HISTORY_FILE
        path.parent.mkdir(parents=True)
        history = History(path, "default", platform.base_url)
        for observed in past_of(platform.world):
            history.write([observed])
        history.close()
        told = Told(command.on(platform)("metrics").out)
        spent = told.one("budget_spent", scope="all")
        low, high = (told.one(f"budget_forecast_{end}", scope="all") for end in ("low", "high"))
        assert spent < low < high
        assert 0 <= told.one("budget_hit_probability_ratio", scope="all") <= 1
        assert told.one("budget_rate_per_hour", scope="all") > 0
        assert len(told.of("budget_burn_factor", scope="company")) == 3
        # What isn't known is not told as zero.
        (command.home / "config.toml").write_text("history = false\n")
        told = Told(command("metrics", "--config", "config.toml").out)
        assert told.up() == {1.0}
        assert told.of("budget_burn_factor") == told.of("budget_forecast_low") == []
