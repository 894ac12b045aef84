"""Shows the JSON fields of a record that the program has no column for, as tables.

A platform (the remote service with AI agents and their tasks) may send any fields with a task, and
what the operator decides about may be in them. So all of them are shown: `field_table` lists them
under headings, sums of money first; `sums_of` takes the sums out of a task's fields, so that they
can be shown on top. `detail_pane` uses both. Extra fields (`task.extra`) are those without a
column.

A sum is a number or text that reads as money, or a number whose name says so ("total",
"refund_cents"). A `Unit` is what one of it is worth: a power of ten and a currency, taken from the
name of the field, its neighbours, or the object around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Money, Task, extra_fields
from agentco_tui.model import format as fmt
from agentco_tui.reading.content import is_substance
from agentco_tui.reading.field_names import NO_UNIT, Unit, unit_in_name, word_set, words
from agentco_tui.reading.unknown_fields import CUT
from agentco_tui.reading.values.money import Sum, envelope_unit, to_money, to_sum
from agentco_tui.reading.values.scalar import to_decimal
from agentco_tui.text import SafeText, cell_width, clean_block, clean_line, mark_safe
from agentco_tui.widgets.text_pane import (
    LABEL_WIDTH,
    BlankLine,
    FieldLine,
    Heading,
    PaneItem,
    Paragraph,
)
from agentco_tui.widgets.tones import Tone

WIDEST_LABEL: Final = 24
"""Columns of the widest label beside its value; a longer one has its own line."""
UNLIMITED: Final = 1_000_000
"""Cells and lines of a text that is shown whole: more than a record keeps."""
NAME_WIDTH: Final = 200
"""Cells of the name of a field at most."""
_INDENT: Final = 2
"""Columns by which each nested object is indented."""
_DEEPEST_INDENT: Final = 8
"""Levels of nesting that are still indented."""
_INLINE_LENGTH: Final = 160
"""Characters of the longest text that stands beside its name, not below it."""
_PLAIN_DIGITS: Final = 30
"""Powers of ten up to which a number is written out."""
_LONGEST_SUM: Final = 60
"""Characters of the longest text that is read as a sum."""
_ENTRIES_CHECKED: Final = 20
"""Entries of a list in which a sum is looked for."""

_SUM_WORDS: Final = word_set(
    """amount amounts total totals subtotal price prices cost costs sum sums fee fees charge charges
    budget limit limits quantity qty cap ceiling salary wage pay payment payout payable refund
    credit debit balance deposit discount tax vat bonus rate spend spent value worth cents cent
    micros dollars usd eur euro euros gbp chf jpy tokens credits"""
)
_COUNT_WORDS: Final = word_set("quantity qty tokens credits rate limit limits cap ceiling")
"""Those of them that may count something else than money."""
_NOT_SUM_WORDS: Final = word_set(
    "id ids at on date time name type kind currency unit url key status"
)
"""Last words of names that are no sums."""

Fields = Mapping[str, Any]
"""The fields of one JSON object."""
Row = tuple[SafeText, SafeText, Tone]
"""A label, a value and the tone of the value."""


def field_table(fields: Fields) -> list[PaneItem]:
    """Return fields as a table; each object and each long list follows below its name.

    Objects come first whose name says that they hold the substance of a task, such as "payload"
    (`is_substance`), then objects with sums, then the rest; within each, sums come first.
    """
    nested_names: list[str] = []
    flat_fields: dict[str, Any] = {}
    for name, value in fields.items():
        if _is_nested(value):
            nested_names.append(name)
        elif value is not None:
            flat_fields[name] = value
    nested_names.sort(key=lambda name: (not is_substance(name), not _has_sum(name, fields[name])))
    unit = _declared_unit(fields)
    items: list[PaneItem] = []
    for name in nested_names:
        value = fields[name]
        inner_fields = value if type(value) is dict else {"": value}
        items += [
            BlankLine(),
            Heading(clean_line(name, NAME_WIDTH)),
            *_row_items(inner_fields, unit),
        ]
    if flat_fields:
        items += [BlankLine(), Heading(mark_safe("Other fields")), *_row_items(flat_fields, unit)]
    return items


def sums_of(task: Task) -> tuple[list[tuple[SafeText, SafeText]], dict[str, Any]]:
    """Return the sums among a task's extra fields, labelled, and the other extra fields.

    Sums one object deep are taken out too. The cost, which has its own field, and fields that only
    repeat what is shown elsewhere are left out.
    """
    fields = _fields_not_shown(task)
    rest: dict[str, Any] = {}
    sums: list[tuple[str, Any, Unit]] = []
    for name, value in fields.items():
        if _is_sum(name, value):
            sums.append((name, value, _unit_of(name, fields)))
        elif type(value) is dict:
            inner_rest: dict[str, Any] = {}
            for key, inner_value in value.items():
                if _is_sum(key, inner_value):
                    sums.append((f"{name}.{key}", inner_value, _unit_of(key, value)))
                else:
                    inner_rest[key] = inner_value
            if inner_rest or not value:
                rest[name] = inner_rest
        else:
            rest[name] = value
    return _labelled(sums), rest


def _fields_not_shown(task: Task) -> dict[str, Any]:
    """Return the extra fields of a task whose text is not already one of its known fields."""
    shown = {task.title, task.description, task.status, task.priority, task.decided_by}
    shown |= {task.key, task.kind}
    for ref in (task.agent, task.company):
        if ref is not None:
            shown.add(ref.name)
    fields: dict[str, Any] = {}
    for name, value in extra_fields(task.extra).items():
        if name == CUT:  # our own note that a part of the fields was cut off
            continue
        if type(value) is str:
            # As the reading of the known fields would have cut and cleaned it.
            spellings = (
                clean_line(value),
                clean_line(value.strip(), 60),
                clean_block(value, 30_000, 30_000),
            )
            if not shown.isdisjoint(spellings):
                continue
        fields[name] = value
    return fields


def _labelled(sums: list[tuple[str, Any, Unit]]) -> list[tuple[SafeText, SafeText]]:
    """Return sums with the last part of their names, the whole name if that is ambiguous."""
    last_parts = [name.rpartition(".")[2] for name, _, _ in sums]
    rows: list[tuple[SafeText, SafeText]] = []
    for last_part, (name, value, unit) in zip(last_parts, sums, strict=True):
        is_unique = last_parts.count(last_part) == 1
        label = last_part if is_unique else name
        rows.append((clean_line(label, NAME_WIDTH), _value_text(value, unit)))
    return rows


def _is_sum(name: str, value: Any) -> bool:
    """Whether a value reads as money, or as a quantity that decides how much money it is."""
    if type(value) is dict:
        return bool(value) and _money(value) is not None and not _is_nested(value)
    if type(value) is str:
        if not 0 < len(value) <= _LONGEST_SUM:
            return False
        money = _money(value)
        if money is not None and money.currency is not None:
            return True
    elif type(value) not in (int, Decimal):
        return False
    name_words = words(name)
    if _SUM_WORDS.isdisjoint(name_words) or not _NOT_SUM_WORDS.isdisjoint(name_words[-1:]):
        return False
    return to_decimal(value) is not None


def _money(value: Any, unit: Unit = NO_UNIT) -> Money | None:
    parsed = to_sum(value, unit)
    return to_money(parsed) if isinstance(parsed, Sum) else None


def _has_sum(name: str, value: Any) -> bool:
    """Whether a value is a sum or has one in it."""
    if type(value) is dict:
        return any(_has_sum(key, inner_value) for key, inner_value in value.items())
    if type(value) is list:
        return any(_has_sum(name, entry) for entry in value[:_ENTRIES_CHECKED])
    return _is_sum(name, value)


def _unit_of(name: str, neighbours: Fields, outer_unit: Unit = NO_UNIT) -> Unit:
    """Return the unit of a sum, by its own name, then its neighbours, then the object around."""
    named_unit = unit_in_name(name)
    if named_unit == NO_UNIT and not _COUNT_WORDS.isdisjoint(words(name)):
        return NO_UNIT
    return named_unit.with_more(_declared_unit(neighbours)).with_more(outer_unit)


def _declared_unit(fields: Fields) -> Unit:
    """Return the unit that the text fields of one object declare, such as `"currency": "EUR"`."""
    return envelope_unit({name: value for name, value in fields.items() if type(value) is str})


def texts_in(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the path and the text of every string in a JSON value: ("refund.2.note", "...")."""
    entries: Iterator[tuple[Any, Any]]
    if type(value) is str:
        yield path, value
        return
    if type(value) is dict:
        entries = iter(value.items())
    elif type(value) is list:
        entries = enumerate(value, start=1)
    else:
        return
    for key, entry in entries:
        yield from texts_in(entry, f"{path}.{key}" if path else str(key))


