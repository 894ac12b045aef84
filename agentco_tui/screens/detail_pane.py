"""The content of the detail pane: a record's fields as lines, with what was assumed about them.

`details` returns the lines for a task, budget, alert or log entry; companies and AI agents have
whole pages in `pages.py`. The approval dialog uses `task_in_full`, which also shows every field
that the platform sent beyond the known ones (`sent_fields`), so that an operator decides on all of
it. Texts are never shortened silently: a cut is stated with its size, and characters that can't be
shown with their field.

The platform is the remote service that sent the records. A `PaneItem` is a line or block of a text
pane (`FieldLine`, `Heading`, `Paragraph`, ...). A `Ref` names another record by id, name or both.
`record.unwritable` says why approvals and changes can't name a record by its id (several came with
the same one); `record.sent_id` is the id as the platform sent it. A budget's share is the spent
part of its limit.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

import msgspec
from msgspec.structs import replace

from agentco_tui import model
from agentco_tui.live import insight
from agentco_tui.live.sentences import sentence
from agentco_tui.model import Moment, Money, Ref, Task, extra_fields, with_key
from agentco_tui.model import format as fmt
from agentco_tui.screens import cells
from agentco_tui.screens.cells import TONES, CellContext
from agentco_tui.screens.sent_fields import (
    NAME_WIDTH,
    UNLIMITED,
    WIDEST_LABEL,
    field_table,
    sums_of,
    texts_in,
)
from agentco_tui.system.osc import LINKABLE
from agentco_tui.text import (
    SafeText,
    cell_width,
    clean_line,
    count_hidden,
    escaped,
    mark_safe,
)
from agentco_tui.text.signs import signs
from agentco_tui.widgets.text_pane import (
    LABEL_WIDTH,
    BlankLine,
    FieldLine,
    Heading,
    PaneItem,
    Paragraph,
)
from agentco_tui.widgets.tones import Cell, Tone

GAUGE_WIDTH: Final = 15
"""Cells of the gauge of a budget."""
MOST_SUMS_AT_HEAD: Final = 3
"""Sums below the title of a question; more would push what else is known out of sight."""
MOST_HIDDEN_NAMED: Final = 5
"""Fields with characters that can't be shown that are named; of more, the number is shown."""
ESCAPE_LENGTH: Final = 12
"""Cells of an escaped character at most."""

# Amounts are decimals, and are encoded as JSON numbers.
_encode = msgspec.json.Encoder(decimal_format="number").encode


def name_and_id(name_of: Callable[[Ref], SafeText], ref: Ref | None) -> SafeText | None:
    """Return the name of a record and its id, only once if they are the same."""
    if ref is None:
        return None
    name = name_of(ref)
    if ref.id is None or clean_line(ref.id) == name:
        return name
    return mark_safe(f"{name}  {clean_line(ref.id)}")


def task_details(
    task: Task, context: CellContext, resolution: Cell | None = None
) -> list[PaneItem]:
    """Return the title, status, owner and times of a task; `asked_for` returns the rest.

    `resolution` replaces the status of a task that waits for approval: what has become of it
    meanwhile, such as "approved elsewhere".
    """
    names = context.names
    is_waiting = insight.waits_for_person(task)
    status = cells.task_status_cell(task)
    if is_waiting and resolution is not None:
        status = resolution
    items = [
        *title_items(task),
        BlankLine(),
        *kind_items(task),
        field("status", mark_safe(status.text.strip()), status.tone),
        field("priority", task.priority),
    ]
    if is_waiting and resolution is None:
        items.append(_wait_field(task, context))
    agent = names.agent_of(task.agent)
    trust = context.trust_of(task)
    items += [
        link("agent", context.agent_words, task.agent, "agents"),
        field("role", None if agent is None else agent.role),
        link("company", context.company_words, names.company_of(task), "companies"),
        field("trust", None if trust is None else fmt.number(trust)),
    ]
    if task.updated:
        items.append(field("updated", when(task.updated, context)))
    if task.expires:
        items.append(field("expires", when(task.expires, context)))
    if task.decided or task.decided_by:
        items.append(field("decided", when(task.decided, context)))
        items.append(field("decided by", task.decided_by))
    items.append(field("created", when(task.created, context)))
    items.append(field("id", clean_line(task.sent_id, UNLIMITED)))
    return items


