"""Records that differ by more than the writing of their keys (SHAPES B, D, E, G)."""

from __future__ import annotations

import zlib

from agentco_tui.demo.fields import Fields, Link
from agentco_tui.demo.shape import LIST_KEY, Json
from agentco_tui.demo.styles import Style, cash, moment, rekey


def record_id(fields: Fields) -> str:
    """The id of a record; of a budget the id of what it is for."""
    if "id" in fields:
        return str(fields["id"])
    named = fields.get("agent") or fields.get("company")
    return named.id if isinstance(named, Link) else "all"


def jsonapi(kind: str, fields: Fields, dressed: Json) -> Json:
    """B9: fields under `attributes`, references under `relationships`, names in `included`."""
    attributes = dict(dressed)
    attributes.pop("id", None)
    relationships: dict[str, Json] = {}
    included: list[Json] = []
    for name in ("company", "agent", "task"):
        attributes.pop(f"{name}Id", None)
        attributes.pop(f"{name}Name", None)
        target = fields.get(name)
        if not isinstance(target, Link):
            continue
        plural = {"company": "companies"}.get(name, f"{name}s")
        relationships[name] = {"data": {"type": plural, "id": target.id}}
        included.append({"type": plural, "id": target.id, "attributes": {"name": target.name}})
    return {
        "type": LIST_KEY.get(kind, "budgets"),
        "id": record_id(fields),
        "attributes": attributes,
        "relationships": relationships,
        "included": included,
    }


def hal(kind: str, fields: Fields, dressed: Json) -> Json:
    """Every record carries links to itself."""
    plural = LIST_KEY.get(kind, "budgets")
    return {**dressed, "_links": {"self": {"href": f"/api/{plural}/{record_id(fields)}"}}}


def without_id(_kind: str, _fields: Fields, dressed: Json) -> Json:
    """A38: the id is the key under which the record stands."""
    return {key: value for key, value in dressed.items() if key != "id"}


def provider_object(kind: str, _fields: Fields, dressed: Json) -> Json:
    """OpenFang's detail: the model is an object."""
    if kind != "agents":
        return dressed
    return {**dressed, "model": {"provider": "in-house", "model": dressed["model"]}}


def provider_flat(kind: str, _fields: Fields, dressed: Json) -> Json:
    """OpenFang's list: provider and model name lie flat."""
    if kind != "agents":
        return dressed
    kept = {key: value for key, value in dressed.items() if key != "model"}
    model = dressed["model"]
    return {**kept, "model_provider": model["provider"], "model_name": model["model"]}


def spend_above_limit(kind: str, fields: Fields, dressed: Json) -> Json:
    """B8: `spend` one level above `max_budget`."""
    if not kind.endswith("budgets"):
        return dressed
    kept = {key: dressed[key] for key in ("agent", "company") if key in dressed}
    limit = fields["monthly_limit"].micros
    return {
        **kept,
        "spend": fields["spent"].micros / 1_000_000,
        "budget": {"max_budget": limit and limit / 1_000_000, "soft_budget": None},
        "budget_duration": "1mo",
        "budget_reset_at": dressed["resets_at"],
    }


def aws_budget(kind: str, fields: Fields, dressed: Json) -> Json:
    """D: BudgetLimit and CalculatedSpend, each an amount with a unit."""
    if not kind.endswith("budgets") and kind != "overview":
        return dressed
    style = Style(keys="pascal", money="object")

    def amount(name: str) -> Json:
        told = cash(name, fields[name].micros, style)[name]
        return told and {rekey(key, "pascal"): value for key, value in told.items()}

    kept = {key: dressed[key] for key in dressed if key.endswith(("Id", "Name"))}
    body: dict[str, Json] = {
        **kept,
        "BudgetType": "COST",
        "TimeUnit": "MONTHLY",
        "CalculatedSpend": {
            "ActualSpend": amount("spent"),
            "ForecastedSpend": amount("forecast"),
        },
    }
    if fields["monthly_limit"].micros is not None:
        body["BudgetLimit"] = amount("monthly_limit")
    return body


