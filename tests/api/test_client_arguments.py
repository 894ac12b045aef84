"""What is wrong with an argument is said in a TypeError or ValueError, and nothing is sent."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Awaitable, Callable
from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api import errors
from agentco_tui.api.arguments_check import check_id, check_limit
from agentco_tui.api.client import Client, open_client
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.errors import AgentcoError, ApiError, WrongArgument, WrongArgumentType
from agentco_tui.config import SettingsError
from tests.api.canary import client_of
from tests.api.wire_server import answering, http

Call = Callable[[Client, Any], Awaitable[object]]


async def exported(client: Client, **arguments: Any) -> None:
    async with client.export_activity(**arguments):
        pass


IDS: dict[str, Call] = {
    "company": lambda c, v: c.company(v),
    "clone_company": lambda c, v: c.clone_company(v, "n"),
    "agent": lambda c, v: c.agent(v),
    "approve_task": lambda c, v: c.approve_task(v),
    "task_trace": lambda c, v: c.task_trace(v),
    "set_agent_limit": lambda c, v: c.set_agent_limit(v, Decimal(1)),
    "create_task company": lambda c, v: c.create_task(v, "t", "ag", "high"),
    "create_task agent": lambda c, v: c.create_task("cmp", "t", v, "high"),
}
OPTIONAL_IDS: dict[str, Call] = {
    "agents": lambda c, v: c.agents(v),
    "tasks": lambda c, v: c.tasks(v),
    "activity company": lambda c, v: c.activity(v),
    "activity agent": lambda c, v: c.activity(agent_id=v),
    "agent_budgets": lambda c, v: c.agent_budgets(v),
}
TEXTS: dict[str, Call] = {
    "create_company": lambda c, v: c.create_company(v),
    "clone_company name": lambda c, v: c.clone_company("cmp", v),
    "create_task title": lambda c, v: c.create_task("cmp", v, "ag", "high"),
    "create_task priority": lambda c, v: c.create_task("cmp", "t", "ag", v),
    "export": lambda c, v: exported(c, file_format=v),
}
OPTIONAL_TEXTS: dict[str, Call] = {
    "template": lambda c, v: c.create_company("n", v),
    "mission": lambda c, v: c.create_company("n", None, v),
    "clone mission": lambda c, v: c.clone_company("cmp", "n", v),
}
NO_ID = [
    "",
    "  ",
    "\u00a0",
    "a\0b",
    "run_1\0002",
    "\x1b[31m",
    "a\nb",
    "a\x7f",
    "a\x85b",
    "\ud800",
    "x" * 2_001,
]
NO_TEXT = [3, b"x", True, ["x"], object()]


async def refused(call: Call, value: object, kind: type[Exception]) -> None:
    async with answering(http()) as server, client_of(server) as client:
        with pytest.raises(kind) as caught:
            await call(client, value)
        assert isinstance(caught.value, ApiError)
        assert isinstance(caught.value, AgentcoError)
        assert caught.value.sent is errors.Sent.NO
        assert str(caught.value).isprintable()
        assert server.connections == 0


@pytest.mark.parametrize("name", [*IDS, *OPTIONAL_IDS])
async def test_an_id_is_a_text_of_printable_characters(name: str) -> None:
    call = (IDS | OPTIONAL_IDS)[name]
    for value in NO_ID:
        await refused(call, value, ValueError)
    for wrong in [*NO_TEXT, *([None] if name in IDS else [])]:
        await refused(call, wrong, TypeError)


@pytest.mark.parametrize("name", [*TEXTS, *OPTIONAL_TEXTS])
async def test_a_text_is_a_text(name: str) -> None:
    call = (TEXTS | OPTIONAL_TEXTS)[name]
    await refused(call, "\ud800", ValueError)
    for wrong in [*NO_TEXT, *([None] if name in TEXTS else [])]:
        await refused(call, wrong, TypeError)
    if name in TEXTS:
        await refused(call, "", ValueError)
        await refused(call, " \t", ValueError)


@pytest.mark.parametrize("value", ["NaN", "sNaN", "Infinity", "-Infinity", "-1", "-0.01", "1E+99"])
async def test_a_limit_is_a_sum(value: str) -> None:
    await refused(lambda c, v: c.set_agent_limit("ag", v), Decimal(value), ValueError)


@pytest.mark.parametrize("value", [1.5, "5", True, None, float("nan"), b"5"])
async def test_a_limit_is_a_decimal_or_an_int(value: object) -> None:
    await refused(lambda c, v: c.set_agent_limit("ag", v), value, TypeError)


async def test_a_limit_may_be_an_int() -> None:
    async with answering(http(b"{}")) as server, client_of(server) as client:
        await client.set_agent_limit("ag", 250)
    assert server.requests[0].endswith(b'{"monthly_limit":250}')


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [
        ({"limit": "5"}, TypeError),
        ({"limit": True}, TypeError),
        ({"limit": 0}, ValueError),
        ({"limit": -1}, ValueError),
        ({"from_date": "2026-01-01"}, TypeError),
        ({"to_date": 20_260_101}, TypeError),
        ({"from_date": date(2026, 2, 1), "to_date": date(2026, 1, 1)}, ValueError),
    ],
)
async def test_what_is_asked_of_the_log(arguments: Any, kind: type[Exception]) -> None:
    await refused(lambda c, v: c.activity(**v), arguments, kind)


async def test_an_attempt_id_is_a_word() -> None:
    for value in ("", "a\nb", "a b", "ä", "x" * 256):
        await refused(lambda c, v: c.approve_task("t", attempt_id=v), value, ValueError)
    await refused(lambda c, v: c.approve_task("t", attempt_id=v), 5, TypeError)
    await refused(lambda c, v: c.tasks(status=v), 5, TypeError)
    await refused(lambda c, v: c.tasks(status=v), "", ValueError)
    await refused(lambda c, v: exported(c, cap=v), "5", TypeError)
    await refused(lambda c, v: c.tasks(begins=v), "x", TypeError)
    await refused(lambda c, v: c.approve_task("t", why_withheld=v), "x", TypeError)


def test_a_client_needs_an_address_and_a_key() -> None:
    address, key = BaseUrl.parse("https://h.example"), ApiKey("ag_1")
    wrong_type: list[Callable[[], object]] = [
        lambda: open_client("https://h.example", key),  # type: ignore[arg-type]
        lambda: open_client(address, "ag_1"),  # type: ignore[arg-type]
        lambda: open_client(address, key, mapping={"agent": {}}),  # type: ignore[arg-type]
        lambda: open_client(address, key, attempts="3"),  # type: ignore[arg-type]
        lambda: ApiKey.parse(None),  # type: ignore[arg-type]
        lambda: ApiKey(b"ag_1"),  # type: ignore[arg-type]
        lambda: BaseUrl.parse(None),  # type: ignore[arg-type]
        lambda: BaseUrl.parse(b"https://h.example"),  # type: ignore[arg-type]
    ]
    for make in wrong_type:
        with pytest.raises(TypeError) as caught:
            make()
        assert isinstance(caught.value, AgentcoError)
        assert "must be" in str(caught.value)
        assert "ag_1" not in str(caught.value)


def test_all_errors_have_one_base_class() -> None:
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, Exception):
            assert issubclass(kind, AgentcoError), name
    assert issubclass(CredentialError, AgentcoError)
    assert issubclass(CredentialError, ValueError)
    assert issubclass(SettingsError, AgentcoError)
    assert issubclass(WrongArgument, ValueError)
    assert issubclass(WrongArgumentType, TypeError)


@pytest.mark.parametrize("module", ["client", "credentials", "errors", "records"])
def test_all_says_what_is_public(module: str) -> None:
    found = importlib.import_module(f"agentco_tui.api.{module}")
    assert sorted(found.__all__) == list(found.__all__)
    for name in found.__all__:
        assert not inspect.ismodule(getattr(found, name))
    namespace: dict[str, Any] = {}
    exec(f"from agentco_tui.api.{module} import *", namespace)
    assert set(namespace) - {"__builtins__"} == set(found.__all__)
    if module == "errors":
        kinds = {name for name, kind in vars(found).items() if inspect.isclass(kind)}
        mine = {name for name in kinds if getattr(found, name).__module__ == found.__name__}
        assert mine == set(found.__all__)


@given(st.text() | st.integers() | st.none() | st.binary())
def test_an_id_passes_as_it_is_or_raises(value: object) -> None:
    try:
        assert check_id(value, "task_id") is value
    except WrongArgumentType:
        assert not isinstance(value, str)
    except WrongArgument:
        assert isinstance(value, str)
    else:
        assert isinstance(value, str)
        assert value.encode()
        assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in value)


@given(st.decimals() | st.integers() | st.floats() | st.booleans() | st.none())
def test_a_limit_passes_or_raises(value: object) -> None:
    try:
        amount = check_limit(value, "monthly_limit")
    except (WrongArgumentType, WrongArgument):
        return
    assert amount.is_finite()
    assert amount >= 0
    assert not isinstance(value, bool | float)
