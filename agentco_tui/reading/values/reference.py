"""Readers of identifiers, and of references from one record to another.

A record is a task, an AI agent, a company and so on, as a platform (the remote service) sends it;
the names in `Field`s are those that platforms use, with the platforms after `#`, and `Table` reads
an object by them. A reader takes a raw JSON value and returns what it means; `EMPTY` if the value
is understood and says nothing; `Incomplete(value)` if the raw value holds more than that; None if
it is no value of this sort. A `Ref` is a reference: an id, a name, or both.
"""

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
from agentco_tui.reading.values.scalar import to_text_only
from agentco_tui.text import SafeText, clean_line
from agentco_tui.text.patterns import lazy_pattern

COMPANY: Final = "company organization organisation org workspace tenant account"
"""What a company is called in the records that belong to it."""

_MAX_ID: Final = 1_000
"""Characters of the longest id that is read."""
_LIKE_ID: Final = lazy_pattern(
    r"\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,64}"
    r"|[a-z]{1,12}_[\w.:+-]*\d[\w.:+-]*|(?:ag|agt|agent|cmp|co|comp|company|tsk|task|usr|user|org)_\S+"
    r"|[A-Z]{2,10}-\d+|[a-z]{1,12}-\d+|[a-z]{1,3}\d+|[0-9A-HJKMNP-TV-Z]{26}",
    re.ASCII,
)
"""A number, UUID, hash, `ag_12`, `ACT-1778` or ULID."""
_PATH: Final = lazy_pattern(r"(?:https?://[^/\s]+)?(?:/[\w.:%~+-]+)+/?\Z|urn:[\w:.-]+\Z", re.ASCII)
"""An address, an absolute path or a URN, of which the last part is the id."""
_RESOURCE: Final = lazy_pattern(
    r"(?:[\w.~%-]+/)*(?:agents|assistants|companies|organizations|tasks|users)/[\w.~%-]+\Z",
    re.ASCII,
)
"""`companies/c1/agents/ag_1`: what Google's interfaces call a name."""


def to_id(raw: Json) -> Any:
    """`raw` as an identifier, exactly as sent; a whole number as its digits; else None.

    An address is shortened to the id at its end. EMPTY for a blank text.
    """
    if type(raw) is str:
        if not raw or raw.isspace():
            return EMPTY
        if len(raw) > _MAX_ID:
            return None
        # JSON-LD has an address for an identifier; the platform's own id is at its end.
        if raw[0] in "/h" and raw.startswith(("/", "http")) and _PATH.match(raw):
            return unquote(raw.rstrip("/").rpartition("/")[2])
        return raw
    if type(raw) is int:
        return str(raw)
    if type(raw) is Decimal:
        return _digits_of(raw)
    if type(raw) is dict and len(raw) <= 4:
        return _id_in_object(raw)
    return None


def _digits_of(number: Decimal) -> str | None:
    """A whole number of at most 40 digits as text, else None."""
    if not number.is_finite() or abs(number.adjusted()) >= 40:
        return None
    return str(int(number)) if number == number.to_integral_value() else None


def _id_in_object(raw: Mapping[str, Json]) -> Any:
    """The id in a small object such as MongoDB's `{"$oid": …}`; Incomplete if it holds more."""
    for name in ("$oid", "id", "_id", "value", "uuid"):
        value = raw.get(name)
        if value is not None and type(value) is not dict:
            found = to_id(value)
            holds_more = len(raw) > 1 and type(found) is str
            return Incomplete(found) if holds_more else found
    return None


_MAX_KEY: Final = 24
"""A longer text under the name `key` may be an API key."""


def to_key(raw: Json) -> Any:
    """An identifier under the name `key`: `ACT-1778`; None for what may be an API key."""
    if type(raw) is str and (len(raw) > _MAX_KEY or hide_keys(raw) != raw):
        return None
    return to_id(raw)


