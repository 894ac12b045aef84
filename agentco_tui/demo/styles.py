"""How a shape writes keys, sums, moments, references, shares and missing values (SHAPES D, G, H).

`dress` turns the neutral fields of `fields.py` into what a platform of this style would send.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from agentco_tui.demo.fields import Cash, Fields, Free, Link, Rank, Share, Trust, When, Word
from agentco_tui.demo.model import CENT, DOLLAR

Json = Any


@dataclass(frozen=True, kw_only=True)
class Style:
    """The choices of a platform below the level of envelopes.

    keys: snake, camel, kebab, pascal. money: units, usd, text, cents, cents_text, micros,
    micros_text, object, value. times: z, offset, naive, spaced, epoch, epoch_float, epoch_ms,
    http. links: flat, ids, nested, named. share: (field name, "percent" | "ratio" | "text"), None
    leaves it out. trust: hundred, unit, word. no_limit: what stands for "no limit".
    """

    keys: str = "snake"
    money: str = "units"
    times: str = "z"
    links: str = "flat"
    share: tuple[str, str] | None = ("percent_used", "percent")
    nulls: bool = True
    numbers_as_text: bool = False
    no_limit: Json = None
    trust: str = "hundred"
    words: Mapping[str, Json] = field(default_factory=dict)
    status_object: bool = False
    rest_below_zero: bool = False
    """Whether what is left of a limit may be negative."""
    names: Mapping[str, Mapping[str, str | None]] = field(default_factory=dict)
    """For each kind of record (or "*"), other names for fields; None leaves a field out."""


@functools.lru_cache(maxsize=4096)
def rekey(key: str, keys: str) -> str:
    """A snake_case key in another writing."""
    parts = key.split("_")
    if keys == "camel":
        return parts[0] + "".join(part.capitalize() for part in parts[1:])
    if keys == "kebab":
        return "-".join(parts)
    if keys == "pascal":
        return "".join(part.capitalize() for part in parts)
    return key


def moment(at: float | None, times: str) -> Json:
    """A moment in the writing of a style."""
    if at is None:
        return None
    if times == "epoch":
        return int(at)
    if times == "epoch_float":
        return round(at, 3)
    if times == "epoch_ms":
        return int(at * 1000)
    when = datetime.fromtimestamp(int(at * 1000) / 1000, UTC)
    if times == "http":
        return format_datetime(when.replace(microsecond=0), usegmt=True)
    if times == "offset":
        return when.isoformat(timespec="microseconds")
    bare = when.replace(tzinfo=None)
    if times == "naive":
        return bare.isoformat(timespec="seconds")
    if times == "spaced":
        return bare.isoformat(sep=" ", timespec="seconds")
    return bare.isoformat(timespec="milliseconds" if bare.microsecond else "seconds") + "Z"


_SUFFIX = {
    "usd": "_usd",
    "cents": "_cents",
    "cents_text": "_cents",
    "micros": "_micros",
    "micros_text": "_micros",
}


def _number(micros: int) -> int | float:
    return micros // DOLLAR if micros % DOLLAR == 0 else micros / DOLLAR


def cash(name: str, micros: int | None, style: Style) -> dict[str, Json]:
    """A sum under the name that tells its unit."""
    kind = style.money
    suffix = _SUFFIX.get(kind, "")
    if micros is None:
        return {name + suffix: style.no_limit}
    # Cents are rounded half up, as ledgers do.
    cents = (micros + CENT // 2) // CENT
    if kind in {"units", "usd"}:
        return {name + suffix: _number(micros)}
    if kind == "value":
        return {name: {"value": _number(micros), "currency": "usd"}}
    if kind == "text":
        return {name: f"{cents // 100}.{cents % 100:02d}"}
    if kind == "object":
        return {name: {"amount": f"{cents // 100}.{cents % 100:02d}", "unit": "USD"}}
    value = cents if kind.startswith("cents") else micros
    return {name + suffix: str(value) if kind.endswith("_text") else value}


def link(name: str, target: Link, style: Style) -> dict[str, Json]:
    """A reference to another record."""
    if style.links == "nested":
        return {name: {"id": target.id, "name": target.name}}
    if style.links == "named":
        return {name: target.name, f"{name}_id": target.id}
    if style.links == "ids":
        return {f"{name}_id": target.id}
    return {f"{name}_id": target.id, f"{name}_name": target.name}


def part(name: str, value: float | None, style: Style) -> dict[str, Json]:
    """A share; the one called `used` under the style's own name."""
    if style.share is None:
        return {}
    own, form = style.share
    shown = own if name == "used" else name if form == "ratio" else f"{name}_percent"
    if value is None:
        return {shown: None}
    if form == "ratio":
        return {shown: round(value, 6)}
    percent = round(value * 100, 2)
    whole = int(percent) if percent == int(percent) else percent
    return {shown: f"{whole}%" if form == "text" else whole}


def trust(score: int, style: Style) -> Json:
    """A trust score; SHAPES G: 0 to 100, 0 to 1, or a word."""
    if style.trust == "unit":
        return score / 100
    if style.trust == "word":
        return "green" if score >= 75 else "amber" if score >= 50 else "red" if score else None
    return score


def dress(kind: str, fields: Fields, style: Style) -> dict[str, Json]:
    """The record as a platform of this style would send it."""
    names = {**style.names.get("*", {}), **style.names.get(kind, {})}
    dressed: dict[str, Json] = {}
    for field_name, value in fields.items():
        name = names.get(field_name, field_name)
        if name is None:
            continue
        match value:
            case Cash(micros, rest):
                if rest and micros is not None and not style.rest_below_zero:
                    micros = max(0, micros)
                dressed |= cash(name, micros, style)
            case When(at):
                dressed[name] = moment(at, style.times)
            case Link():
                dressed |= link(name, value, style)
            case Share(ratio):
                dressed |= part(name, ratio, style)
            case Word(word):
                spelled = style.words.get(word, word)
                dressed[name] = {"state": spelled} if style.status_object else spelled
            case Rank(word):
                dressed[name] = style.words.get(word, word)
            case Trust(score):
                dressed[name] = trust(score, style)
            case _:
                dressed[name] = value
    return {
        rekey(key, style.keys): value if type(value) is str else _finish(value, style)
        for key, value in dressed.items()
        if style.nulls or value is not None
    }


def _finish(value: Json, style: Style) -> Json:
    if isinstance(value, Free):
        return value.data
    if isinstance(value, dict):
        return {rekey(key, style.keys): _finish(inner, style) for key, inner in value.items()}
    if style.numbers_as_text and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value
