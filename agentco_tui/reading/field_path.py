"""Paths to a platform's field, as a profile writes them: `usage.cost_cents`, `steps[0].name`.

A platform is the remote service whose answers are read; a profile is the user's configuration for
it, which may say where a field of our records (the cost of a task) is in them. A dot leads into an
object, `[0]` to an entry of a list, counted from 0. A key that has a dot, a bracket or a quotation
mark in it is written in quotation marks: `"statecode@OData.Value".label`. Keys are compared folded,
as all names are: without case, and without all that is no letter or digit (`fold`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, TypeAlias

from agentco_tui.reading.field_names import fold

FieldPath: TypeAlias = tuple[str | int, ...]
"""The parts of a path: keys of objects, and indices of lists; the first one is a key."""

_LONGEST: Final = 400
"""Characters of the longest path."""
_MOST_PARTS: Final = 12  # keys and indices of one path
_MOST_INDEX: Final = 999
"""The largest index into a list."""
_PLAIN_KEY: Final = re.compile(r'[^.\[\]"]+')
_QUOTED_KEY: Final = re.compile(r'"((?:[^"\\]|\\.)*)"')
_INDEX: Final = re.compile(r"\[(\d{1,6})\]")
_ESCAPED: Final = re.compile(r"\\(.)")


class FieldPathError(ValueError):
    """The text is no path; `str(error)` says what is wrong with it, as in "the path is …"."""


def parse_field_path(text: str) -> FieldPath:
    """The parts of a written path; raises FieldPathError."""
    if len(text) > _LONGEST:
        raise FieldPathError(f"is longer than {_LONGEST} characters")
    parts: list[str | int] = []
    at = 0
    while at < len(text) or not parts:
        if parts and text[at] == "[":
            index = _INDEX.match(text, at)
            if index is None:
                raise FieldPathError("needs a whole number in brackets, such as steps[0]")
            if int(index[1]) > _MOST_INDEX:
                raise FieldPathError(f"reaches behind entry {_MOST_INDEX} of a list")
            parts.append(int(index[1]))
            at = index.end()
            continue
        if parts:
            if text[at] != ".":
                raise FieldPathError(f"needs a dot or a bracket before {text[at:][:20]!r}")
            at += 1
        key, at = _parse_key(text, at)
        parts.append(key)
    if len(parts) > _MOST_PARTS:
        raise FieldPathError(f"has more than {_MOST_PARTS} parts")
    return tuple(parts)


def fold_path(path: FieldPath) -> FieldPath:
    """The path with its keys folded, as they are compared."""
    return tuple(fold(part) if isinstance(part, str) else part for part in path)


def _parse_key(text: str, at: int) -> tuple[str, int]:
    """The key that begins at an index of the text, and the index at which it ends."""
    quoted = _QUOTED_KEY.match(text, at)
    if quoted is not None:
        key = _ESCAPED.sub(r"\1", quoted[1])
        end = quoted.end()
    else:
        plain = _PLAIN_KEY.match(text, at)
        if plain is None:
            if text[at : at + 1] == '"':
                raise FieldPathError("has a quotation mark that is not closed")
            raise FieldPathError('needs names with one dot between them: "usage.cost_cents"')
        key = plain[0]
        end = plain.end()
    if not key.strip():
        raise FieldPathError('needs names with one dot between them: "usage.cost_cents"')
    return key, end


def write_field_path(parts: Sequence[str | int]) -> str:
    """The text of a path, as `parse_field_path` reads it."""
    return "".join(_written_parts(parts))


def _written_parts(parts: Sequence[str | int]) -> Iterator[str]:
    """Each part of a path as text, with the dot or the brackets that separate it."""
    for place, part in enumerate(parts):
        if isinstance(part, int):
            yield f"[{part}]"
            continue
        if place:
            yield "."
        if _PLAIN_KEY.fullmatch(part) and part.strip():
            yield part
        else:
            escaped = part.replace("\\", "\\\\").replace('"', '\\"')
            yield f'"{escaped}"'
