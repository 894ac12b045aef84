"""Writes docs/records.md from the fields of the records: python -m tests.live.records_page."""

from __future__ import annotations

from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Final

from agentco_tui.live.record_export import KINDS, LISTS, PARTS, export_columns
from agentco_tui.model import Moment

PAGE = Path(__file__).parents[2] / "docs" / "records.md"

_HEAD = """# Records for programs

What `agentco-tui get`, the copied JSON, saved views and the environment of own commands hold. This
page is generated from the records by `python -m tests.live.records_page`, and a test holds it to
them: a name that stands here keeps its meaning; fields may be added.

## Values

- Nothing is made up: what the platform did not send is null in JSON, empty in CSV and environment.
- A sum is `{"amount": "12.50", "currency": "USD"}`: whole units, an exact decimal as text; the
  currency is null where none was told, or names what is no money (`TOKENS`).
- A time is UTC as RFC 3339: `"2026-01-31T14:30:00.000Z"`.
- A share is a ratio: 1 is all of it. A trust score is as it was sent; no scale is promised.
- Another record is `{"id", "name"}`, the name also where only the lists of companies, agents or
  tasks told it.
- `status` is the platform's own word, `state` what it is taken for.
- `assumed` names the fields of which a unit (sums) or a zone (times) wasn't sent: units and UTC
  were assumed. `derived` names those that were worked out here.
- `extra` has the fields that were not understood, as the platform sent them.
- Identifiers are exactly as sent. Other texts are cleaned: no control characters, and signs for
  what can't be seen.
- Where it is flat (CSV, environment), parts are joined with `_`, lists with blanks, and `extra` is
  JSON. A variable is the same name in capitals behind its kind: `AGENTCO_TASK_AGENT_NAME`. It is
  one line of at most 4,000 characters. In CSV a `'` stands before what a spreadsheet would run.
- `get trace ID` is the list of its steps. `approve`, `create-task` and `set-limit` tell with
  `--json` what became of it: `exit_code` (as `--help` has them), `verb`, `kind` of outcome,
  `subject` (its id), `title`, `sentence`, `known_by` (`read`, `answer`, `here`), the platform's own
  `words`, and `attempt_id` as in `agentco-tui journal --json`.
"""
_NOTES: Final = {
    ("task", "title_from"): "the field the title was taken from, or several joined by ` + `",
    ("task", "fingerprint"): "what `approve --expect` compares; hexadecimal",
    ("task", "waiting_since"): "when it began to wait for a person, if told apart from `created`",
    ("task", "key"): "what users call it beside its title, such as `GLO-7`",
    ("task", "kind"): "the platform's word for what sort of thing it is",
    ("agent", "error_reason"): "what went wrong; it counts while `state` is `error`",
    ("agent", "reports_to"): "the agent that it reports to",
    ("budget", "id"): "of what it is for",
    ("budget", "unlimited"): "the platform said that there is no limit",
    ("budget", "share"): "spent over limit; may exceed 1",
    ("budget", "warn_at"): "the platform's own warning point, a share",
    ("alert", "open"): "false once resolved, dismissed or acknowledged",
    ("alert", "threshold"): "a share",
    ("activity", "actor"): "who did it, where that is not `agent`",
    ("activity", "target"): "what it was done to, where that is not a task",
    ("step", "depth"): "0 for a root, one more for each parent above it",
    ("step", "parent"): "the id of the step that it is a part of",
}
_OF_ALL: Final = {
    "unwritable": "why no write may name this record; null if one may",
    "sharers": "how many different records came with this id; null if only this one did",
    "nth": "which of these it is, from 1",
}
_FORMS: Final = {bool: "true or false", int: "number", Decimal: "number", float: "seconds"}


def page() -> str:
    parts = [_HEAD]
    for kind in KINDS:
        parts.append(f"\n## {kind}\n\n| JSON | form | flat |\n| --- | --- | --- |\n")
        for shown, (_, form) in export_columns(kind).items():
            pieces = PARTS.get(form, ())
            flat = " ".join(f"`{shown}_{piece}`" for piece in pieces) or f"`{shown}`"
            words = "an object" if shown == "extra" else _form(form)
            if pieces:
                words = "a sum" if pieces[0] == "amount" else "another record"
            note = _NOTES.get((kind, shown)) or _OF_ALL.get(shown)
            parts.append(f"| `{shown}` | {words}{f': {note}' if note else ''} | {flat} |\n")
        for name in LISTS:
            parts.append(f"| `{name}` | list of names | `{name}` |\n")
    return "".join(parts)


def _form(form: type) -> str:
    if isinstance(form, type) and issubclass(form, StrEnum):
        return " ".join(f"`{each}`" for each in form)
    return "time" if form is Moment else _FORMS.get(form, "text")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
