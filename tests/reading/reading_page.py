"""Writes docs/reading.md from the tables of the reader: python -m tests.reading.reading_page."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentco_tui.reading.envelope import WRAPPERS
from agentco_tui.reading.field_meanings import MEANINGS
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.kinds.figures import PERIODS
from agentco_tui.reading.schema import Kind

PAGE = Path(__file__).parents[2] / "docs" / "reading.md"

_HEAD = """# What is read of an answer

Generated from the tables in `agentco_tui/reading/` by `python -m tests.reading.reading_page`; a
test holds it to them. To add a name, put it into the table of its kind with its source; to read a
platform's own name without a change of code, map it in the profile.

## Mapping a platform

1. Run `agentco-tui doctor --fields`. It reads one page of each list as the dashboard does, and
   changes nothing. For each kind it prints what is read from which field; then, get_field
   `[profiles.NAME.fields.KIND]`, every field that nothing is read from, with its path, a sample
   value and our most similar field.
2. Paste these lines into the config file. A line without `#` is a proposal: the names share a word,
   and nothing else is read for that field. A line that begins with `#` names the nearest field
   that can hold such a value; check it, and remove the `#` if it is right. A warning about an id
   comes first: what you approve or change is addressed by that id.
3. Run `agentco-tui config check`, then `agentco-tui doctor --fields` again. A path that no record
   has, or whose values cannot be read, is reported with the nearest path.

A mapping looks like this:

    [profiles.prod.fields.agent_budget]
    spent = "usage.cost_cents"          # dots lead into objects
    limit = "caps[0].amount"            # [0] is the first entry of a list
    status = '"state@OData.Text".label' # quotation marks round a key with dots

    [profiles.prod.money]
    unit = "cents"                      # units, cents, minor, millis, micros, nanos
    currency = "EUR"

    [profiles.prod.status.task]         # [profiles.prod.status] is the same
    pending = ["needs_ok"]              # the platform's words for each of our states
    null = "pending"                    # a status that is sent as null

    [profiles.prod.status.agent]
    paused = ["parked"]

    [profiles.prod.status.alert]        # open or closed
    closed = ["handled"]

    [profiles.prod.severity]            # of alerts and log entries: critical, warning, info
    critical = ["boom"]

A path begins in a record, inside what it is wrapped in (`attributes`, `node`). A mapped field is
tried before all names of the tables. `true` and `false` are words where a status is mapped to them.
Traces cannot be mapped.

The paths, queries and bodies of requests cannot be mapped either: a platform that does not have the
17 operations of [interface.md](interface.md) needs a proxy that translates.

## Rules

- A name is looked up, whole: case and separators do not count, a dot is a nested object, `{a,b}`
  stands for both. Names stand in order of rank; what comes after a dash is who sends them.
- A name of a sum may end in a unit: `_usd`, `_eur` and other codes, `_cents`, `_minor`, `_micros`,
  `_nanos`, `_dollars`, `_tokens`, `_credits` and their like. One with a unit goes before its twin
  without, money before what is no money.
- Else a field beside the sum tells the unit (`unit: "cents"`, `amounts_in`, `metric`), the answer
  round it, or the profile. A currency alone tells none: the sum is shown as sent, and marked.
- A record's own period chooses among its figures; where limit, spent and remaining contradict each
  other none of them is read.
- A share of 1.5 or less is read only where its name, a per cent sign, the sums or the other rows
  of the answer tell what 1 means.
- A warning point below 1 is a ratio. 1 and more under a name that says per cent is a percentage
  (`threshold_percent: 1` is one per cent), unless other rows of the answer have ratios there.
- What is counted as a `metric`, `unit` or `meter` that is no money (`seats`) is not read as a sum.
- An alert with a threshold and nothing observed is a rule, and not open: it has no time but that
  of its creation, no figure, no state such as ALARM, no text. A severity says how bad it would be.
  Of a rule that can be switched off no text says that something happened, either.
