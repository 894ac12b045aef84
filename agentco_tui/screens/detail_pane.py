"""What is said of a record: its fields, what was assumed, what wasn't understood.

What a task asks for is told whole, as a person reads it: sums first, then text, then every field.
What had no room is told by how much, and what can't be shown by where it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.live import insight
from agentco_tui.live.sentences import sentence
from agentco_tui.model import Moment, Money, Ref, Task, extra_fields
from agentco_tui.model import format as fmt
from agentco_tui.reading.content import is_substance
from agentco_tui.reading.field_names import NO_UNIT, Unit, unit_in_name, word_set, words
from agentco_tui.reading.unknown_fields import CUT
from agentco_tui.reading.values.money import Sum, envelope_unit, to_money, to_sum
from agentco_tui.reading.values.scalar import to_decimal
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.system.osc import LINKABLE
from agentco_tui.text import SafeText, cell_width, escaped, hidden_in, plain, safe, safe_block
from agentco_tui.text.signs import signs
from agentco_tui.widgets.text_pane import LABEL_WIDTH, FieldLine, Gap, Heading, Item, Text
from agentco_tui.widgets.tones import Cell, Tone

GAUGE_WIDTH = 15

_encode = msgspec.json.Encoder(decimal_format="number").encode


def named(name_of: Callable[[Ref], SafeText], ref: Ref | None) -> SafeText | None:
    if ref is None:
        return None
    name = name_of(ref)
    return name if ref.id is None or safe(ref.id) == name else plain(f"{name}  {safe(ref.id)}")


def task_details(task: Task, context: CellContext, resolution: Cell | None = None) -> list[Item]:
    """Who asks, how it stands and since when; `asked_for` has the rest of it."""
    agent = context.names.agent_of(task.agent)
    waits = insight.waits_for_person(task)
    status = resolution if waits and resolution is not None else cells.task_status_cell(task)
    level = insight.task_level(task, context.clock.now(), context.limits)
    since = insight.waiting_since(task)
    trust = context.trust_of(task)
    wait = (
        None if since is None else plain(f"{cells.level_sign(level)} {context.wait(since)}".strip())
    )
    waited = [field("waits", wait, TONES[level])] if waits and resolution is None else []
    facts: list[Item] = [
        Gap(),
        field("status", plain(status.text.strip()), status.tone),
        field("priority", task.priority),
        *waited,
        link("agent", context.names.agent, task.agent, "agents"),
        field("role", agent.role if agent else None),
        link("company", context.names.company, context.names.company_of(task), "companies"),
        field("trust", None if trust is None else fmt.number(trust)),
    ]
    times = {"updated": task.updated, "expires": task.expires}
    facts += [field(name, when(moment, context)) for name, moment in times.items() if moment]
    if task.decided or task.decided_by:
        facts += [
            field("decided", when(task.decided, context)),
            field("decided by", task.decided_by),
        ]
    told = field("created", when(task.created, context)), field("id", safe(task.sent_id, _WHOLE))
    return [*head(task), *facts, *told]


def budget_details(budget: model.Budget, context: CellContext) -> list[Item]:
    owners, of, names = list[Item](), context.names.company_of(budget), context.names
    if budget.scope is model.BudgetScope.AGENT:
        owners.append(
            link("agent", names.agent, Ref(id=budget.sent_id, name=budget.name), "agents")
        )
    if of is not None:
        owners.append(link("company", names.company, of, "companies"))
    return [
        Text(context.names.budget(budget), Tone.STRONG),
        Gap(),
        field("for", plain(budget.scope)),
        *owners,
        *budget_fields(budget, context),
        field("id", safe(budget.sent_id)),
    ]


def budget_fields(budget: model.Budget, context: CellContext) -> list[Item]:
    level, items = context.level_of(budget), list[Item]()
    if used := context.used(budget, GAUGE_WIDTH).text:
        gauge = f"{used} {cells.level_sign(level)}"
        items.append(field("used", plain(gauge.rstrip()), TONES[level]))
    items += [
        field("limit", cells.limit_text(budget)),
        field("spent", fmt.money(budget.spent)),
        field("left", fmt.money(budget.remaining)),
    ]
    if budget.warn_at is not None:
        items.append(field("warns at", fmt.percent(budget.warn_at)))
    times = {"began": budget.period_start, "resets": budget.resets}
    items.append(field("period", budget.period))
    items += [field(name, when(at, context)) for name, at in times.items()]
    if budget.status:
        items.append(field("status", budget.status))
    if budget.paused:
        items.append(field("paused", plain(f"{signs.warning} yes"), Tone.WARNING))
    return items


def alert_details(alert: model.Alert, context: CellContext) -> list[Item]:
    level = insight.alert_level(alert, context.limits)
    sign = cells.level_sign(level)
    return [
        Text(plain(f"{sign} {alert.text}".strip()), TONES[level] if level else Tone.STRONG),
        Gap(),
        field("severity", plain(f"{sign} {alert.severity}".strip()), TONES[level]),
        field("kind", alert.kind),
        field("status", alert.status),
        link("agent", context.names.agent, alert.agent, "agents"),
        link("company", context.names.company, alert.company, "companies"),
        field("since", when(alert.at, context)),
        field("used", fmt.percent(alert.share) if alert.share is not None else None),
        field("threshold", fmt.percent(alert.threshold) if alert.threshold is not None else None),
        field("spent", fmt.money(alert.spent)),
        field("limit", fmt.money(alert.limit)),
        field("id", safe(alert.sent_id)),
    ]


def activity_details(entry: model.Activity, context: CellContext) -> list[Item]:
    names = context.names
    severity = f"{signs.derived if entry.severity_derived else ''}{entry.severity}"

    def known(slot: str) -> Callable[[Ref], SafeText]:
        return lambda ref: names.of_entry(entry, slot) or safe(ref.id or "")

    return [
        Text(sentence(entry, names), Tone.STRONG),
        Gap(),
        field("when", when(entry.at, context)),
        field("what", entry.verb),
        link("agent", known("agent"), entry.agent, "agents"),
        field("by", named(known("actor"), entry.actor)),
        link("company", known("company"), entry.company, "companies"),
        link("task", known("task"), entry.task, "tasks" if is_listed(entry.task, context) else ""),
        field(entry.target_type or plain("target"), named(known("target"), entry.target)),
        field("severity", plain(severity)),
        field("outcome", entry.outcome),
        field("id", None if entry.id_derived else safe(entry.sent_id)),
    ]


DETAILS: dict[type, Callable[[Any, CellContext], list[Item]]] = {
    model.Budget: budget_details,
    model.Alert: alert_details,
    model.Activity: activity_details,
}


def details(
    record: model.Record, context: CellContext, *, raw: bool = False, resolution: Cell | None = None
) -> list[Item]:
    """The items for a record; `raw` shows hidden characters, `resolution` what became of a task."""
    if isinstance(record, Task):
        items, rest = task_details(record, context, resolution), [Gap(), *asked_for(record)]
    else:
        told = DETAILS[type(record)](record, context)
        items, rest = [told[0], *about_the_id(record), *told[1:]], beyond(record)
    return [*items, *(beyond(record, raw=True) if raw else rest)]


def link_to(web_url: str | None, record: model.Record | None) -> str:
    """Where people look at a record, by `web_url`; "" without, or if no terminal would take it."""
    if web_url is None or record is None:
        return ""
    from agentco_tui.live.record_export import kind_of  # noqa: PLC0415 - where links are wanted

    of = quote(record.sent_id, safe="", errors="replace")
    address = web_url.replace("{kind}", kind_of(record)).replace("{id}", of)
    return address if re.fullmatch(LINKABLE, address) else ""


def beyond(record: model.Record, *, raw: bool = False) -> list[Item]:
    """What was sent beyond the fields that are known; with `raw` all, hidden characters shown."""
    extra = extra_fields(record.extra)
    if raw:
        whole = {**msgspec.to_builtins(record), "extra": extra}
        whole.pop("content", None)
        text = msgspec.json.format(_encode(whole), indent=2).decode("utf-8", "replace")
        lines = text.split("\n")
        most = max(map(len, lines))
        told = Gap(), *origins(record), Heading(plain("All fields, hidden characters shown"))
        return [*told, *(Text(escaped(line, 12 * most)) for line in lines)]
    return table(extra)


def origins(record: model.Record) -> Iterator[Item]:
    """What is shown otherwise than it was sent."""
    if isinstance(record, Task) and record.title_from not in ("title", "name"):
        yield FieldLine(plain("title"), plain(f"not sent; this is its {record.title_from}"))
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if isinstance(value, Money) and (words := fmt.money_origin(value)):
            yield FieldLine(plain(name), plain(words))


_NAME: Final = 200
_LABELS: Final = 24  # columns of labels at most; a longer one has a line of its own
_STEP: Final = 2
_DEEPEST: Final = 8
_BESIDE: Final = 160  # characters of a text that stands beside its name, not below it
_WHOLE: Final = 1_000_000  # cells and lines of a text: more than a record keeps
_PLAIN_DIGITS: Final = 30  # powers of ten up to which a number is written out
_MOST_HIDDEN: Final = 5

_SUMS: Final = word_set(
    """amount amounts total totals subtotal price prices cost costs sum sums fee fees charge charges
    budget limit limits quantity qty cap ceiling salary wage pay payment payout payable refund
    credit debit balance deposit discount tax vat bonus rate spend spent value worth cents cent
    micros dollars usd eur euro euros gbp chf jpy tokens credits"""
)
_COUNTS: Final = word_set("quantity qty tokens credits rate limit limits cap ceiling")
"""Sums that may count something else than money."""
_NO_SUMS: Final = word_set("id ids at on date time name type kind currency unit url key status")

Fields = Mapping[str, Any]
Row = tuple[SafeText, SafeText, Tone]


def substance(task: Task, context: CellContext, facts: Iterable[Item] = ()) -> list[Item]:
    """The task, whole: title, `facts`, sums, description, all other fields, created and id."""
    told = *head(task), *facts, field("id", safe(task.sent_id, _WHOLE))
    cost = [] if task.cost else [field("cost", None)]
    return [*told, *cost, *asked_for(task), Gap(), field("created", when(task.created, context))]


def asked_for(task: Task) -> list[Item]:
    sums, fields = sums_of(task)
    told = [(plain("cost"), fmt.money(task.cost))] if task.cost else []
    told += sums
    width = min(_LABELS, max((LABEL_WIDTH, *(cell_width(label) + 2 for label, _ in told))))
    items: list[Item] = [FieldLine(label, value, Tone.STRONG, width) for label, value in told]
    if task.description:
        items += [Gap(), Heading(plain("Description")), Text(task.description)]
    return [*items, *table(fields)]


def head(task: Task) -> list[Item]:
    """The title, whole, and what is odd about the record."""
    items: list[Item] = [Text(whole_title(task), Tone.STRONG)]
    items += about_the_id(task)
    if task.cut is not None:
        items.append(warning(f"{signs.warning} too long to be shown whole: {task.cut}"))
    texts = _texts_in(extra_fields(task.extra))
    if hidden := [name for name, text in texts if hidden_in(text)]:
        more = f" and {len(hidden) - _MOST_HIDDEN} more" if len(hidden) > _MOST_HIDDEN else ""
        names = ", ".join(safe(name, _NAME) for name in hidden[:_MOST_HIDDEN])
        items.append(warning(f"{signs.warning} characters that can't be shown in {names}{more}"))
    return items


def about_the_id(record: model.Record) -> list[Item]:
    """Why no write may name a record; nothing if one may."""
    if record.unwritable is None:
        return []
    return [warning(f"{signs.warning} {record.unwritable}")]


def whole_title(task: Task) -> SafeText:
    """The title, also what of it is too long for a line."""
    for _, text in _texts_in(extra_fields(task.extra)):
        if len(text) > len(task.title) and safe(text) == task.title:
            return safe(text, _WHOLE)
    return task.title


def table(fields: Fields) -> list[Item]:
    """Fields as a table: sums first, then the rest, each object and long list below its name."""
    flat = {name: each for name, each in fields.items() if not _is_nested(each)}
    nested = [name for name in fields if name not in flat]
    nested.sort(key=lambda name: (not is_substance(name), not _has_sum(name, fields[name])))
    items, unit = list[Item](), _told_beside(fields)
    for name in nested:
        inside = fields[name] if type(fields[name]) is dict else {"": fields[name]}
        items += [Gap(), Heading(safe(name, _NAME)), *_rows(inside, unit)]
    if flat:
        told = {name: value for name, value in flat.items() if value is not None}
        items += [Gap(), Heading(plain("Other fields")), *_rows(told, unit)] if told else []
    return items


def field(name: str, value: SafeText | None, tone: Tone = Tone.PLAIN) -> FieldLine:
    """A labelled value; the sign for a missing one where the platform did not send it."""
    if value is None or value == signs.missing:
        return FieldLine(plain(name), signs.missing, Tone.DIM)
    return FieldLine(plain(name), value, tone)


def link(name: str, name_of: Callable[[Ref], SafeText], ref: Ref | None, place: str) -> FieldLine:
    """A field with a name that has a page of its own, on that screen."""
    line = field(name, named(name_of, ref))
    is_one = place and ref is not None and ref.id is not None
    return replace(line, key=f"{place}:{ref.id}") if is_one and ref else line


def is_listed(task: Ref | None, context: CellContext) -> bool:
    """Whether there is a page of a task: only those that are listed have one."""
    store = context.store
    return task is not None and (task.id in store.pending.records or task.id in store.tasks.records)


def when(moment: Moment | None, context: CellContext) -> SafeText | None:
    if moment is None:
        return None
    until = moment.at - context.clock.now()
    ago = f"in {fmt.age(until)}" if until > 0 else fmt.ago(-until)
    assumed = ", zone assumed" if moment.zone_assumed else ""
    return plain(f"{ago}, {fmt.moment(moment)}{assumed}")


def warning(words: str, indent: int = 0) -> Text:
    return Text(plain(words), Tone.WARNING, indent)


def sums_of(task: Task) -> tuple[list[tuple[SafeText, SafeText]], dict[str, Any]]:
    """Its sums but the cost, those of objects in it, too, and fields that stand nowhere else."""
    refs = (task.agent and task.agent.name, task.company and task.company.name)
    shown = {task.title, task.description, task.status, task.priority, task.decided_by, *refs}
    fields, rest, sums = dict[str, Any](), dict[str, Any](), list[tuple[str, Any, Unit]]()
    for name, value in extra_fields(task.extra).items():
        lines: tuple[str, ...] = ()
        if type(value) is str:
            lines = (safe(value), safe(value.strip(), 60), safe_block(value, 30_000, 30_000))
        if name != CUT and shown.isdisjoint(lines):
            fields[name] = value
    for name, value in fields.items():
        if _is_sum(name, value):
            sums.append((name, value, _unit(name, fields)))
        elif type(value) is dict:
            inner = {key: each for key, each in value.items() if _is_sum(key, each)}
            sums += [(f"{name}.{key}", each, _unit(key, value)) for key, each in inner.items()]
            kept = {key: each for key, each in value.items() if key not in inner}
            if kept or not value:
                rest[name] = kept
        else:
            rest[name] = value
    lasts = [name.rpartition(".")[2] for name, _, _ in sums]
    return [
        (safe(last if lasts.count(last) == 1 else name, _NAME), _value(value, unit))
        for last, (name, value, unit) in zip(lasts, sums, strict=True)
    ], rest


def _is_sum(name: str, value: Any) -> bool:
    """Whether a value reads as money or as a quantity that money hangs on."""
    parts = words(name)
    if type(value) is dict:
        return bool(value) and _money(value) is not None and not _is_nested(value)
    if type(value) is str:
        if not 0 < len(value) <= 60:
            return False
        money = _money(value)
        if money is not None and money.currency is not None:
            return True
    elif type(value) not in (int, Decimal):
        return False
    told = bool(_SUMS.intersection(parts)) and not _NO_SUMS.intersection(parts[-1:])
    return told and to_decimal(value) is not None


def _money(value: Any, unit: Unit = NO_UNIT) -> Money | None:
    found = to_sum(value, unit)
    return to_money(found) if isinstance(found, Sum) else None


def _has_sum(name: str, value: Any) -> bool:
    if type(value) is dict:
        return any(_has_sum(key, each) for key, each in value.items())
    if type(value) is list:
        return any(_has_sum(name, each) for each in value[:20])
    return _is_sum(name, value)


def _unit(name: str, beside: Fields, around: Unit = NO_UNIT) -> Unit:
    """What one of a sum is: by its own name, by what stands beside it, by what is round it."""
    own = unit_in_name(name)
    if own == NO_UNIT and _COUNTS.intersection(words(name)):
        return NO_UNIT
    return own.with_more(_told_beside(beside)).with_more(around)


def _told_beside(fields: Fields) -> Unit:
    """What the fields of one object say of its sums; of others in it nothing is taken over."""
    return envelope_unit({n: each for n, each in fields.items() if type(each) is str})


def _texts_in(value: Any, name: str = "") -> Iterator[tuple[str, str]]:
    if type(value) is str:
        yield name, value
    elif type(value) is dict or type(value) is list:
        for key, each in value.items() if type(value) is dict else enumerate(value, start=1):
            yield from _texts_in(each, f"{name}.{key}" if name else str(key))


def _rows(fields: Fields, around: Unit) -> list[Item]:
    rows = list(_told(fields, 0, around))
    width = min(_LABELS, max((cell_width(label) + 2 for label, _, _ in rows), default=0))
    items: list[Item] = []
    for label, value, tone in rows:
        if "\n" in value or len(value) > _BESIDE:
            indent = len(label) - len(label.lstrip(" "))
            items += [Text(label, Tone.DIM)] if label.strip() else []
            items.append(Text(value, tone, indent + _STEP if label.strip() else 0))
        elif label:
            items.append(FieldLine(label, value, tone, max(width, LABEL_WIDTH)))
        elif value:
            items.append(Text(value))
    return items


def _told(fields: Fields, depth: int, around: Unit, lead: str = "") -> Iterator[Row]:
    """Label, value and tone of each line; `lead` is the number before an entry's first."""
    inside = _told_beside(fields).with_more(around)
    indent = " " * (_STEP * min(depth, _DEEPEST))
    order = sorted(fields.items(), key=lambda each: (_is_nested(each[1]), not _has_sum(*each)))
    for name, value in order:
        label = plain(f"{indent}{lead}{safe(name, _NAME)}")
        lead = " " * len(lead)
        if not _is_nested(value):
            if _is_sum(name, value):
                yield label, _value(value, _unit(name, fields, around)), Tone.STRONG
            else:
                yield label, _value(value), Tone.PLAIN
            continue
        if name:
            yield label, plain(""), Tone.PLAIN
        if type(value) is dict:
            yield from _told(value, depth + 1, inside)
        else:
            yield from _numbered(value, depth + bool(name), inside)