def _row_items(fields: Fields, outer_unit: Unit) -> list[PaneItem]:
    """Return the fields of one object as lines; long values follow below their label."""
    rows = list(_rows(fields, 0, outer_unit))
    widest = max((cell_width(label) + 2 for label, _, _ in rows), default=0)
    label_width = max(LABEL_WIDTH, min(WIDEST_LABEL, widest))
    items: list[PaneItem] = []
    for label, value, tone in rows:
        if "\n" in value or len(value) > _INLINE_LENGTH:
            if label.strip():
                indent = len(label) - len(label.lstrip(" "))
                items += [Paragraph(label, Tone.DIM), Paragraph(value, tone, indent + _INDENT)]
            else:
                items.append(Paragraph(value, tone))
        elif label:
            items.append(FieldLine(label, value, tone, label_width))
        elif value:
            items.append(Paragraph(value))
    return items


def _rows(fields: Fields, depth: int, outer_unit: Unit, bullet: str = "") -> Iterator[Row]:
    """Yield a row for each field, sums first and nested values last.

    `bullet` is the number of a list's entry, which stands before its first field.
    """
    inner_unit = _declared_unit(fields).with_more(outer_unit)
    indent = " " * (_INDENT * min(depth, _DEEPEST_INDENT))
    ordered = sorted(fields.items(), key=lambda item: (_is_nested(item[1]), not _has_sum(*item)))
    for name, value in ordered:
        label = mark_safe(f"{indent}{bullet}{clean_line(name, NAME_WIDTH)}")
        bullet = " " * len(bullet)
        if not _is_nested(value):
            if _is_sum(name, value):
                unit = _unit_of(name, fields, outer_unit)
                yield label, _value_text(value, unit), Tone.STRONG
            else:
                yield label, _value_text(value), Tone.PLAIN
            continue
        if name:
            yield label, mark_safe(""), Tone.PLAIN
        if type(value) is dict:
            yield from _rows(value, depth + 1, inner_unit)
        else:
            yield from _numbered_rows(value, depth + bool(name), inner_unit)