def kind_items(task: Task) -> list[PaneItem]:
    """Return what sort of thing a task is; nothing if the platform has no word for it."""
    return [] if task.kind is None else [field("kind", task.kind)]


def _wait_field(task: Task, context: CellContext) -> FieldLine:
    """Return how long a task has been waiting, with the sign of its level."""
    level = insight.task_level(task, context.clock.now(), context.limits)
    since = insight.waiting_since(task)
    if since is None:
        return field("waits", None)
    words = f"{cells.level_sign(level)} {context.wait(since)}".strip()
    return field("waits", mark_safe(words), TONES[level])


def budget_details(budget: model.Budget, context: CellContext) -> list[PaneItem]:
    names = context.names
    owners: list[PaneItem] = []
    if budget.scope is model.BudgetScope.AGENT:
        agent = Ref(id=budget.sent_id, name=budget.name)
        owners.append(link("agent", names.agent, agent, "agents"))
    company = names.company_of(budget)
    if company is not None:
        owners.append(link("company", names.company, company, "companies"))
    return [
        Paragraph(names.budget(budget), Tone.STRONG),
        BlankLine(),
        field("for", mark_safe(budget.scope)),
        *owners,
        *budget_fields(budget, context),
        field("id", clean_line(budget.sent_id)),
    ]


def budget_fields(budget: model.Budget, context: CellContext) -> list[PaneItem]:
    """Return the figures and the period of a budget."""
    items: list[PaneItem] = []
    level = context.level_of(budget)
    used = context.used(budget, GAUGE_WIDTH).text
    if used:
        gauge = f"{used} {cells.level_sign(level)}"
        items.append(field("used", mark_safe(gauge.rstrip()), TONES[level]))
    items += [
        field("limit", cells.limit_text(budget)),
        field("spent", fmt.money(budget.spent)),
        field("left", fmt.money(budget.remaining)),
    ]
    if budget.warn_at is not None:
        items.append(field("warns at", fmt.percent(budget.warn_at)))
    items += [
        field("period", budget.period),
        field("began", when(budget.period_start, context)),
        field("resets", when(budget.resets, context)),
    ]
    if budget.status:
        items.append(field("status", budget.status))
    if budget.paused:
        items.append(field("paused", mark_safe(f"{signs.warning} yes"), Tone.WARNING))
    return items


def alert_details(alert: model.Alert, context: CellContext) -> list[PaneItem]:
    names = context.names
    level = insight.alert_level(alert, context.limits)
    sign = cells.level_sign(level)
    title_tone = TONES[level] if level else Tone.STRONG
    share = None if alert.share is None else fmt.percent(alert.share)
    threshold = None if alert.threshold is None else fmt.percent(alert.threshold)
    return [
        Paragraph(mark_safe(f"{sign} {alert.text}".strip()), title_tone),
        BlankLine(),
        field("severity", mark_safe(f"{sign} {alert.severity}".strip()), TONES[level]),
        field("kind", alert.kind),
        field("status", alert.status),
        link("agent", names.agent, alert.agent, "agents"),
        link("company", names.company, alert.company, "companies"),
        field("since", when(alert.at, context)),
        field("used", share),
        field("threshold", threshold),
        field("spent", fmt.money(alert.spent)),
        field("limit", fmt.money(alert.limit)),
        field("id", clean_line(alert.sent_id)),
    ]


def activity_details(entry: model.Activity, context: CellContext) -> list[PaneItem]:
    """Return the fields of an entry of the activity log."""
    names = context.names
    derived = signs.derived if entry.severity_derived else ""
    task_screen = "tasks" if is_listed(entry.task, context) else ""

    def name_in(slot: str) -> Callable[[Ref], SafeText]:
        """Return a function that names the record in a slot of the entry, such as its actor."""
        return lambda ref: names.of_entry(entry, slot) or clean_line(ref.id or "")

    def task_name(ref: Ref) -> SafeText:
        """Return the task's key and title, as far as they are known, else its id."""
        title = names.of_entry(entry, "task")
        if title is None:
            return entry.task_key or clean_line(ref.id or "")
        return with_key(entry.task_key, title)

    return [
        Paragraph(sentence(entry, names), Tone.STRONG),
        BlankLine(),
        field("when", when(entry.at, context)),
        field("what", entry.verb),
        link("agent", name_in("agent"), entry.agent, "agents"),
        field("by", name_and_id(name_in("actor"), entry.actor)),
        link("company", name_in("company"), entry.company, "companies"),
        link("task", task_name, entry.task, task_screen),
        field(
            entry.target_type or mark_safe("target"), name_and_id(name_in("target"), entry.target)
        ),
        field("severity", mark_safe(f"{derived}{entry.severity}")),
        field("outcome", entry.outcome),
        field("id", None if entry.id_derived else clean_line(entry.sent_id)),
    ]


