"""Records of one answer that have the same id.

Where they are the same record, as pages that overlap give it, one of them counts. Tasks that are
not the same are all kept and marked: a yes to one of them could be taken for another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import TypeVar, cast

import msgspec

from agentco_tui.model import Record, SharedTask, Task

R = TypeVar("R", bound=Record)


def identity(record: Record) -> Hashable:
    """Equal for what is one record in one answer: the id, of a task its content as well."""
    return (record.id, record.content) if isinstance(record, Task) else record.id


def marked(records: Sequence[R]) -> Sequence[R]:
    """The records, with tasks that share an id as `SharedTask`, each under an id of its own.

    No two of them have the same `identity`.
    """
    if not records or not isinstance(records[0], Task):
        return records
    ids = {record.id for record in records}
    if len(ids) == len(records):
        return records
    sharers = Counter(record.id for record in records)
    nth: Counter[str] = Counter()
    out: list[Record] = []
    for record in records:
        count = sharers[record.id]
        if count == 1:
            out.append(record)
            continue
        nth[record.id] += 1
        fields = msgspec.structs.asdict(record)
        if nth[record.id] > 1:
            # NUL stands in no id that a platform looks anything up by.
            fields["id"] = f"{record.id}\0{nth[record.id]}"
        out.append(SharedTask(**fields, sharers=count, nth=nth[record.id]))
    return cast(tuple[R, ...], tuple(out))