def audit_by_verb(kind: str, fields: Fields, dressed: Json) -> Json:
    """E: what happened stands under a key that is the verb itself; `actor` is an object."""
    if kind != "activity":
        return dressed
    agent = fields["agent"]
    actor: Json = {"type": "session", "user": {"name": fields["actor"]}}
    if agent is not None and fields["actor"] is None:
        actor = {"type": "agent", "id": agent.id, "name": agent.name}
    return {
        "id": fields["id"],
        "type": fields["action"],
        "effective_at": moment(fields["timestamp"].at, "epoch"),
        "actor": actor,
        "company_id": fields["company"].id if fields["company"] else None,
        "severity": fields["level"].word,
        fields["action"]: {"message": fields["message"]},
    }


def audit_by_entity(kind: str, fields: Fields, dressed: Json) -> Json:
    """E: actorType, entityType and a `details` object; no sentence of its own."""
    if kind != "activity":
        return dressed
    by_person = fields["actor"] is not None
    agent, task = fields["agent"], fields["task"]
    entity = task or agent or fields["company"]
    return {
        "id": fields["id"],
        "companyId": fields["company"].id if fields["company"] else None,
        "actorType": "user" if by_person else "agent",
        "actorId": fields["actor"] if by_person else agent and agent.id,
        "agentId": agent.id if agent else None,
        "action": fields["action"],
        "entityType": "task" if task else "agent" if agent else "company",
        "entityId": entity.id if entity else None,
        "details": {"taskTitle": task and task.name, "note": fields["message"]},
        "level": {"warning": "warn"}.get(fields["level"].word, fields["level"].word),
        "createdAt": dressed["createdAt"],
    }


def _dice(fields: Fields, of: int) -> int:
    return zlib.crc32(record_id(fields).encode()) % of


def sparse(kind: str, fields: Fields, dressed: Json) -> Json:
    """Fields that are not there: titles, names, statuses, references, whole sums."""
    told = dict(dressed)
    turn = _dice(fields, 6)
    if kind == "tasks":
        title = told["title"]
        if turn == 0:
            del told["title"]
            told["name"] = title
        elif turn == 1:
            del told["title"]
            told["summary"] = title
        elif turn == 2:
            del told["title"]
            told["payload"] = {"action": title, "version": 1}
        elif turn == 3:
            told = {"id": told["id"], "type": "approval_request", "created_at": told["created_at"]}
        elif turn == 4:
            told.pop("agent_id", None)
            told["title"] = ""
            told["description"] = None
        told.pop("status", None) if turn == 5 else None
    elif kind == "agents":
        if turn == 0:
            told.pop("name")
        told["trust_score"] = None if turn < 2 else told.get("trust_score")
        if turn == 3:
            told.pop("budget_remaining", None)
    elif kind == "activity":
        if turn == 0:
            told.pop("message")
        if turn == 1:
            told.pop("timestamp")
        if turn == 2:
            told.pop("id")
    elif kind.endswith("budgets") and turn == 0:
        told.pop("spent", None)
    elif kind == "alerts" and turn < 3:
        told.pop("message")
    return told


def mixed(kind: str, fields: Fields, dressed: Json) -> Json:
    """Other writings for each endpoint, and broken fields in some records."""
    told = dict(dressed)
    turn = _dice(fields, 7)
    if kind == "tasks":
        told["created_at"] = moment(fields["created_at"].at, "epoch_ms")
        if turn == 0:
            told["agent_id"] = {"unexpected": ["object"]}
        if turn == 1:
            told["priority"] = 3
        if turn == 2:
            told["created_at"] = "yesterday"
        if turn == 3:
            told["estimated_cost"] = "n/a"
    elif kind == "agents":
        told = {rekey(key, "camel"): value for key, value in told.items()}
        if turn == 0:
            told["trustScore"] = "high"
    elif kind == "activity":
        told["timestamp"] = moment(fields["timestamp"].at, "spaced")
        if turn == 0:
            told["message"] = ["not", "a", "text"]
    return told