DETAILS: dict[type, Callable[[Any, CellContext], list[PaneItem]]] = {
    model.Budget: budget_details,
    model.Alert: alert_details,
    model.Activity: activity_details,
}


def details(
    record: model.Record, context: CellContext, *, raw: bool = False, resolution: Cell | None = None
) -> list[PaneItem]:
    """Return the lines for a task, budget, alert or log entry.

    `raw` shows the record as JSON with hidden characters escaped. `resolution` is what has become
    of a task that left the queue, the list of tasks that wait for approval.
    """
    if isinstance(record, Task):
        items = task_details(record, context, resolution)
        sent = [BlankLine(), *asked_for(record)]
    else:
        title, *fields = DETAILS[type(record)](record, context)
        items = [title, *id_warning(record), *fields]
        sent = unknown_fields(record)
    if raw:
        sent = unknown_fields(record, raw=True)
    return [*items, *sent]


def link_to(web_url: str | None, record: model.Record | None) -> str:
    """Return the address of a record in the platform's web interface.

    `web_url` is a setting with the placeholders {kind} and {id}. Returns "" without it, and for an
    address that a terminal would not accept as a link.
    """
    if web_url is None or record is None:
        return ""
    from agentco_tui.live.record_export import kind_of  # noqa: PLC0415 - where links are wanted

    record_id = quote(record.sent_id, safe="", errors="replace")
    address = web_url.replace("{kind}", kind_of(record)).replace("{id}", record_id)
    return address if re.fullmatch(LINKABLE, address) else ""


def unknown_fields(record: model.Record, *, raw: bool = False) -> list[PaneItem]:
    """Return the fields that were sent beyond the known ones.

    With `raw`, return the whole record as JSON with hidden characters escaped.
    """
    extra = extra_fields(record.extra)
    if not raw:
        return field_table(extra)
    whole = {**msgspec.to_builtins(record), "extra": extra}
    for name in ("content", "cause"):
        whole.pop(name, None)
    text = msgspec.json.format(_encode(whole), indent=2).decode("utf-8", "replace")
    lines = text.split("\n")
    widest = max(map(len, lines))
    items: list[PaneItem] = [
        BlankLine(),
        *origins(record),
        Heading(mark_safe("All fields, hidden characters shown")),
    ]
    for line in lines:
        items.append(Paragraph(escaped(line, ESCAPE_LENGTH * widest)))
    return items


def origins(record: model.Record) -> Iterator[PaneItem]:
    """Yield a line for each value that is shown differently from how it was sent."""
    # `title_from` is the name of the field that the title was taken from.
    if isinstance(record, Task) and record.title_from not in ("title", "name"):
        yield FieldLine(mark_safe("title"), mark_safe(f"not sent; this is its {record.title_from}"))
    for name in record.__struct_fields__:
        value = getattr(record, name)
        origin = fmt.money_origin(value) if isinstance(value, Money) else ""
        if origin:
            yield FieldLine(mark_safe(name), mark_safe(origin))


def task_in_full(
    task: Task, context: CellContext, facts: Iterable[PaneItem] = ()
) -> list[PaneItem]:
    """Return everything that the platform sent about a task, for a decision on it.

    The title comes first, then `facts`, the cost beside the other sums, the description and all
    other fields. If no cost was sent, the first sums come right below the title.
    """
    sums, other_fields = sums_of(task)
    first_sums = [] if task.cost else sums[:MOST_SUMS_AT_HEAD]
    further_sums = sums[len(first_sums) :]
    items = [*title_items(task), *_sum_lines(first_sums), *facts]
    items += [*kind_items(task), field("id", clean_line(task.sent_id, UNLIMITED))]
    if task.cost:
        further_sums.insert(0, (mark_safe("cost"), fmt.money(task.cost)))
    elif sums:
        # A missing sign below the sums would read as if nothing was to be paid.
        items.append(FieldLine(mark_safe("cost"), mark_safe("not sent"), Tone.DIM))
    else:
        items.append(field("cost", None))
    items += _sum_lines(further_sums)
    items += _description_and_fields(task, other_fields)
    return [*items, BlankLine(), field("created", when(task.created, context))]