- A status word with "not" or "no" in it (`approval_not_required`) says nothing about what a task
  waits for. "blocked" alone does not say by what; a count of missing approvals does.
- What no name leads to stays with the record, in its other fields.

## Who a row is

- A row's own `id` is its id. An object inside it with another id is what the row is about, never
  the row, whatever it is called (`resource`, `document`, `item`, `properties`, …). `resource`,
  `record`, `document`, `item`, `object` and `entity` need no id for that.
- A write names a row only by its own id, by a field that says what it identifies (`agent_id` in an
  agent's budget, a type beside an id), or by what a profile maps. `user_id`, `owner`, `assignee`,
  `target_id`, `account_id` and `tenant` are read where there is nothing else, and never written to.
- Where a task has no id of its own and several `*_id` fields, a table of known pairs decides
  (`run_id` beside `job_id`), or the name of its list. Where neither does, it can be read and not
  written to: its details and `get --json` (`unwritable`) say why. `id = "run_id"` in
  `[profiles.prod.fields.task]` decides.
- Different rows with the same id are all shown and marked, and no write names any of them.

## UnreadableRecord by design

- names that no table has, and figures of other times (`last_month_spent`, `average`)
- `balance`, `available`, `allocated`, prices (`cost_per_month`): not what is left, granted or spent
- an `amount` without anything spent or left beside it; a `total` that they do not add up to
- a limit of null: it says nothing; no number is too large to be a limit
- a budget whose owner is not named: in a list of budgets or policies its own id is not the owner's
- an alert's severity where the platform gives no word for it: the figures are judged by `[alerts]`
- bodies as tables with columns, lists of pairs, maps side by side, groups by status or severity
- sums and shares inside sentences, and sums written out beside numbers (`formatted`)
"""


def page() -> str:
    """The whole page."""
    wrappers = " ".join(f"`{name}`" for name in WRAPPERS)
    parts = [
        _HEAD,
        "## Where records are looked for\n",
        f"Under the kind's own names, then under {wrappers}; then the only list there is.\n",
        "Answers with their truth are in `tests/reading/bodies/`.\n",
    ]
    same: dict[object, dict[str, Kind[Any]]] = {}
    for name, kind in mappable_kinds().items():
        same.setdefault(tuple(map(id, kind.table.fields)), {})[name] = kind
    parts += [_kinds(kinds) for kinds in same.values()]
    return "\n".join(parts)


def _kinds(kinds: Mapping[str, Kind[Any]]) -> str:
    """The table of the kinds that have the same."""
    lines = [f"## {', '.join(kinds)}", ""]
    for name, kind in kinds.items():
        own = " ".join(f"`{each}`" for each in (*kind.list_keys, *kind.fallback_list_keys))
        lines += [f"Own names of {name}: {own}", ""]
    lines += ["| our field | what it is | names |", "| --- | --- | --- |"]
    meanings = {slot: words for name in kinds for slot, words in MEANINGS[name].items()}
    kind = next(iter(kinds.values()))
    told: dict[str, list[str]] = {}
    for field in kind.table.fields:
        slot, _, period = field.slot.partition(" ")
        if period in PERIODS and period != "month":
            continue  # as for the month, with the other words
        where = f"{slot} of a period" if period == "month" else field.slot
        written = field.names.replace(f"{{{PERIODS['month']}}}", "PERIOD")
        for line in written.splitlines():
            spelt, _, source = line.partition("#")
            if spelt.strip() or source.strip():
                each = " ".join(f"`{one}`" for one in spelt.split())
                dash = f" — {source.strip()}" if source.strip() else ""
                told.setdefault(where, []).append((each + dash).strip())
    lines += [
        f"| {slot} | {meanings.get(slot, '')} | {'; '.join(names)} |"
        for slot, names in told.items()
    ]
    if any(slot.endswith(" of a period") for slot in told):
        words = "; ".join(f"{period}: {spelt}" for period, spelt in PERIODS.items())
        lines += ["", f"PERIOD is one of: {words.replace(',', ', ')}."]
    return "\n".join((*lines, ""))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
