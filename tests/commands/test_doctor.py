"""`agentco-tui doctor`: what answers and what does not."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest

from agentco_tui.actions.journal_lines import Attempt, Settled, to_line
from agentco_tui.api.generic import CAPABILITIES
from agentco_tui.commands.doctor import write_requests
from agentco_tui.commands.doctor_terminal import describe_terminal
from agentco_tui.model.format import stamp
from agentco_tui.terminal.fitness import Fitness
from tests.commands.conftest import Command
from tests.live.poller_harness import ChoosyPlatform
from tests.platform import EmbeddedPlatform

READS = 11  # and the export, which some platforms log


def test_everything_answers(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still, key=still.read_key)("doctor")
    assert ran.code == 0, ran.out
    assert {request.method for request in still.requests} == {"GET"}
    assert len({request.operation for request in still.requests}) == READS
    assert f"{READS} of {READS} reads answered" in ran.out
    assert sum(line.startswith("● GET /api/") for line in ran.lines) == READS
    assert "◌ GET /api/activity/export      not sent: some platforms log who exports" in ran.lines
    assert "3 records" in ran.out
    assert "writes were not tried" in ran.out
    assert "plain http, on this machine only" in ran.out
    assert "from AGENTCO_API_KEY, read only at the start" in ran.out
    assert still.read_key not in ran.out + ran.err
    assert "the clocks agree" in ran.out or "clock is" in ran.out  # a world that stands still


def test_a_company_by_its_name(command: Command, still: EmbeddedPlatform) -> None:
    globex = next(each for each in still.world.state.companies.values() if each.name == "Globex")
    for words in (("doctor",), ("doctor", "--fields")):
        still.requests.clear()
        assert command.on(still)(*words, "--company", "GLOBEX").code == 0
        assert f"company_id={globex.id}" in {request.query for request in still.requests}
        ran = command(*words, "--company", "umbrella")
        assert (ran.code, "no company has the name or id umbrella" in ran.err) == (2, True)


def test_json_has_it_all(command: Command, still: EmbeddedPlatform) -> None:
    still.faults.add("*:hostile")
    out = command.on(still).process("doctor", "--json").out
    assert out.isascii()
    told = json.loads(out)
    assert (told["ok"], told["tls"], told["key_source"]) == (True, False, "AGENTCO_API_KEY")
    assert told["sources"]["base_url"] == "AGENTCO_BASE_URL"
    assert len(told["reads"]) == READS + 1
    companies = told["reads"][0]
    assert (companies["operation"], companies["records"]) == ("GET /api/companies", 3)
    assert companies["shape"]
    assert companies["seconds"] > 0
    assert told["terminal"]["fits"] is False
    assert "standard output" in told["terminal"]["refusal"]


def test_what_the_key_may_not_do(command: Command, still: EmbeddedPlatform) -> None:
    still.faults.add("GET /api/budget/**:status=403")
    ran = command.on(still)("doctor", "--json")
    told = json.loads(ran.out)
    assert ran.code == 3
    assert told["permissions"]["GET /api/budget/alerts"] == "denied"
    assert told["permissions"]["GET /api/companies"] == "allowed"
    assert {told["permissions"][write] for write in write_requests(CAPABILITIES).values()} == {
        "not tried"
    }
    assert told["permissions"]["GET /api/activity/export"] == "not tried"
    assert told["last_writes"] == {}
    assert "the key may not: GET /api/budget/companies" in command("doctor").out
    assert not still.requests.matching("export")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("GET /api/budget/**:status=500", "3 reads that failed"),
        ("alerts:bad_json", "1 read that failed"),
        ("reads:status=500", "no read was answered"),
        ("GET /api/budget/**:status=404", "3 reads that failed"),
    ],
)
def test_it_concludes_nothing_from_reads_that_failed(
    command: Command, still: EmbeddedPlatform, fault: str, said: str
) -> None:
    still.faults.add(fault)
    out = command.on(still)("doctor").out
    assert "everything" not in out
    assert said in out
    assert "is not known" in out
    still.faults.clear()
    assert "the key may read everything that was requested" in command("doctor").out


@pytest.mark.parametrize("words", [("doctor",), ("doctor", "--fields"), ("doctor", "--json")])
def test_no_address_is_doubted_that_answers_later_requests(
    command: Command, still: EmbeddedPlatform, words: tuple[str, ...]
) -> None:
    still.faults.add("GET /api/companies:status=404")
    still.faults.add("GET /api/agents:status=404")
    ran = command.on(still)(*words)
    assert ran.code == 3
    assert "check base_url" not in ran.out
    for path in ("/api/companies", "/api/agents"):
        assert f"has no {path} (404), though it answers at other paths" in ran.out
    order = ["/api/companies", "/api/agents", "/api/tasks", "/api/budget/alerts"]
    assert sorted(order, key=ran.out.index) == order


@pytest.mark.parametrize("words", [("doctor",), ("doctor", "--fields"), ("doctor", "--json")])
def test_an_address_that_answers_nothing_is_doubted(
    command: Command, still: EmbeddedPlatform, words: tuple[str, ...]
) -> None:
    still.faults.add("reads:status=404")
    ran = command.on(still)(*words)
    assert ran.code == 3
    assert "has no /api/companies (404): check base_url, which ends before /api" in ran.out
    assert "though it answers" not in ran.out


def test_of_writes_it_tells_what_became_of_the_last_ones_from_here(
    command: Command, still: EmbeddedPlatform
) -> None:
    told: list[Attempt | Settled] = []
    for turn, (verb, became, origin) in enumerate(
        [
            ("approve", "not allowed", still.base_url),
            ("approve", "approved here", still.base_url.upper()),
            ("set limit", "not allowed", still.base_url),
            ("clone company", "done", "https://other.example"),
            ("create task", "unclear", still.base_url),
        ]
    ):
        named: dict[str, Any] = {"attempt": f"{turn}", "time": stamp(1_790_000_000.0 + turn)}
        named |= {"origin": origin, "profile": "default", "verb": verb}
        told += [Attempt(**named), Settled(**named, outcome=became)]
    journal = command.home / ".local" / "state" / "agentco-tui" / "journal.jsonl"
    journal.parent.mkdir(parents=True)
    journal.write_bytes(b"".join(map(to_line, told)))
    ran = command.on(still)("doctor")
    lines = [line for line in ran.lines if line.startswith("  ")]
    found = {line[2:18].strip(): line[18:].split(",")[0] for line in lines}
    never = "not known: never done from here"
    assert {verb: found[verb] for verb in write_requests(CAPABILITIES)} == {
        "approve": "allowed", "set limit": "denied", "create task": never,
        "create company": never, "clone company": never,
    }  # fmt: skip
    assert any("allowed, as of 2026-09-21" in line for line in lines)
    assert {request.method for request in still.requests} == {"GET"}


def test_it_does_not_point_at_itself(command: Command) -> None:
    weather = b'{"weather": "fine"}'
    with ChoosyPlatform(lambda path, query: weather if path == "/api/agents" else query) as odd:
        ran = command.on(odd)("doctor")
    [line] = [line for line in ran.lines if line.startswith("✖ GET /api/agents ")]
    assert "in no known shape" in line
    assert "agentco-tui doctor`" not in line


def test_a_wrong_key_ends_the_questions(command: Command, still: EmbeddedPlatform) -> None:
    ran = command.on(still, key="ag_wrong-key-0123456789")("doctor")
    assert ran.code == 3
    assert "the key is not accepted" in ran.out
    # And without a key, whether it is a known platform with another interface.
    assert [request.path for request in still.requests] == ["/api/companies", "/api/health"]


def test_nobody_there(command: Command, still: EmbeddedPlatform) -> None:
    command.on(still)
    still.stop()
    ran = command("doctor")
    still.start()
    assert ran.code == 3
    assert "0 of 1 reads answered" in ran.out


@pytest.mark.parametrize(
    "kind", ["bad_json", "status=200,body=html", "status=503,retry_after=0", "cut"]
)
def test_one_answer_that_is_none(command: Command, still: EmbeddedPlatform, kind: str) -> None:
    still.faults.add(f"agents:{kind}")
    ran = command.on(still)("doctor")
    assert ran.code == 3
    assert any(line.startswith("✖ GET /api/agents ") for line in ran.lines)


def test_an_empty_platform_is_no_failure(command: Command) -> None:
    with EmbeddedPlatform(speed=0, companies=0, agents=0, tasks=0) as platform:
        ran = command.on(platform)("doctor")
    assert ran.code == 0, ran.out
    assert "not sent: no task is known" in ran.out


def test_a_clock_that_is_off(command: Command, still: EmbeddedPlatform) -> None:
    still.faults.add("*:clock=1h")
    ran = command.on(still)("doctor")
    assert re.search(r"clock is (1 h 00 m|59 m \d\d s) ahead of this machine's", ran.out)


def _fitness(**changed: Any) -> Fitness:
    good = Fitness(None, False, 256, 120, 40, "xterm-256color", "utf-8")
    return msgspec.structs.replace(good, **changed)


def test_a_good_terminal_needs_no_hint() -> None:
    found = describe_terminal(_fitness(), {})
    assert (found["fits"], found["hints"]) == (True, [])
    assert (found["multiplexer"], found["ssh"]) == (None, False)
    assert found["clipboard"] == "the terminal (OSC 52)"
    found = describe_terminal(_fitness(refusal="no"), {"TMUX": "x", "SSH_CONNECTION": "y"})
    assert (found["fits"], found["multiplexer"], found["ssh"]) == (False, "tmux", True)


@pytest.mark.parametrize(
    ("changed", "env", "words"),
    [
        ({"columns": 39}, {}, "40 columns and 12 rows"),
        ({"rows": 11}, {}, "40 columns and 12 rows"),
        ({"ascii": True}, {}, "UTF-8"),
        ({}, {"NO_COLOR": ""}, "NO_COLOR"),
        ({"colours": 16, "term": "xterm"}, {}, "TERM=xterm-256color"),
        ({"term": "tmux-256color"}, {"TMUX": "x"}, "set-clipboard on"),
        ({"term": "xterm"}, {"TMUX": "x"}, "is xterm"),
        ({}, {"STY": "x"}, "screen"),
        ({"term": "tmux-256color"}, {"TMUX": "x"}, "allow-passthrough on"),
    ],
)
def test_hints(changed: dict[str, Any], env: dict[str, str], words: str) -> None:
    assert any(words in hint for hint in describe_terminal(_fitness(**changed), env)["hints"])


def test_each_kind_tells_its_names_units_and_samples(
    command: Command, still: EmbeddedPlatform
) -> None:
    ran = command.on(still)("doctor", "--fields")
    assert ran.code == 0, ran.out
    (limit,) = [line for line in ran.lines if line.startswith("  limit ") and "monthly" in line][:1]
    assert "monthly_limit, unit assumed of USD: " in limit
    for kind in ("agent_budget (/api/budget/agents), ", "agent (/api/agents), ", "activity (/"):
        assert any(line.startswith(kind) for line in ran.lines), kind
    assert "    warn            the share at which the platform warns" in ran.lines
    assert any("[profiles.default.fields.task]" in line for line in ran.lines)
    assert still.full_key not in ran.out
    assert {request.method for request in still.requests} == {"GET"}


def test_fields_as_json(command: Command, still: EmbeddedPlatform) -> None:
    told = json.loads(command.on(still)("doctor", "--fields", "--json").out)["kinds"]
    read = told["agent_budget"]["read"]
    assert read["spent"]["name"] == "spent"
    assert read["agent_id"]["sample"].startswith('"')
    assert "warn" in told["agent_budget"]["missing"]
    assert "soft" not in told["agent_budget"]["missing"]
    assert "paused_agents" in told["budget"]["left_over"]


@pytest.mark.parametrize("flag", [(), ("--json",)])
def test_fields_that_cannot_be_read_are_told(
    command: Command, still: EmbeddedPlatform, flag: tuple[str, ...]
) -> None:
    still.faults.add("GET /api/budget/alerts:status=403")
    ran = command.on(still)("doctor", "--fields", *flag)
    assert ran.code == 3
    assert "lacks the permission" in ran.out


@pytest.mark.parametrize(
    ("given", "lacks"),
    [
        ({}, []),
        ({"from": None, "to": None}, ["from and to ignored"]),
        ({"limit": "30"}, ["30 entries at most"]),
    ],
)
def test_what_of_the_log_is_not_given(
    command: Command, given: dict[str, str | None], lacks: list[str]
) -> None:
    def choice(path: str, query: dict[str, str]) -> dict[str, str]:
        if path != "/api/activity":
            return query
        return {name: value for name, value in {**query, **given}.items() if value is not None}

    with ChoosyPlatform(choice) as platform:
        assert json.loads(command.on(platform)("doctor", "--json").out)["log_lacks"] == lacks
        told = [line for line in command("doctor").lines if "limits of the activity log" in line]
        assert told == [f"▲ limits of the activity log: {words}" for words in lacks]