def _numbered_rows(entries: list[Any], depth: int, outer_unit: Unit) -> Iterator[Row]:
    """Yield the rows of a list's entries, which are numbered from 1."""
    indent = " " * (_INDENT * min(depth, _DEEPEST_INDENT))
    for number, entry in enumerate(entries, start=1):
        if type(entry) is dict and entry:
            yield from _rows(entry, depth, outer_unit, f"{number}  ")
        elif type(entry) is list and _is_nested(entry):
            yield mark_safe(f"{indent}{number}"), mark_safe(""), Tone.PLAIN
            yield from _numbered_rows(entry, depth + 1, outer_unit)
        else:
            yield mark_safe(f"{indent}{number}"), _value_text(entry), Tone.PLAIN


def _is_nested(value: Any) -> bool:
    """Whether a value needs its own lines: an object that is no sum, or a list of many words."""
    if type(value) is dict:
        return bool(value) and _money(value) is None
    if type(value) is not list or not value:
        return False
    for entry in value:
        if type(entry) in (dict, list) or "," in str(entry):
            return True
    return sum(len(str(entry)) + 2 for entry in value) > _INLINE_LENGTH


def _value_text(value: Any, unit: Unit = NO_UNIT) -> SafeText:
    """Return a value in words; a sum whose unit is known also in whole units of its currency."""
    match value:
        case None:
            return mark_safe("nothing")
        case bool():
            return mark_safe("yes" if value else "no")
        case "":
            return mark_safe("an empty text")
        case str():
            return clean_block(value, UNLIMITED, UNLIMITED)
        case list():
            return mark_safe(", ".join(map(_value_text, value)) or "an empty list")
        case dict():
            pairs = [
                f"{clean_line(key, NAME_WIDTH)} {_value_text(entry)}"
                for key, entry in value.items()
            ]
            return mark_safe(", ".join(pairs) or "empty")
    return _number_text(value, unit)


def _number_text(value: int | Decimal, unit: Unit) -> SafeText:
    is_short = abs(Decimal(value).adjusted()) <= _PLAIN_DIGITS
    digits = f"{value:,f}" if is_short and type(value) is Decimal else f"{value:,}"
    text = clean_line(digits, UNLIMITED)
    money = _money(value, unit) if unit.power else None
    if money is not None:
        return mark_safe(f"{text} = {fmt.money(money)}")
    if unit.currency:
        return mark_safe(f"{text} {unit.currency}")
    return text
