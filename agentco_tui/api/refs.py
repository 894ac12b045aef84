"""Identifiers, and references from one record to another (SHAPES H "Ids seen", F)."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Any, Final
from urllib.parse import unquote

from agentco_tui.api.bodies import Json
from agentco_tui.api.extras import hide_keys
from agentco_tui.api.names import fold, word_set
from agentco_tui.api.plans import Meaning, Partial, Spec, Values
from agentco_tui.api.times import NONE
from agentco_tui.model.records import Ref
from agentco_tui.patterns import lazy_pattern
from agentco_tui.text import SafeText, safe

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
            return NONE
        if len(raw) > _MAX_ID:
            return None
        # an address for an identifier (JSON-LD): what the platform calls it is at its end
        is_path = raw[0] in "/h" and raw.startswith(("/", "http")) and _PATH.match(raw)
        return unquote(raw.rstrip("/").rpartition("/")[2]) if is_path else raw
    if type(raw) is int:
        return str(raw)
    if type(raw) is Decimal:
        if raw.is_finite() and raw == raw.to_integral_value() and abs(raw.adjusted()) < 40:
            return str(int(raw))
        return None
    if type(raw) is dict and 0 < len(raw) <= 4:
        for name in ("$oid", "id", "_id", "value", "uuid"):
            inner = raw.get(name)
            if inner is not None and type(inner) is not dict:
                found = to_id(inner)
                return found if len(raw) == 1 or type(found) is not str else Partial(found)
    return None


_SECRET_FROM: Final = 24


def to_key(raw: Json) -> Any:
    """An identifier under the name `key`: `ACT-1778`, but never what may be an API key (B7)."""
    if type(raw) is str and (len(raw) > _SECRET_FROM or hide_keys(raw) != raw):
        return None
    return to_id(raw)


def looks_like_id(text: str) -> bool:
    """True if a text given for a reference is rather an identifier than a name."""
    return len(text) <= 200 and _LIKE_ID.fullmatch(text) is not None


def to_ref(raw: Json) -> Any:
    """A reference: an id, a name, a path that ends in the id, an object, or a list's first."""
    if type(raw) is str:
        if not raw or raw.isspace():
            return NONE
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
        if not raw:
            return NONE
        first = to_ref(raw[0])
        if isinstance(first, Ref):
            return first if len(raw) == 1 else Partial(first)
        return first
    return None


def to_ref_id(raw: Json) -> Any:
    """A reference under a name that says "id": a text is never a name."""
    if type(raw) is str:
        return Ref(raw, None) if raw and not raw.isspace() and len(raw) <= _MAX_ID else NONE
    return to_ref(raw)


def to_ref_name(raw: Json) -> Any:
    """A reference under a name that says "name": a text is never an id."""
    if type(raw) is str:
        return Ref(None, safe(raw)) if raw and not raw.isspace() else NONE
    return to_ref(raw) if type(raw) is dict else None


def _to_ref_id(raw: Json) -> Any:
    """An identifier, also at the end of a path; a long text is none, and may be an API key."""
    found = to_key(raw)
    if type(found) is str and _PATH.match(found):
        return re.split(r"[/:]", found.rstrip("/"))[-1]
    return found


def _line(raw: Json) -> Any:
    return safe(raw) if type(raw) is str and raw and not raw.isspace() else None


_REF: Final = Spec(
    (
        Meaning(
            "id",
            """id _id $oid uuid guid uid gid sys_id agent_id company_id task_id user_id agent_uuid
            company_uuid task_uuid issue_id organization_id account_id identifier slug""",
            to_id,
        ),
        Meaning("ref", "ref reference key code ref_id agent_ref company_ref task_ref", _to_ref_id),
        Meaning(
            "name",
            """name display_name title label full_name agent_name company_name task_name task_title
            user_name username login email text caption display display_value""",
            _line,
        ),
        Meaning("value", "value", _to_ref_id),
        Meaning("href", "href url link self", to_ref),
        Meaning("type", "type object __typename", _line),
    ),
    kind="agent company task user",
)


