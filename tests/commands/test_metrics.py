"""`agentco-tui metrics`: parsed by the library's own parser, whatever the platform does."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path

import pytest

from agentco_tui.commands import metrics_collector
from agentco_tui.commands.demo_past import past_observations
from agentco_tui.commands.metrics_collector import FAMILIES
from agentco_tui.history.history import History
from agentco_tui.system.state_folder import HISTORY_FILE
from tests.commands.conftest import Child, Command
from tests.commands.test_tail import Lines
from tests.platform import EmbeddedPlatform

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
    assert told.one("needs", level="critical", kind="budget") == 2
    assert told.one("needs", level="warning", kind="stuck") == 1
    assert told.one("oldest_wait_seconds", scope="all") > 3_600
    assert told.one("series_left_out") == 0
    assert {request.method for request in still.requests} == {"GET"}
    globex = Told(command("metrics", "--company", "globex").out)
    assert [dict(labels)["name"] for name, labels in globex if name == "tasks_waiting"] == [
        "Globex"
    ]
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
    assert ran.code == 0
    assert (told.one("feed_up", feed="budget"), told.one("feed_up", feed="agents")) == (0, 1)
    assert told.of("feed_age_seconds", feed="budget") == []
    still.stop()
    ran = command("metrics")
    assert (ran.code, Told(ran.out).up()) == (3, {0.0})


def test_the_number_of_series_is_bounded(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics_collector, "MOST_SERIES", 300)
    with EmbeddedPlatform(speed=0, companies=20, agents=400, tasks=50) as platform:
        told = Told(command.on(platform)("metrics").out)
        assert len(told) == 300
        assert len(told.of("budget_spent", scope="company")) == 20
        assert told.one("series_left_out") > 400
        shown = told.of("budget_share_ratio", scope="agent")
        limited = (agent for agent in platform.world.agents() if agent.limit)
        shares = sorted((agent.spent / (agent.limit or 1) for agent in limited), reverse=True)
        assert sorted(shown, reverse=True) == pytest.approx(shares[: len(shown)], abs=1e-3)


def scrape(port: int) -> tuple[str, str]:
    """The media type and the text, asked for as Prometheus does."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request(
        "GET", "/metrics", headers={"Accept": "application/openmetrics-text;version=1.0.0,*/*"}
    )
    answer = connection.getresponse()
    assert answer.status == 200
    return answer.headers["content-type"], answer.read().decode()


def until(port: int, seen: Callable[[Told], bool]) -> Told:
    while True:
        told = Told(scrape(port)[1])
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
        media, text = scrape(port)
        assert media.startswith("application/openmetrics-text")
        assert still.full_key not in text
        # At the first start on a platform the past is read, whatever is polled.
        until(port, lambda _: any("from=" in each.query for each in still.requests))
        still.stop()
        down = until(port, lambda told: told.up() == {0.0})
        assert down.one("tasks_waiting", scope="all") == told.one("tasks_waiting", scope="all")
        assert down.of("budget_spent") == told.of("budget_spent")
        until(port, lambda told: min(told.of("feed_age_seconds")) > 1)
        with socket.create_connection(("127.0.0.1", port)) as silent:
            silent.sendall(b"GET /metr")  # holds nothing up
            still.start()
            until(port, lambda told: told.up() == {1.0})
            child.send_signal(signal.SIGTERM)
            assert child.wait(timeout=30) == 0
        assert command("history").code == 0


def test_a_key_that_is_replaced_in_its_file_is_taken_up(
    command: Command, still: EmbeddedPlatform
) -> None:
    new, path, log = "ag_canary_of_today_9c31", command.home / "the-key", command.home / "log"
    path.write_text(still.full_key)
    path.chmod(0o600)
    (command.home / "config.toml").write_text(
        f'[profiles.prod]\nbase_url = "{still.base_url}"\napi_key_file = "{path}"\n'
    )
    words = ("--config", "config.toml", "--profile", "prod", "--log-file", str(log))
    with command.start("metrics", "--listen", "0", "--refresh", "0.5", *words) as child:
        port = served(child)
        until(port, lambda told: told.up() == {1.0})
        still.keys["full"] = new
        until(port, lambda told: told.up() == {0.0})
        path.write_text(new)
        until(port, lambda told: told.up() == {1.0})
        child.terminate()
        assert child.wait(timeout=30) == 0
    assert new not in log.read_text()


def test_a_file_is_whole_at_every_moment(command: Command, still: EmbeddedPlatform) -> None:
    path = command.home / "agentco.prom"
    command.on(still)
    seen, over = set[str](), threading.Event()

    def read() -> None:
        while not over.is_set():
            if path.exists():
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
    ran = command("metrics", "--textfile", str(command.home / "nowhere" / "x.prom"))
    assert (ran.code, "there is no folder" in ran.err) == (1, True)


def test_what_it_cannot_do_is_said(
    command: Command, still: EmbeddedPlatform, monkeypatch: pytest.MonkeyPatch
) -> None:
    command.on(still)
    for place in ("here", "localhost:http", "1:2:99999"):
        ran = command("metrics", "--listen", place)
        assert (ran.code, "must be HOST:PORT" in ran.err) == (2, True)
    ran = command("metrics", "--listen", f"127.0.0.1:{still.port}")
    assert (ran.code, f"--listen: {os.strerror(errno.EADDRINUSE)}" in ran.err) == (2, True)
    ran = command("metrics", "--listen", "0", "--textfile", "x.prom")
    assert (ran.code, "exclude each other" in ran.err) == (2, True)
    monkeypatch.setitem(sys.modules, "prometheus_client", None)
    ran = command("metrics")
    assert (ran.code, "pip install 'agentco-tui[metrics]'" in ran.err) == (2, True)


def test_rules_and_docs_name_what_there_is(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "notifications.md").read_text()
    rules = re.search(r"```yaml\n(groups:.*?)```", page, re.DOTALL)
    assert rules is not None
    named = set(re.findall(r"agentco_(\w+?)(?:_total)?\b", rules[1]))
    assert named
    assert named <= FAMILIES.keys()
    if promtool := shutil.which("promtool"):
        (tmp_path / "rules.yml").write_text(rules[1])
        check = [promtool, "check", "rules", str(tmp_path / "rules.yml")]
        done = subprocess.run(check, capture_output=True, text=True, check=False)
        assert "SUCCESS: 5 rules found" in done.stdout, done.stderr
    docs = (ROOT / "docs" / "metrics.md").read_text()
    for name, (words, labels) in FAMILIES.items():
        shown = ", ".join(f"`{label}`" for label in labels)
        assert f"| `agentco_{name}` | {shown} | {words} |" in docs


def test_the_history_tells_where_the_money_goes(command: Command) -> None:
    with EmbeddedPlatform(speed=0) as platform:
        path = command.home / ".local" / "state" / "agentco-tui" / HISTORY_FILE
        path.parent.mkdir(parents=True)
        history = History(path, "default", platform.base_url)
        for observed in past_observations(platform.world):
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
