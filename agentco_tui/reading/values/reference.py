"""Identifiers, and references from one record to another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import unquote

from agentco_tui.model import Ref
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.reader_result import EMPTY, Incomplete
from agentco_tui.reading.schema import Table
from agentco_tui.reading.unknown_fields import hide_keys
from agentco_tui.reading.values.scalar import text_only
from agentco_tui.text import SafeText, safe
from agentco_tui.text.patterns import lazy_pattern

COMPANY: Final = "company organization organisation org workspace tenant account"
"""What a company is called in the records that belong to it."""

_MAX_ID: Final = 1_000
_LIKE_ID: Final = lazy_pattern(
    r"\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64}"
    r"|[a-z]{1,12}_[\w.:+-]*\d[\w.:+-]*|(?:ag|agt|agent|cmp|co|comp|company|tsk|task|usr|user|org)_\S+"
    r"|[A-Z]{2,10}-\d+|[a-z]{1,12}-\d+|[a-z]{1,3}\d+|[0-9A-HJKMNP-TV-Z]{26}",
    re.ASCII,
)
_PATH: Final = lazy_pattern(r"(?:https?://[^/\s]+)?(?:/[\w.:%~+-]+)+/?\Z|urn:[\w:.-]+\Z", re.ASCII)
_RESOURCE: Final = lazy_pattern(
    r"(?:[\w.~%-]+/)*(?:agents|assistants|companies|organizations|tasks|users)/[\w.~%-]+\Z",
    re.ASCII,
)
"""`companies/c1/agents/ag_1`: what Google's interfaces call a name."""


def to_id(raw: Json) -> Any:
    """`raw` as an identifier, exactly as sent; whole numbers as their digits; else None."""
    if type(raw) is str:
        if not raw or raw.isspace():
            return EMPTY
        if len(raw) > _MAX_ID:
            return None
        # JSON-LD has an address for an identifier; the platform's own is at its end.
        if raw[0] in "/h" and raw.startswith(("/", "http")) and _PATH.match(raw):
            return unquote(raw.rstrip("/").rpartition("/")[2])
        return raw
    if type(raw) is Decimal and raw.is_finite() and abs(raw.adjusted()) < 40:
        return str(int(raw)) if raw == raw.to_integral_value() else None
    if type(raw) is dict and len(raw) <= 4:
        for name in ("$oid", "id", "_id", "value", "uuid"):
            if raw.get(name) is not None and type(raw[name]) is not dict:
                found = to_id(raw[name])
                return found if len(raw) == 1 or type(found) is not str else Incomplete(found)
    return str(raw) if type(raw) is int else None


_SECRET_FROM: Final = 24


def to_key(raw: Json) -> Any:
    """An identifier under the name `key`: `ACT-1778`, but never what may be an API key."""
    if type(raw) is str and (len(raw) > _SECRET_FROM or hide_keys(raw) != raw):
        return None
    return to_id(raw)


def looks_like_id(text: str) -> bool:
    """True if a text given for a reference is rather an identifier than a name."""
    return len(text) <= 200 and _LIKE_ID.fullmatch(text) is not None


def to_ref(raw: Json) -> Any:
    """A reference: an id, a name, a path that ends in the id, an object, or a list's first."""
    if raw in ("", [], {}) or (type(raw) is str and raw.isspace()):
        return EMPTY
    if type(raw) is str:
        if looks_like_id(raw):
            return Ref(raw, None)
        if len(raw) < 300 and (_PATH.match(raw) or _RESOURCE.match(raw)):
            return Ref(re.split(r"[/:]", raw.rstrip("/"))[-1], None)
        return Ref(None, safe(raw))
    if type(raw) is int:
        return Ref(str(raw), None)
    if type(raw) is dict:
        return _from_object(raw)
    if type(raw) is list:
        first = to_ref(raw[0])
        return Incomplete(first) if isinstance(first, Ref) and len(raw) > 1 else first
    return None


def to_ref_id(raw: Json) -> Any:
    """A reference under a name that says "id": a text is never a name."""
    if type(raw) is str:
        return Ref(raw, None) if raw and not raw.isspace() and len(raw) <= _MAX_ID else EMPTY
    return to_ref(raw)


def to_ref_name(raw: Json) -> Any:
    """A reference under a name that says "name": a text is never an id."""
    if type(raw) is str:
        return Ref(None, safe(raw)) if raw and not raw.isspace() else EMPTY
    return to_ref(raw) if type(raw) is dict else None


_REF: Final = Table((
    Field("id", """
        id _id $oid uuid guid uid {agent,company,task,user}_id  # most; OpenFang, paperclip
        {agent,company,task}_uuid {issue,organization,account}_id
        gid sys_id identifier slug       # Asana, ServiceNow, Linear
        {user,agent,service_account,session.user,api_key.user,api_key.service_account}.id
                                         # OpenAI audit logs: whose session or key it was
        """, to_id),
    Field("id", """
        ref reference key code ref_id    # human keys: ACT-1778
        value                            # an option of a form: {value, label}
        """, to_key),
    Field("name", """
        name display_name title label full_name {agent,company,task,user}_name task_title
        username login email text caption display_value  # GitHub, Okta, ServiceNow
        {user,agent,session.user,api_key.user}.{name,email}  # OpenAI audit logs
        """, text_only),
    Field("type", "type kind object __typename {object,entity,resource}_type", text_only),
))  # fmt: skip


def _from_object(raw: Mapping[str, Json]) -> Any:
    inner = raw.get("data", raw.get("node", raw))
    if inner is None:
        return EMPTY
    if inner is not raw:
        first = to_ref(inner) if type(inner) in (dict, list) else None
        return first if type(first) is not Ref or type(inner) is dict else Incomplete(first)
    row = _REF.read(raw)
    values = row.values
    if "id" not in values and "name" not in values:
        return None
    ref = Ref(values.get("id"), values.get("name"))
    return Incomplete(ref) if any(value is not None for value in row.unread.values()) else ref


_KINDS: Final = {
    **dict.fromkeys(word_set("agent assistant worker bot employee"), "agent"),
    **dict.fromkeys(word_set(COMPANY), "company"),
}


def typed_ref(raw: Json) -> tuple[str, Ref] | None:
    """("agent" or "company", reference) from `{"type": "agent", "id": "ag_1"}`, else None."""
    told = _REF.read(raw).values.get("type") if type(raw) is dict else None
    kind = _KINDS.get(fold(told or ""))
    found = None if kind is None else _from_object(raw)
    ref = found.value if type(found) is Incomplete else found
    return (kind, ref) if kind is not None and isinstance(ref, Ref) else None


def joined(*refs: Ref | None) -> Ref | None:
    """One reference from several for the same thing: the first id, and a name that goes with it."""
    found_id: str | None = None
    name: SafeText | None = None
    for ref in filter(None, refs):
        found_id = found_id or ref.id
        if name is None and ref.id in (None, found_id):
            name = ref.name
    return None if found_id is None and name is None else Ref(found_id, name)
