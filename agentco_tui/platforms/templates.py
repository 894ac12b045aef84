"""Fills in names in braces: "/api/tasks/{id}/approve", "Hire {payload.name}".

A value in a path becomes exactly one segment, whatever is in it. There are no escapes, and nothing
is computed. In a title a sum is written with its unit, "{payload.monthlyCents as cents}".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import msgspec

from agentco_tui.api.generic import path_segment
from agentco_tui.reading.json_access import Json

ValueOf: TypeAlias = Callable[[str], Json]
"""The value of a name; None if there is none."""


class TemplateError(ValueError):
    """The braces of a text don't match; `str(error)` says so."""


def parts_of(template: str) -> Iterator[tuple[str, str]]:
    """Each piece of plain text with the name in braces after it; "" after the last piece."""
    *pieces, rest = template.split("}")
    for piece in pieces:
        text, brace, name = piece.partition("{")
        if not brace or not name or "{" in name or name != name.strip():
            raise TemplateError("has braces without a name between them")
        yield text, name
    if "{" in rest:
        raise TemplateError("has a { without its }")
    yield rest, ""


def split_sum(name: str) -> tuple[str, str | None]:
    """The path in "PATH as UNIT" and the unit, which is None in all other names.

    Raises TemplateError if there is something else around "as".
    """
    words = name.split(" ")
    if "as" not in words:
        return name, None
    if len(words) != 3 or words[1] != "as" or not words[0]:
        raise TemplateError(f"must have {{NAME as UNIT}} with single blanks, has {{{name}}}")
    return words[0], words[2]


def names_in(template: Any) -> set[str]:
    """The names in a text, or in all texts of a body or a table. Raises TemplateError."""
    if isinstance(template, str):
        return {name for _, name in parts_of(template) if name}
    if isinstance(template, dict):
        return set[str]().union(*map(names_in, template.values()))
    if isinstance(template, (list, tuple)):
        return set[str]().union(*map(names_in, template))
    return set()


def fill(template: str, value_of: ValueOf, write: Callable[[str], str] = str) -> str | None:
    """The text with its values, each as `write` makes it; None if one of them is missing."""
    filled: list[str] = []
    for text, name in parts_of(template):
        filled.append(text)
        if name:
            value = as_word(value_of(name))
            if not value:
                return None
            filled.append(write(value))
    return "".join(filled)


def fill_path(template: str, value_of: ValueOf) -> str | None:
    """The path with each value as exactly one segment; None if one of them is missing."""
    return fill(template, value_of, path_segment)


def fill_body(template: Any, value_of: ValueOf) -> Any:
    """The body with its values; a field whose value is missing is left out."""
    if isinstance(template, str):
        parts = list(parts_of(template))
        if len(parts) == 2 and not parts[0][0] and not parts[1][0]:
            return value_of(parts[0][1])
        return fill(template, value_of)
    if isinstance(template, list):
        return [fill_body(each, value_of) for each in template]
    if isinstance(template, dict):
        filled = {name: fill_body(value, value_of) for name, value in template.items()}
        return {name: value for name, value in filled.items() if value is not None}
    return template


def as_word(value: Json) -> str | None:
    """A scalar value as the word that a file writes for it; None for all others."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, msgspec.Raw):
        return bytes(value).decode()  # a number as it is sent
    if value is None or isinstance(value, (dict, list)):
        return None
    return str(value)