def asked_for(task: Task) -> list[PaneItem]:
    """Return what a task asks for: its sums, its description and its other fields."""
    sums, other_fields = sums_of(task)
    if task.cost:
        sums.insert(0, (mark_safe("cost"), fmt.money(task.cost)))
    return [*_sum_lines(sums), *_description_and_fields(task, other_fields)]


def _sum_lines(sums: Sequence[tuple[SafeText, SafeText]]) -> list[PaneItem]:
    """Return a line for each sum, which has a label and a value."""
    widest = max((cell_width(label) + 2 for label, _ in sums), default=0)
    label_width = min(WIDEST_LABEL, max(LABEL_WIDTH, widest))
    return [FieldLine(label, value, Tone.STRONG, label_width) for label, value in sums]


def _description_and_fields(task: Task, other_fields: Mapping[str, Any]) -> list[PaneItem]:
    items: list[PaneItem] = []
    if task.description:
        items += [BlankLine(), Heading(mark_safe("Description")), Paragraph(task.description)]
    return [*items, *field_table(other_fields)]


def title_items(task: Task) -> list[PaneItem]:
    """Return the whole title of a task, and warnings about parts of it that can't be shown."""
    items: list[PaneItem] = [Paragraph(whole_title(task), Tone.STRONG)]
    items += id_warning(task)
    if task.cut is not None:
        items.append(warning(f"{signs.warning} too long to be shown whole: {task.cut}"))
    texts = texts_in(extra_fields(task.extra))
    hidden = [name for name, text in texts if count_hidden(text)]
    if hidden:
        names = ", ".join(clean_line(name, NAME_WIDTH) for name in hidden[:MOST_HIDDEN_NAMED])
        further = len(hidden) - MOST_HIDDEN_NAMED
        if further > 0:
            names += f" and {further} more"
        items.append(warning(f"{signs.warning} characters that can't be shown in {names}"))
    return items


def id_warning(record: model.Record) -> list[PaneItem]:
    """Return why writes may not name a record by its id; nothing if they may."""
    if record.unwritable is None:
        return []
    return [warning(f"{signs.warning} {record.unwritable}")]


def whole_title(task: Task) -> SafeText:
    """Return a task's key and its title as it was sent, even if `task.title` was cut for a line."""
    for _, text in texts_in(extra_fields(task.extra)):
        if len(text) > len(task.title) and clean_line(text) == task.title:
            return with_key(task.key, clean_line(text, UNLIMITED))
    return task.keyed_title


def field(name: str, value: SafeText | None, tone: Tone = Tone.PLAIN) -> FieldLine:
    """Return a labelled value; the sign for a missing one if the platform did not send it."""
    if value is None or value == signs.missing:
        return FieldLine(mark_safe(name), signs.missing, Tone.DIM)
    return FieldLine(mark_safe(name), value, tone)


def link(name: str, name_of: Callable[[Ref], SafeText], ref: Ref | None, screen: str) -> FieldLine:
    """Return a field with the name of a record that a click opens on its screen.

    Without a screen ("") or an id it is an ordinary field.
    """
    line = field(name, name_and_id(name_of, ref))
    if ref is None or ref.id is None or not screen:
        return line
    return replace(line, key=f"{screen}:{ref.id}")


def is_listed(task: Ref | None, context: CellContext) -> bool:
    """Whether a task is in one of the lists that were read, so that its page can be opened."""
    if task is None:
        return False
    store = context.store
    return task.id in store.pending.records or task.id in store.tasks.records


def when(moment: Moment | None, context: CellContext) -> SafeText | None:
    """Return a time relative to now and in full: "26 m ago, 2026-09-21 11:09:20"."""
    if moment is None:
        return None
    until = moment.at - context.clock.now()
    relative = f"in {fmt.age(until)}" if until > 0 else fmt.ago(-until)
    assumed = ", zone assumed" if moment.zone_assumed else ""
    return mark_safe(f"{relative}, {fmt.moment(moment)}{assumed}")


def warning(words: str, indent: int = 0) -> Paragraph:
    return Paragraph(mark_safe(words), Tone.WARNING, indent)
