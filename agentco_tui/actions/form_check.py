"""What is refused in a form before anything is sent.

The forms create a task or a company on the platform, the remote service that runs AI agents, or
clone a company; keys are the names of the request's fields. The platform states no bounds, so only
what no platform can want is refused here; the rest is the platform's to refuse.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Final

from agentco_tui.text import SafeText, is_blank, mark_safe

LONGEST: Final = 10_000  # characters of a field
NEEDED: Final = {
    "company_id": "choose a company",
    "agent_id": "choose an agent",
    "title": "say what is to be done",
    "priority": "choose a priority",
    "name": "give it a name",
}
"""Fields that must not be empty, with what is said if they are. A name is needed to recognise what
was created."""
_INVISIBLE_CATEGORIES: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, line separators and lone surrogates. Joiners are not
among them: emoji need those."""
_LINE_BREAKS: Final = dict.fromkeys(map(ord, "\n\t\u2028\u2029"), " ")


def check_form(values: Mapping[str, str]) -> dict[str, SafeText]:
    """Return what is wrong with the text in each field of a form; empty if all can be sent."""
    problems: dict[str, SafeText] = {}
    for field, text in values.items():
        may_have_lines = field == "mission"  # of a company: a text of several lines
        one_line = text.translate(_LINE_BREAKS) if may_have_lines else text
        if field in NEEDED and is_blank(text):
            problems[field] = mark_safe(NEEDED[field])
        elif len(text) > LONGEST:
            problems[field] = mark_safe(f"no more than {LONGEST:,} characters")
        elif not _INVISIBLE_CATEGORIES.isdisjoint(map(unicodedata.category, one_line)):
            problems[field] = mark_safe("plain text only: it holds a character that can't be seen")
    return problems
