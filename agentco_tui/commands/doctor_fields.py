"""`agentco-tui doctor --fields`: which of our fields was read from which of the platform's."""

from __future__ import annotations

from typing import Final

from agentco_tui.api.errors import ApiError, KeyRejected, Unreachable
from agentco_tui.commands.output import Exit, error_json, say, say_json
from agentco_tui.commands.running import connected
from agentco_tui.config import Settings
from agentco_tui.reading.decode import Unshaped
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.kinds import mappable
from agentco_tui.reading.mapping import FieldReport, report_fields
from agentco_tui.text import SafeText, fit, signs

PATHS: Final = {
    "company": "/api/companies", "agent": "/api/agents", "task": "/api/tasks",
    "company_budget": "/api/budget/companies", "agent_budget": "/api/budget/agents",
    "budget": "/api/budget", "alert": "/api/budget/alerts", "activity": "/api/activity",
}  # fmt: skip
"""What is asked for each kind of record: one page of it."""


async def examine(settings: Settings, *, as_json: bool) -> int:
    """Read one page of each kind and tell; 0 if each was read, else 3. Changes nothing."""
    told: dict[str, object] = {}
    failed = False
    company = settings.company
    async with connected(settings) as client:
        for name, kind in mappable().items():
            scoped = company is not None and name in ("agent", "task", "agent_budget")
            params = (("company_id", str(company)),) if scoped else ()
            found: FieldReport | ApiError | SafeText
            try:
                reply = await client.transport.request("GET", PATHS[name], params=params)
                found = report_fields(name, client.mapping.kind(kind), parse_json(reply.body))
            except ApiError as error:
                found = error
            except Unshaped as error:
                found = error.sentence
            except BodyError as error:
                found = error.reason
            failed = failed or not isinstance(found, FieldReport)
            if as_json:
                told[name] = _as_json(found)
            else:
                say(*_lines(name, found), "")
            if isinstance(found, Unreachable | KeyRejected):
                break
    if as_json:
        say_json({"kinds": told})
    else:
        say('what is left over can be read: [profiles.NAME.fields.KIND] our_field = "its.name"')
    return Exit.NO_ANSWER if failed else Exit.OK


def _lines(kind: str, found: FieldReport | ApiError | SafeText) -> list[str]:
    if not isinstance(found, FieldReport):
        return [f"{signs.warning} {kind} ({PATHS[kind]}): {found}"]
    lines = [f"{kind} ({PATHS[kind]}), {found.records} records"]
    for each in found.read:
        unit = f", {each.unit}" if each.unit else ""
        lines.append(f"  {fit(SafeText(each.field), 15)} {each.name}{unit}: {each.sample}")
    if found.missing:
        lines.append(f"  missing:   {', '.join(found.missing)}")
    if found.left:
        lines.append(f"  left over: {', '.join(found.left)}")
    return lines


def _as_json(found: FieldReport | ApiError | SafeText) -> object:
    if isinstance(found, ApiError):
        return {"error": error_json(found)}
    if not isinstance(found, FieldReport):
        return {"error": {"message": found}}
    return {
        "records": found.records,
        "read": {
            each.field: {
                "name": each.name, "unit": each.unit, "sample": each.sample, "records": each.rows
            }
            for each in found.read
        },
        "missing": found.missing,
        "left_over": found.left,
    }  # fmt: skip
