"""What can be said of a form before anything is sent: pure checks, a sentence for each field.

The interface states no bounds, so only what no platform can want is refused here; the rest is the
platform's to refuse, in its own words, which are put beside the fields as well.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from agentco_tui.text import SafeText, plain

LONGEST_NAME = 200
LONGEST_TITLE = 500
LONGEST_WORD = 100
LONGEST_MISSION = 10_000
WHOLE_DIGITS = 12
DECIMALS = 6

_NUMBER = re.compile(r"([0-9]+)(?:\.([0-9]*))?|\.([0-9]+)")

Problems = Mapping[str, SafeText]
"""A sentence for each field that can't be sent; empty if all can."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskForm:
    """What a new task needs; the field names are those of the request body."""

    company_id: str
    title: str
    agent_id: str
    priority: str

    def stripped(self) -> TaskForm:
        """Without the blanks around what was typed."""
        return TaskForm(
            company_id=self.company_id,
            title=self.title.strip(),
            agent_id=self.agent_id,
            priority=self.priority.strip(),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CompanyForm:
    """What a new company needs; a clone takes no template."""

    name: str
    mission: str
    template: str = ""

    def stripped(self) -> CompanyForm:
        """Without the blanks around what was typed."""
        return CompanyForm(
            name=self.name.strip(), mission=self.mission.strip(), template=self.template.strip()
        )


def check_task(form: TaskForm) -> Problems:
    """What is wrong with the form of a new task."""
    return _found(
        company_id=None if form.company_id else "choose a company",
        title=_line(form.title, LONGEST_TITLE, "say what is to be done"),
        agent_id=None if form.agent_id else "choose an agent",
        priority=_line(form.priority, LONGEST_WORD, "choose a priority"),
    )


def check_company(form: CompanyForm) -> Problems:
    """What is wrong with the form of a new company."""
    return _found(
        name=_line(form.name, LONGEST_NAME, "give it a name"),
        template=_line(form.template, LONGEST_NAME, "name a template"),
        mission=_block(form.mission, LONGEST_MISSION, "say what it is for"),
    )


def check_clone(form: CompanyForm) -> Problems:
    """What is wrong with the form of a clone."""
    return _found(
        name=_line(form.name, LONGEST_NAME, "give the copy a name"),
        mission=_block(form.mission, LONGEST_MISSION, "say what the copy is for"),
    )


def check_limit(text: str) -> Decimal | SafeText:
    """The monthly limit that was typed, or what is wrong with it.

    >>> check_limit(" 1250.50 "), check_limit("1,250")
    (Decimal('1250.50'), 'write it without commas, as in 1250.50')
    """
    typed = text.strip()
    if not typed:
        return plain("type an amount, such as 250 or 99.50")
    if "," in typed:
        return plain("write it without commas, as in 1250.50")
    if typed.startswith(("-", "\u2212")):
        return plain("a limit can't be negative")
    match = _NUMBER.fullmatch(typed)
    if match is None:
        return plain("digits and a point only, as in 99.50")
    whole, decimals = match[1] or "0", match[2] or match[3] or ""
    if len(whole.lstrip("0")) > WHOLE_DIGITS:
        return plain(f"no more than {WHOLE_DIGITS} digits")
    if len(decimals.rstrip("0")) > DECIMALS:
        return plain(f"no more than {DECIMALS} digits after the point")
    return Decimal(f"{whole}.{decimals or '0'}" if decimals else whole)


def beside(
    told: Iterable[tuple[SafeText, SafeText]], fields: Sequence[str]
) -> tuple[Mapping[str, SafeText], tuple[SafeText, ...]]:
    """The platform's messages by form field, and those that belong to none of them.

    Platforms name a field in their own way: agentId, body.agent_id, /data/attributes/title.
    """
    known = {_folded(field): field for field in fields}
    by_field: dict[str, SafeText] = {}
    others: list[SafeText] = []
    for name, message in told:
        parts = [_folded(part) for part in re.split(r"[./\[\]]+", name) if part]
        field = next((known[part] for part in reversed(parts) if part in known), None)
        if field is None:
            others.append(plain(f"{name}: {message}") if name else message)
        else:
            before = by_field.get(field)
            by_field[field] = message if before is None else plain(f"{before}; {message}")
    return by_field, tuple(others)


def _folded(name: str) -> str:
    """`agent_id`, `agentId` and `agent-id` are one name."""
    return re.sub("[^a-z0-9]", "", name.casefold())


def _line(text: str, longest: int, missing: str) -> str | None:
    """What is wrong with one line of text."""
    return _wrong(text, longest, missing, "one line of plain text only", "\u2028\u2029")


def _block(text: str, longest: int, missing: str) -> str | None:
    """What is wrong with several lines of text."""
    return _wrong(text.replace("\n", " ").replace("\t", " "), longest, missing, "plain text only")


def _wrong(text: str, longest: int, missing: str, only: str, also: str = "") -> str | None:
    typed = text.strip()
    if not typed:
        return missing
    if len(typed) > longest:
        return f"{len(typed):,} characters are too many: no more than {longest:,}"
    # Control characters and lone surrogates; joiners of emoji and scripts are let through.
    if any(unicodedata.category(char) in ("Cc", "Cs") or char in also for char in typed):
        return f"{only}: it holds a character that can't be seen"
    return None


def _found(**problems: str | None) -> Problems:
    return {field: plain(words) for field, words in problems.items() if words is not None}
