"""Lists the platform's own words in its file: the names and values by which answers are read.

A bug report keeps them, and replaces all others; without them its answers could not be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentco_tui.platforms.platform_file import LISTS
from agentco_tui.platforms.platform_records import PlatformFile, Source, Sources
from agentco_tui.platforms.templates import names_in, parts_of


def mapped_names(file: PlatformFile) -> set[str]:
    """The names of the platform's fields that the file gives a name of ours."""
    return {name for source in _sources_of(file) for name in source.fields.values()}


def words_for_reading(file: PlatformFile) -> set[str]:
    """All others: names of fields and parameters, the segments of paths, and the words of rows."""
    words = set[str]()
    for source in _sources_of(file):
        words.update(_names_of(source), _values_of(source), _path_segments_of(source))
    return words - {"", "*"}


def _sources_of(file: PlatformFile) -> Iterator[Source]:
    for list_name in LISTS:
        sources: Sources = getattr(file, list_name)
        yield from sources.values()


def _names_of(source: Source) -> Iterator[str]:
    yield from (*source.query, *source.pending, *source.takes.values(), *source.ignored)
    yield from (source.where, source.type or "", *source.rows)
    titles: Iterable[str] = (title for titles in source.says.values() for title in titles)
    for template in (*source.trace, *titles):
        yield from names_in(template)


def _values_of(source: Source) -> Iterator[str]:
    yield from (*source.query.values(), *source.pending.values())
    yield from (*source.says, *source.never)
    for words in (*source.rows.values(), *source.status.values(), *source.severity.values()):
        yield from (word.removeprefix("!") for word in words)


def _path_segments_of(source: Source) -> Iterator[str]:
    for path in (source.get, source.one or "", *source.trace):
        for text, _ in parts_of(path):
            yield from text.split("/")