_INSIDE: Final = word_set("user session apikey serviceaccount agent actor account principal owner")


def _inside(raw: dict[str, Json], depth: int) -> Any:
    """Who it is, further inside: `{"type": "session", "session": {"user": {"id": …}}}`."""
    if depth >= 3 or len(raw) > 20:
        return None
    for key, value in raw.items():
        if type(value) is dict and fold(key) in _INSIDE:
            found = _from_object(value, depth + 1)
            found = found.value if type(found) is Partial else found
            if isinstance(found, Ref):
                return Partial(found)
    return None


def _from_object(raw: dict[str, Json], depth: int = 0) -> Any:
    if not raw:
        return NONE
    inner = raw.get("data", raw.get("node"))
    if type(inner) is dict and inner:
        return _from_object(inner, depth + 1) if depth < 3 else None
    if type(inner) is list and inner and type(inner[0]) is dict:
        return Partial(first) if isinstance(first := to_ref(inner[0]), Ref) else None
    if "data" in raw and inner is None and "links" in raw:
        return NONE
    links = raw.get("links")
    if type(links) is dict and len(raw) == 1:
        href = links.get("related", links.get("self"))
        href = href.get("href") if type(href) is dict else href
        if (
            type(href) is str
            and len(href) < 300
            and _RESOURCE.match(href.rpartition("//")[2].strip("/"))
        ):
            return Ref(unquote(href.rpartition("/")[2]), None)
    values: Values = {}
    left = _REF.read(raw, values)
    found = values.get("id") or values.get("ref")
    if found is None and "name" in values:
        # an option of a form: {"value": "ag_1", "label": "Scout"}
        found = values.get("value")
    elif "value" in values:
        left["value"] = values["value"]
    ref = Ref(found, values.get("name"))
    if ref == Ref():
        href = values.get("href")
        if isinstance(href, Ref) and href.id:
            return href
        return _inside(raw, depth)
    if "href" in values or any(value is not None for value in left.values()):
        return Partial(ref)
    return ref


_KIND_NAMES: Final = word_set("type kind objecttype entitytype resourcetype typename object")
_PLAIN_REF: Final = _KIND_NAMES | {"id", "name", "label", "title", "key", "ref"}
_KINDS: Final = {
    **dict.fromkeys(("agent", "assistant", "worker", "bot", "employee"), "agent"),
    **dict.fromkeys(
        ("company", "organization", "organisation", "org", "workspace", "tenant", "account"),
        "company",
    ),
}
_KIND_OF_ID: Final = (("agent", ("ag_", "agt_", "agent_")), ("company", ("cmp_", "company_")))


def typed_ref(raw: Json) -> Any:
    """("agent" or "company", reference) from `{"type": "agent", "id": "ag_1"}`, else None."""
    if type(raw) is not dict:
        return None
    found = _from_object(raw)
    ref = found.value if type(found) is Partial else found
    if not isinstance(ref, Ref):
        return None
    told = next((v for k, v in raw.items() if fold(k) in _KIND_NAMES and type(v) is str), None)
    if told is not None:
        kind = _KINDS.get(fold(told))
    else:
        starts = ref.id or ""
        kind = next((name for name, marks in _KIND_OF_ID if starts.startswith(marks)), None)
    if kind is None:
        return None
    beyond = any(v is not None for k, v in raw.items() if fold(k) not in _PLAIN_REF)
    return Partial((kind, ref)) if beyond else (kind, ref)


def joined(*refs: Ref | None) -> Ref | None:
    """One reference from several for the same thing: the first id and the first name."""
    found_id: str | None = None
    found_name: SafeText | None = None
    for ref in refs:
        if ref is not None:
            found_id = ref.id if found_id is None else found_id
            found_name = ref.name if found_name is None else found_name
    if found_id is None and found_name is None:
        return None
    return Ref(found_id, found_name)
