"""Fields that several kinds of records have, and the function that makes a record of a row.

Platforms are the remote services with AI agents that this program can watch. The files of `kinds/`
describe one kind of record each, by a table of `Field(slot, names, reader)`: the names under which
platforms send one of our fields (its *slot*), best first, and the function that reads a raw value.
`id_field`, `reference_fields`, `CREATED` and `COST` are parts of these tables. A *reference* is
what a record says of another one: an id, a name, or both (`Ref`).

`make_record` makes a record of a `Row`, the values of one object by slot; `content_id` makes an id
for a record that has none.
"""

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
from agentco_tui.reading.values.reference import join_refs, to_id, to_ref, to_ref_id, to_ref_name
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text.memoized import memoized

R = TypeVar("R", bound=Record)


def id_field(own: str, more: str = "") -> Field:
    """The field of a record's own id.

    Its names are `id`, those of the kind (`own`), those that databases use, `more` names, and those
    of standards, in this order.
    """
    return Field("id", f"""
        id {own}
        _id uuid guid uid sys_id gid urn # MongoDB, assorted; ServiceNow, Asana, LinkedIn
        {more}
        document_id identifier slug      # Firestore, JSON-LD
        metadata.uid url_key url         # Kubernetes, paperclip, Django REST hyperlinks
        """, to_id)  # fmt: skip


def reference_fields(
    slot: str, names: str, more: str = "", id_names: str = ""
) -> tuple[Field, ...]:
    """The fields of a reference: `agent`, `agent_id` and `agent_name` for each of `names`.

    `more` are further names of the object, without an `_id` and a `_name`; `id_names` those of its
    id.
    """
    each = f"{{{','.join(names.split())}}}"
    return (
        Field(slot, f"{each} {each}_ref\n{more}", to_ref),
        Field(f"{slot}_id", f"{each}_{{id,uuid}}\n{id_names}", to_ref_id),
        Field(f"{slot}_name", f"{each}_{{name,display_name,alias}}", to_ref_name),
    )


def ref_of(values: Values, slot: str, context: DecodeContext) -> Ref | None:
    """The reference that the fields of `reference_fields` make together; None if there is none."""
    as_object: Ref | None = values.get(slot)
    by_id: Ref | None = values.get(f"{slot}_id")
    by_name: Ref | None = values.get(f"{slot}_name")
    ref = as_object
    if as_object is None:
        ref = by_id
    if by_name is not None or (as_object is not None and by_id is not None):
        ref = join_refs(by_id, as_object, by_name)
    if context.names:
        return context.with_name(ref)
    return ref


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


def make_record(kind: type[R], row: Row, context: DecodeContext, **fields_made: Any) -> R:
    """The record of a row: its values of the slots that are fields of `kind`, then `fields_made`.

    Without an id of its own, a record in a map gets its key. Raises UnreadableRecord without both.
    `id_doubt` is why no request that changes something may name the record; None if one may.
    """
    fields = row.values.copy()
    for slot in _slots_without_field(kind, row.plan.slots):
        fields.pop(slot, None)
    fields.update(fields_made)
    if fields.get("id") is None:
        # context.key: the key of the record if the answer has a map of records, not a list
        if context.key is None:
            name = kind.__name__.lower()
            article = "a"
            if name[0] in "aeiou":
                article = "an"
            raise UnreadableRecord(f"{article} {name} without an id")
        fields["id"] = context.key
    if fields.get("id_doubt") is None:
        fields["id_doubt"] = doubt_of_id(fields["id"])
    if "extra" not in fields:
        # row.unread: the fields that no Field of the table has read, by key
        fields["extra"] = as_extra(row.unread)
    return kind(**fields)


@memoized(1024)
def _slots_without_field(kind: type[Record], slots: frozenset[str]) -> tuple[str, ...]:
    """Those of the slots that are no fields of the record."""
    return tuple(slots.difference(kind.__struct_fields__))


_encode: Final = msgspec.json.Encoder(order="deterministic").encode


def content_id(kind: str, obj: Mapping[str, Json]) -> str:
    """The same id for the same content, whatever the order of its fields: "alert-3f…"."""
    return f"{kind}-{hashlib.blake2b(_encode(obj), digest_size=8).hexdigest()}"
