"""What an answer says beside its list: flags, counts and tokens, wherever they stand (SHAPES A)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Final

from agentco_tui.api.names import fold, some
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.number import to_count
from agentco_tui.reading.values.text import flag

_HOLDERS: Final = (
    "data", "result", "response", "payload", "embedded", "meta", "pagination", "paging",
    "pageinfo", "resultinfo", "pageable", "page", "metadata", "responsemetadata", "cursor",
    "cursors", "links", "link", "d", "hits", "view", "hydraview", "collection",
)  # fmt: skip
_MORE: Final = ("hasmore", "hasnextpage", "hasnext", "more", "moreavailable", "istruncated")


class Meta(dict[str, Json]):
    """What an answer says beside its list, by folded names."""

    def __init__(self) -> None:
        super().__init__()
        self.spelt: dict[str, str] = {}
        """How the answer itself spells a name."""


def meta_of(body: Mapping[str, Json]) -> Meta:
    """What the answer says beside its list, folded; inner objects add what the outer lacks."""
    found = Meta()
    todo: list[tuple[Mapping[str, Json], int]] = [(body, 0)]
    while todo:
        holder, depth = todo.pop(0)
        for key, value in some(holder, 200):
            name = fold(key)
            if name == "links" and type(value) is list:
                found.setdefault("next", _next_of(value))
            elif type(value) is dict:
                if name in ("next", "nextpage"):
                    found.setdefault("next", value)
                elif name == "total" and len(value) < 4 and "value" in value:
                    found.setdefault("total", value["value"])  # Elasticsearch
                elif depth < 3 and (name in _HOLDERS or _is_connection(value)):
                    todo.append((value, depth + 1))
            elif type(value) is not list and (name not in found or found[name] is None):
                found[name] = value
                found.spelt[name] = key
    return found


def _next_of(links: list[Json]) -> Json:
    """The link in `[{"rel": "next", "href": …}]`, if there is one."""
    for link in links[:50]:
        rel = link.get("rel") if type(link) is dict else None
        if "next" in (rel if type(rel) is list else str(rel).lower().split()):
            return link
    return None


def _is_connection(value: Mapping[str, Json]) -> bool:
    return any(
        fold(key) in ("pageinfo", "nextcursor", "nextpagetoken") for key in islice(value, 50)
    )


def says_more(meta: Mapping[str, Json]) -> bool | None:
    """Whether a flag says that more follows; None if none says anything."""
    for name in _MORE:
        told = flag(meta.get(name))
        if told is not None:
            return told
    for name in ("last", "islast", "islastpage", "lastpage"):
        if type(meta.get(name)) is bool:
            return not meta[name]
    return None


def total_in(meta: Mapping[str, Json]) -> int | None:
    """How many records there are on all pages, or None."""
    for name in ("total", "totalcount", "totalitems", "totalentries", "totalelements",
                 "totalresults", "totalrecords", "totaldocs", "totalsize", "totalrows",
                 "numfound", "odatacount", "dcount", "hydratotalitems"):  # fmt: skip
        total = to_count(meta.get(name))
        if total is not None:
            return total
    return to_count(meta.get("count"))
