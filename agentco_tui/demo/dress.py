"""How a shape writes keys, sums, moments, references, shares and missing values.

`dress` turns the neutral fields of `records.py` into what a platform of this shape would send.
"""

from __future__ import annotations

import functools
from datetime import UTC, datetime
from email.utils import format_datetime

from agentco_tui.demo.model import CENT, DOLLAR
from agentco_tui.demo.records import Cash, Fields, Link, Share, When, Word
from agentco_tui.demo.shapes import Json, Shape


@functools.lru_cache(maxsize=4096)
def rekey(key: str, keys: str) -> str:
    """A snake_case key in another writing."""
    parts = key.split("_")
    if keys == "camel":
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    return "-".join(parts) if keys == "kebab" else key


def rekeyed(value: Json, keys: str) -> Json:
    """The same with every key of every object in another writing."""
    if keys == "snake":
        return value
    if isinstance(value, dict):
        return {rekey(key, keys): rekeyed(inner, keys) for key, inner in value.items()}
    return [rekeyed(inner, keys) for inner in value] if isinstance(value, list) else value


def moment(at: float | None, times: str) -> Json:
    """A moment in the writing of a shape."""
    if at is None:
        return None
    if times == "epoch":
        return int(at)
    if times == "epoch_ms":
        return int(at * 1000)
    when = datetime.fromtimestamp(int(at * 1000) / 1000, UTC)
    if times == "http":
        return format_datetime(when.replace(microsecond=0), usegmt=True)
    if times == "offset":
        return when.isoformat(timespec="microseconds")
    timespec = "milliseconds" if when.microsecond else "seconds"
    return when.replace(tzinfo=None).isoformat(timespec=timespec) + "Z"


def cash(name: str, micros: int | None, shape: Shape) -> dict[str, Json]:
    """A sum under the name that tells its unit."""
    kind = shape.money
    named = f"{name}_{kind}" if kind in {"usd", "cents"} else name
    if micros is None:
        return {named: shape.no_limit}
    # Cents are rounded half up, as ledgers do.
    cents = (micros + CENT // 2) // CENT
    if kind == "cents":
        return {named: cents}
    if kind == "text":
        return {named: f"{cents // 100}.{cents % 100:02d}"}
    units = micros // DOLLAR if micros % DOLLAR == 0 else micros / DOLLAR
    return {named: {"value": units, "currency": "usd"} if kind == "value" else units}


def record_id(value: str | None, shape: Shape) -> Json:
    """An identifier: as it is, or nothing but its number."""
    if shape.ids == "numbers" and value is not None:
        return int(value.removeprefix("evt_"))
    return value


def _link(name: str, target: Link, shape: Shape) -> dict[str, Json]:
    told_id = record_id(target.id, shape)
    if shape.links == "related":
        return {}
    if shape.links == "nested":
        return {name: {"id": told_id, "name": target.name}}
    return {f"{name}_id": told_id, f"{name}_name": target.name}


def _part(name: str, ratio: float | None, shape: Shape) -> dict[str, Json]:
    """A share; the one called `used` under the shape's own name."""
    if shape.share is None:
        return {}
    own, form = shape.share
    shown = own if name == "used" else name if form == "ratio" else f"{name}_percent"
    if ratio is None:
        return {shown: None}
    if form == "ratio":
        return {shown: round(ratio, 6)}
    percent = round(ratio * 100, 2)
    whole = int(percent) if percent == int(percent) else percent
    return {shown: f"{whole}%" if form == "text" else whole}


def dress(kind: str, fields: Fields, shape: Shape) -> dict[str, Json]:
    """The record as a platform of this shape would send it, still with snake_case keys."""
    names = shape.names.get(kind, {})
    dressed: dict[str, Json] = {}
    for field_name, value in fields.items():
        name = names.get(field_name, field_name)
        if name is None:
            continue
        match value:
            case str() if field_name == "id":
                dressed[name] = record_id(value, shape)
            case Cash(micros, rest):
                if rest and micros is not None and not shape.rest_below_zero:
                    micros = max(0, micros)
                dressed |= cash(name, micros, shape)
            case When(at):
                dressed[name] = moment(at, shape.times)
            case Link():
                dressed |= _link(name, value, shape)
            case Share(ratio):
                dressed |= _part(name, ratio, shape)
            case Word(word):
                dressed[name] = shape.words.get(word, word)
            case _:
                dressed[name] = value
    if shape.numbers_as_text:
        return {
            name: str(value) if type(value) in {int, float} else value
            for name, value in dressed.items()
        }
    return dressed
