"""What several kinds have in common: names of ids, times, references and costs, derived ids."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec

from agentco_tui.model import Record, Ref
from agentco_tui.reading.identity import doubt_of_id
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.schema import DecodeContext, Row, UnreadableRecord, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.money import UNIT_FIELDS, money_field
from agentco_tui.reading.values.reference import joined, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text.memoized import memoized

R = TypeVar("R", bound=Record)


def ids(own: str, more: str = "") -> Field:
    """A record's own id: `id`, the names of the kind, those of stores and standards."""
    return Field("id", f"""
        id {own}
        _id uuid guid uid sys_id gid urn # MongoDB, assorted; ServiceNow, Asana, LinkedIn
        {more}
        document_id identifier slug      # Firestore, JSON-LD
        metadata.uid url_key url         # Kubernetes, paperclip, Django REST hyperlinks
        """, to_id)  # fmt: skip


def references(slot: str, names: str, more: str = "", id_names: str = "") -> tuple[Field, ...]:
    """The fields of a reference: `agent`, `agent_id` and `agent_name` for each of `names`.

    `more` are further names of the object, `id_names` of its id.
    """
    each = f"{{{','.join(names.split())}}}"
    return (
        Field(slot, f"{each} {each}_ref\n{more}", to_ref),
        Field(f"{slot}_id", f"{each}_{{id,uuid}}\n{id_names}", to_ref_id),
        Field(f"{slot}_name", f"{each}_{{name,display_name,alias}}", to_ref_name),
    )


def ref_of(values: Values, slot: str, context: DecodeContext) -> Ref | None:
    """What the fields of `references` say together."""
    found: Ref | None = values.get(slot)
    by_id: Ref | None = values.get(f"{slot}_id")
    by_name: Ref | None = values.get(f"{slot}_name")
    ref = by_id if found is None else found
    if by_name is not None or (found is not None and by_id is not None):
        ref = joined(by_id, found, by_name)
    return context.named(ref) if context.names else ref


CREATED: Final = Field("created", """
    created{,_at}{,_ts,_ms,_unix,_unix_secs,_epoch,_epoch_ms,_utc}  # most platforms; ElevenLabs
    {creation,create,created}_{time,date,timestamp,date_time} created_on  # Google, Azure
    date_created inserted_at sys_created_on  # ClickUp, Elixir, ServiceNow
    metadata.creation_timestamp          # Kubernetes
    """, to_moment)  # fmt: skip

COST: Final = (
    money_field("cost", """
        actual_cost cost {calculated_,}total_cost  # OpenFang, paperclip, LiteLLM, Langfuse
        cost.total cost_details.total costs.total  # Langfuse
        {usage,payload}.{cost,total_cost}  # OpenRouter, paperclip runs and their events
        response_cost spend {estimated,expected}_cost cost_estimate  # LiteLLM
        """),
    *UNIT_FIELDS,
)  # fmt: skip
"""What a task or a step of a trace cost."""


def record(kind: type[R], row: Row, context: DecodeContext, **made: Any) -> R:
    """The record of what was read of an object: each slot that is a field of it, then `made`.

    Raises UnreadableRecord without an id.
    """
    fields = row.values.copy()
    for slot in _foreign(kind, row.plan.slots):
        fields.pop(slot, None)
    fields.update(made)
    if fields.get("id") is None:
        if context.key is None:
            name = kind.__name__.lower()
            raise UnreadableRecord(f"{'an' if name[0] in 'aeiou' else 'a'} {name} without an id")
        fields["id"] = context.key
    if fields.get("id_doubt") is None:
        fields["id_doubt"] = doubt_of_id(fields["id"])
    if "extra" not in fields:
        fields["extra"] = as_extra(row.unread)
    return kind(**fields)


@memoized(1024)
def _foreign(kind: type[Record], slots: frozenset[str]) -> tuple[str, ...]:
    """Those of the slots that are no fields of the record."""
    return tuple(slots.difference(kind.__struct_fields__))


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def content_id(kind: str, obj: Mapping[str, Json]) -> str:
    """The same id for the same content, whatever the order of its fields: "alert-3f…"."""
    return f"{kind}-{hashlib.blake2b(_encode(obj), digest_size=8).hexdigest()}"
