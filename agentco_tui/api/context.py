"""What a record may need to know of the answer around it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from agentco_tui.api.units import NO_UNIT, Unit
from agentco_tui.model.records import Ref
from agentco_tui.reading.schema import Unread as Unread
from agentco_tui.text import SafeText


class Context(msgspec.Struct, frozen=True):
    """The answer round a record: names that came beside the list, and where the record stood."""

    names: Mapping[str, SafeText] = {}
    """Names of other records in the same answer by id (JSON:API `included`, sideloaded lists)."""
    unit: Unit = NO_UNIT
    """The unit of all sums, where the answer tells it once: `{"currency": "EUR", "data": […]}`."""
    is_root: bool = False
    """True if the record is the whole body: then `timestamp` is the answer's time (SHAPES B6)."""

    def named(self, ref: Ref | None) -> Ref | None:
        """`ref` with its name filled in from beside the list, where it had none."""
        if ref is None or ref.name is not None or ref.id is None or not self.names:
            return ref
        name = self.names.get(ref.id)
        return ref if name is None else Ref(ref.id, name)


BARE: Context = Context()
