"""Lists the platform's own words in its file: the names and values by which answers are read.

A bug report keeps them, and replaces all others; without them its answers could not be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agentco_tui.api.bundle_words import is_text_slot
from agentco_tui.platforms.platform_records import LISTS, PlatformFile, Source, Sources
from agentco_tui.platforms.templates import names_in, parts_of, split_sum


def mapped_names(file: PlatformFile) -> set[str]:
    """The names of the platform's fields that the file says to be figures or states of ours."""
    return {
        name
        for source in _sources_of(file)
        for slot, name in source.fields.items()
        if not is_text_slot(slot)
    }


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
    yield from (*source.cause, *source.names.values())
    for trace in source.traces:
        yield from (*trace.fields.values(), trace.lines or "", trace.next or "")
        yield from names_in(trace.get)
    titles: Iterable[str] = (title for titles in source.says.values() for title in titles)
    for title in titles:
        yield from (split_sum(name)[0] for name in names_in(title))


def _values_of(source: Source) -> Iterator[str]:
    yield from (*source.query.values(), *source.pending.values())
    yield from (*source.says, *source.never)
    for words in (*source.rows.values(), *source.status.values(), *source.severity.values()):
        yield from (word.removeprefix("!") for word in words)


def _path_segments_of(source: Source) -> Iterator[str]:
    paths = (source.get, source.one or "", *(trace.get for trace in source.traces))
    for path in paths:
        for text, _ in parts_of(path):
            yield from text.split("/")
