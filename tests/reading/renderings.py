"""One small world, written down in every way that platforms do."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

from hypothesis import strategies as st

Row = dict[str, Any]

ID_NAMES = st.from_regex(r"[a-z]{2,4}_[0-9a-f]{4,10}", fullmatch=True)
WORDS = st.from_regex(r"[A-Z][a-z]{2,8}( [a-z]{2,8}){0,4}", fullmatch=True)


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(part.title() for part in rest)


KEY_STYLES: dict[str, Callable[[str], str]] = {
    "snake": lambda name: name,
    "camel": _camel,
    "kebab": lambda name: name.replace("_", "-"),
    "pascal": lambda name: _camel(f"_{name}"),
    "screaming": str.upper,
    "spaced": lambda name: name.replace("_", " "),
}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _epoch(power: int) -> Callable[[int], Any]:
    return lambda at: at * 10**power


def _moment(at: int) -> datetime:
    return EPOCH + timedelta(seconds=at)


TIME_STYLES: dict[str, Callable[[int], Any]] = {
    "iso z": lambda at: _moment(at).strftime("%Y-%m-%dT%H:%M:%SZ"),
    "iso millis": lambda at: _moment(at).strftime("%Y-%m-%dT%H:%M:%S.000Z"),
    "iso nanos": lambda at: _moment(at).strftime("%Y-%m-%dT%H:%M:%S.000000000Z"),
    "iso offset": lambda at: _moment(at).astimezone(timezone(timedelta(hours=5.5))).isoformat(),
    "sql utc": lambda at: _moment(at).strftime("%Y-%m-%d %H:%M:%S UTC"),
    "seconds": _epoch(0),
    "millis": _epoch(3),
    "micros": _epoch(6),
    "nanos text": lambda at: str(at * 10**9),
    "seconds text": str,
    "http": lambda at: _moment(at).strftime("%a, %d %b %Y %H:%M:%S GMT"),
    "dotnet": lambda at: f"/Date({at * 1000})/",
    "mongo": lambda at: {"$date": {"$numberLong": str(at * 1000)}},
    "protobuf": lambda at: {"seconds": str(at), "nanos": 0},
    "compact": lambda at: _moment(at).strftime("%Y%m%dT%H%M%S000000Z"),
}


@dataclass(frozen=True)
class MoneyStyle:
    """How sums are written: what is added to the name, and to the figure."""

    suffix: str
    written: Callable[[Decimal], Any]
    beside: tuple[tuple[str, Any], ...] = ()
    assumed: bool = False
    """Nothing tells the unit: a currency does not."""


def _number(value: Decimal) -> Any:
    return float(value) if value != value.to_integral_value() else int(value)


MONEY_STYLES: dict[str, MoneyStyle] = {
    "units and currency": MoneyStyle("", _number, (("currency", "usd"),), True),
    "text and currency": MoneyStyle("", lambda value: f"{value:.2f}", (("currency", "USD"),), True),
    "usd": MoneyStyle("_usd", _number),
    "cents": MoneyStyle("_usd_cents", lambda value: int(value * 100)),
    "cents text": MoneyStyle("_usd_cents", lambda value: str(int(value * 100))),
    "micros": MoneyStyle("_usd_micros", lambda value: int(value * 1_000_000)),
    "microdollars": MoneyStyle("_microdollars", lambda value: int(value * 1_000_000)),
    "minor": MoneyStyle("_minor", lambda value: int(value * 100), (("currency", "USD"),)),
    "unit beside": MoneyStyle("", lambda value: int(value * 100), (("unit", "usd_cents"),)),
    "dollar sign": MoneyStyle(
        "", lambda value: f"${value:,.2f}" if value >= 0 else f"-${-value:,.2f}"
    ),
    "object": MoneyStyle(
        "", lambda value: {"amount": f"{value:.2f}", "currency": "USD"}, assumed=True
    ),
    "value object": MoneyStyle(
        "", lambda value: {"value": float(value), "currency": "usd"}, assumed=True
    ),
    "aws": MoneyStyle("", lambda value: {"Amount": f"{value:.2f}", "Unit": "USD"}),
}

Envelope = Callable[[list[Row], str], Any]


def _by_id(rows: list[Row], _: str) -> Any:
    return {
        str(row[_id_key(row)]): {k: v for k, v in row.items() if k != _id_key(row)} for row in rows
    }


def _id_key(row: Row) -> str:
    folded = {re.sub(r"[^a-z]", "", key.lower()): key for key in row}
    return folded.get("id") or folded["agentid"]


ENVELOPES: dict[str, Envelope] = {
    "bare": lambda rows, _: rows,
    "resource": lambda rows, name: {name: rows, "total": len(rows)},
    "upper resource": lambda rows, name: {name.title(): rows, "NextToken": ""},
    "data": lambda rows, _: {"data": rows},
    "data and resource": lambda rows, name: {"ok": True, "data": {name: rows}},
    "items": lambda rows, _: {"items": rows, "total": len(rows), "offset": 0, "limit": None},
    "results count": lambda rows, _: {"status": "success", "results": len(rows), "data": rows},
    "drf": lambda rows, _: {"count": len(rows), "next": None, "previous": None, "results": rows},
    "spring": lambda rows,
    _: {"content": rows, "totalElements": len(rows), "number": 0, "last": True},
    "cloudflare": lambda rows, _: {"success": True, "errors": [], "messages": [], "result": rows},
    "edges": lambda rows, name: {
        "data": {name: {"edges": [{"cursor": "c", "node": row} for row in rows], "pageInfo": {}}}
    },
    "hal": lambda rows, name: {"_embedded": {name: rows}, "_links": {}},
    "json api": lambda rows, name: {
        "data": [
            {"type": name, "id": str(row[_id_key(row)]),
             "attributes": {k: v for k, v in row.items() if k != _id_key(row)}}
            for row in rows
        ]
    },
    "three deep": lambda rows, name: {"response": {"payload": {"data": {name: rows}}}},
    "by id": _by_id,
    "by id under the name": lambda rows, name: {name: _by_id(rows, name)},
    "text": lambda rows, name: json.dumps({name: rows}),
    "unheard of": lambda rows, _: {"whatever": rows, "version": "7"},
}  # fmt: skip


def restyled(row: Row, style: Callable[[str], str]) -> Row:
    """The row with all its names, inner ones too, in another style."""
    return {
        style(key): restyled(value, style)
        if isinstance(value, dict) and key in ("agent", "company")
        else value
        for key, value in row.items()
    }