def looks_like_id(text: str) -> bool:
    """Whether a text given as a reference is more likely an identifier than a name."""
    return len(text) <= 200 and _LIKE_ID.fullmatch(text) is not None


def to_ref(raw: Json) -> Any:
    """A reference: an id, a name, a path that ends in the id, an object, or a list's first item."""
    if raw in ("", [], {}):
        return EMPTY
    if type(raw) is str:
        return _ref_from_text(raw)
    if type(raw) is int:
        return Ref(str(raw), None)
    if type(raw) is dict:
        return _from_object(raw)
    if type(raw) is list:
        first = to_ref(raw[0])
        has_others = isinstance(first, Ref) and len(raw) > 1
        return Incomplete(first) if has_others else first
    return None


def _ref_from_text(text: str) -> Any:
    """A reference by id if the text looks like one or is a path to one, else by name."""
    if text.isspace():
        return EMPTY
    if looks_like_id(text):
        return Ref(text, None)
    if len(text) < 300 and (_PATH.match(text) or _RESOURCE.match(text)):
        last_part = re.split(r"[/:]", text.rstrip("/"))[-1]
        return Ref(last_part, None)
    return Ref(None, clean_line(text))


def to_ref_id(raw: Json) -> Any:
    """A reference under a name that says "id": a text is never a name."""
    if type(raw) is not str:
        return to_ref(raw)
    if not raw or raw.isspace() or len(raw) > _MAX_ID:
        return EMPTY
    return Ref(raw, None)


def to_ref_name(raw: Json) -> Any:
    """A reference under a name that says "name": a text is never an id."""
    if type(raw) is str:
        return EMPTY if not raw or raw.isspace() else Ref(None, clean_line(raw))
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
        """, to_text_only),
    Field("type", "type kind object __typename {object,entity,resource}_type", to_text_only),
))  # fmt: skip
"""The names of a reference's fields, where it is an object."""


def _from_object(raw: Mapping[str, Json]) -> Any:
    """The reference in an object, also under its `data` (JSON:API) or `node` (GraphQL)."""
    inner = raw.get("data", raw.get("node", raw))
    if inner is None:
        return EMPTY
    if inner is not raw:
        return _from_inner(inner)
    row = _REF.read(raw)
    if "id" not in row.values and "name" not in row.values:
        return None
    ref = Ref(row.values.get("id"), row.values.get("name"))
    holds_more = any(value is not None for value in row.unread.values())
    return Incomplete(ref) if holds_more else ref


def _from_inner(inner: Json) -> Any:
    """The reference under `data` or `node`; of a list only the first, as Incomplete."""
    if type(inner) is dict:
        return to_ref(inner)
    if type(inner) is not list:
        return None
    first = to_ref(inner)
    return Incomplete(first) if type(first) is Ref else first


_KINDS: Final = {
    **dict.fromkeys(word_set("agent assistant worker bot employee"), "agent"),
    **dict.fromkeys(word_set(COMPANY), "company"),
}
"""The kind of record that the folded `type` of a reference means."""


def typed_ref(raw: Json) -> tuple[str, Ref] | None:
    """("agent" or "company", reference) from `{"type": "agent", "id": "ag_1"}`, else None."""
    if type(raw) is not dict:
        return None
    type_word = _REF.read(raw).values.get("type")
    kind = _KINDS.get(fold(type_word or ""))
    if kind is None:
        return None
    found = _from_object(raw)
    ref = found.value if type(found) is Incomplete else found
    return (kind, ref) if isinstance(ref, Ref) else None


def join_refs(*refs: Ref | None) -> Ref | None:
    """One reference from several to the same record; None if none has an id or a name.

    It has the first id, and the first name that comes with this id or without any.
    """
    record_id: str | None = None
    name: SafeText | None = None
    for ref in refs:
        if ref is None:
            continue
        record_id = record_id or ref.id
        if name is None and ref.id in (None, record_id):
            name = ref.name
    if record_id is None and name is None:
        return None
    return Ref(record_id, name)