def _numbered(entries: list[Any], depth: int, around: Unit) -> Iterator[Row]:
    indent = " " * (_STEP * min(depth, _DEEPEST))
    for number, entry in enumerate(entries, start=1):
        if type(entry) is dict and entry:
            yield from _told(entry, depth, around, f"{number}  ")
        elif type(entry) is list and _is_nested(entry):
            yield plain(f"{indent}{number}"), plain(""), Tone.PLAIN
            yield from _numbered(entry, depth + 1, around)
        else:
            yield plain(f"{indent}{number}"), _value(entry), Tone.PLAIN


def _is_nested(value: Any) -> bool:
    """Whether a value takes lines of its own: an object, a list of more than a few words."""
    if type(value) is dict:
        return bool(value) and _money(value) is None
    if type(value) is not list or not value:
        return False
    whole = all(type(each) not in (dict, list) and "," not in str(each) for each in value)
    return not whole or sum(len(str(each)) + 2 for each in value) > _BESIDE


def _value(value: Any, unit: Unit = NO_UNIT) -> SafeText:
    """A value as a person reads it; a sum whose unit is told also as what it comes to."""
    match value:
        case None:
            return plain("nothing")
        case bool():
            return plain("yes" if value else "no")
        case str():
            return safe_block(value, _WHOLE, _WHOLE) if value else plain("an empty text")
        case list():
            return plain(", ".join(_value(each) for each in value) or "an empty list")
        case dict():
            told = (f"{safe(name, _NAME)} {_value(each)}" for name, each in value.items())
            return plain(", ".join(told) or "empty")
    short = abs(Decimal(value).adjusted()) <= _PLAIN_DIGITS
    digits = safe(f"{value:,f}" if short and type(value) is Decimal else f"{value:,}", _WHOLE)
    if unit.power and (money := _money(value, unit)) is not None:
        return plain(f"{digits} = {fmt.money(money)}")
    return plain(f"{digits} {unit.currency}") if unit.currency else digits
