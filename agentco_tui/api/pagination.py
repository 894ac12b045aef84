"""How the next page of a list is asked for, if the answer says that there is one.

Looked up in tables of exact names, folded for case and separators. An answer without any marker
gets no second request: what the interface does not promise is not sent. Links are followed only
within the same origin and path; a token is carried over as it came.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urljoin, urlsplit

import msgspec

from agentco_tui.reading.field_names import fold, words
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.values.scalar import flag, to_count
from agentco_tui.text.patterns import lazy_pattern

_MOST_TOKEN: Final = 4_096  # characters
_MOST_JSON: Final = 2_000  # characters of a header that holds JSON

_HEADERS: Final = {
    "link": "next", "x-next-page": "nextpage", "x-next-cursor": "nextcursor",
    "x-page": "page", "x-current-page": "page", "x-pagination-page": "page",
    "x-pagination-current-page": "page", "x-per-page": "perpage", "x-page-size": "perpage",
    "x-pagination-per-page": "perpage", "x-pagination-limit": "perpage",
    "x-total-pages": "totalpages", "x-page-count": "totalpages", "x-wp-totalpages": "totalpages",
    "x-pagination-total-pages": "totalpages", "x-pagination-page-count": "totalpages",
    "x-total": "total", "x-total-count": "total", "x-wp-total": "total",
    "x-pagination-total-count": "total", "x-pagination-total": "total",
}  # fmt: skip
"""Headers and the name that bodies have for what is in them: a number, but for three."""
_JSON_HEADERS: Final = ("x-pagination", "pagination", "paging-headers")
PAGING_HEADERS: Final = (*_HEADERS, *_JSON_HEADERS)
"""All headers that decide how the next page is asked for."""
_PAGING: Final = frozenset(PAGING_HEADERS)

_HOLDERS: Final = (
    "data", "result", "response", "payload", "embedded", "meta", "pagination", "paging",
    "pageinfo", "resultinfo", "pageable", "page", "metadata", "responsemetadata", "cursor",
    "cursors", "links", "link", "d", "hits", "view", "hydraview", "collection",
)  # fmt: skip
"""Objects of an answer that are looked into."""
_CONNECTION: Final = frozenset({"pageinfo", "nextcursor", "nextpagetoken"})
_MORE: Final = ("hasmore", "hasnextpage", "hasnext", "more", "moreavailable", "istruncated")
_IS_LAST: Final = ("last", "islast", "islastpage", "lastpage")
_TOTALS: Final = (
    "total", "totalcount", "totalitems", "totalentries", "totalelements", "totalresults",
    "totalrecords", "totaldocs", "totalsize", "totalrows", "numfound", "odatacount", "dcount",
    "hydratotalitems", "recordcount", "resultcount", "count",
)  # fmt: skip
_LINKS: Final = (
    "next", "nextlink", "nexturl", "nexthref", "odatanextlink", "nextpageurl", "nextpageuri",
    "nextpagelink", "nexturi", "hydranext",
)  # fmt: skip
_CURSORS: Final = {
    "nextcursor": "cursor", "nextpagetoken": "nextPageToken", "nexttoken": "NextToken",
    "nextmarker": "marker", "continuationtoken": "continuationToken",
    "nextcontinuationtoken": "continuationToken", "nextpagecursor": "cursor",
    "endcursor": "after", "nextstartingafter": "starting_after", "scrollid": "scroll_id",
    "nextoffset": "offset", "aftercursor": "after", "nextbookmark": "bookmark",
    "continue": "continue", "offset": "offset", "nextpage": "page",
}  # fmt: skip
"""Names of a token for the next page, and the parameter it is sent as."""
_WITH_MORE: Final = {
    "lastid": "after", "marker": "marker", "cursor": "cursor", "after": "after",
    "bookmark": "bookmark",
}  # fmt: skip
"""Tokens that are one for the next page only where a flag says that more follows."""
_SIZES: Final = ("perpage", "pagesize", "size", "limit", "itemsperpage")
_PAGE_COUNTS: Final = ("totalpages", "pages", "lastpage", "pagecount", "numpages")
_PAGE_NUMBERS: Final = ("page", "currentpage", "current", "pageindex", "pagenum", "pageno")
_OFFSETS: Final = ("offset", "skip", "startat", "start", "from", "startindex", "firstresult")
_ABOUT_NUMBERS: Final = frozenset((*_PAGE_NUMBERS, *_OFFSETS, "number", "pages"))

_LINK_HEADER: Final = lazy_pattern(
    r'<([^<>]*)>\s*((?:;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]*))?\s*)*)', re.ASCII
)
_REL: Final = lazy_pattern(r';\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))', re.IGNORECASE)


class PageRequest(msgspec.Struct, frozen=True):
    """One GET of a list: `path` as the interface has it, `params` in order, unencoded."""

    path: str
    params: tuple[tuple[str, str], ...] = ()
    origin: str = ""  # of the platform, with the base URL's path if it has one
    counts_from_zero: bool = False  # once an answer showed that its first page is page 0

    def get(self, *names: str) -> str | None:
        """The first of these parameters that is set."""
        params = dict(self.params)
        return next((params[name] for name in names if name in params), None)

    def next_by(self, token: str | None, *params: str) -> PageRequest | None:
        """The request with a token set; None if that very token was the last one already."""
        if token is None or self.get(*params) == token:
            return None
        kept = tuple(pair for pair in self.params if pair[0] not in params)
        return msgspec.structs.replace(self, params=(*kept, *((name, token) for name in params)))


class _Meta(dict[str, Json]):
    """By folded names; inner objects add what is lacking, headers come last."""

    def __init__(self, body: Json, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.spelt: dict[str, str] = {}  # how the answer itself spells a name
        self.has_links = False  # an object or a list of links, in which `next` may be missing
        todo = [(body, 0)] if type(body) is dict else []
        for holder, depth in todo:
            for key, value in islice(holder.items(), 200):
                name = fold(key)
                if name == "links" and depth == 0 and type(value) in (dict, list) and value:
                    self.has_links = True
                if name == "links" and type(value) is list:
                    # As in `[{"rel": "next", "href": …}]`.
                    for link in value[:50]:
                        rel = link.get("rel") if type(link) is dict else None
                        if "next" in (rel if type(rel) is list else str(rel).lower().split()):
                            self.setdefault("next", link)
                elif type(value) is dict:
                    if name in ("next", "nextpage"):
                        self.setdefault("next", value)
                    elif name == "lastevaluatedkey" and value and depth == 0:
                        self[name] = value
                    elif name == "total" and len(value) < 4 and "value" in value:
                        self.setdefault("total", value["value"])  # Elasticsearch
                    elif depth < 3 and (
                        # A connection of GraphQL's may have any name.
                        name in _HOLDERS or _CONNECTION & {fold(key) for key in islice(value, 50)}
                    ):
                        todo.append((value, depth + 1))
                elif type(value) is not list and self.get(name) is None:
                    self[name] = value
                    self.spelt[name] = key
        for told in _in_headers(headers) if _PAGING & headers.keys() else ():
            for key, value in told.items():
                if self.get(fold(key)) is None:
                    self[fold(key)] = value
        flags = [flag(self.get(name)) for name in _MORE]
        flags += [not self[name] for name in _IS_LAST if type(self.get(name)) is bool]
        # Whether a flag says that more follows; None if none says anything.
        self.more = next((each for each in flags if each is not None), None)

    def count(self, names: Iterable[str]) -> int | None:
        """The first of these that is a count."""
        counts = (to_count(self[name]) for name in names if name in self)
        return next((count for count in counts if count is not None), None)


class ListRest(NamedTuple):
    """What an answer says of the rest of its list."""

    request: PageRequest | None  # for the page after this one
    more: bool  # whether more seems to exist, though nothing tells how to ask for it
    total: int | None  # a hint: what the platform says there are in all


def next_page(
    body: Json, headers: Mapping[str, str], request: PageRequest, page_len: int, before: int = 0
) -> ListRest:
    """How the page after this one is asked for; header names are in lower case.

    Stops on an empty token, on `has_more: false`, on a cursor that was just used, and where a page
    adds nothing. More is suspected for a total above what was seen, for a flag or a link that says
    so, and for a page exactly as long as the `limit` that was asked for.
    """
    meta = _Meta(body, headers)
    following = None
    if meta and meta.more is not False:
        following = _from_token(meta, request, page_len)
        if following is None and page_len:
            following = _from_numbers(meta, request, page_len, before)
            if following is None and meta.more and not _ABOUT_NUMBERS.intersection(meta):
                following = _from_last_item(body, request)
    total = meta.count(_TOTALS)
    if following is not None:
        return ListRest(following, False, total)
    seen = before + page_len
    limits = request.get("limit", "per_page", "page_size", "size"), meta.get("limit")
    asked, told = map(to_count, limits)
    offset = to_count(request.get("offset")) or 0
    more = bool(asked and seen and seen % asked == 0)
    if meta.more or (meta.more is None and meta.get("next") not in (None, "", False, {})):
        more = True
    elif meta.get("lastevaluatedkey"):
        more = True  # DynamoDB: a key of several parts, which no query can carry
    elif total is not None:
        more = more or total > (seen if seen > offset else seen + offset)
    else:
        more = more or bool(told and seen and seen % told == 0)
    return ListRest(None, more, total)


def _in_headers(headers: Mapping[str, str]) -> Iterator[Mapping[str, Json]]:
    """What headers say of pages, sizes and counts, by the names that bodies have for them."""
    told: dict[str, Json] = {}
    for header, name in _HEADERS.items():
        text = headers.get(header, "").strip()
        if header == "link" and len(text) <= 4 * _MOST_TOKEN:
            for match in _LINK_HEADER.finditer(text):
                rels = _REL.finditer(match[2])
                if any("next" in (rel[1] or rel[2]).lower().split() for rel in rels):
                    told.setdefault(name, {"href": match[1]})
        elif header == "x-next-cursor" or (text.isdigit() and len(text) < 16):
            told[name] = text
    yield told
    for header in _JSON_HEADERS:
        text = headers.get(header, "")
        if text.startswith("{") and len(text) <= _MOST_JSON:
            with suppress(BodyError):
                yield parse_json(text.encode("utf-8", "replace"))


def _token(value: Json) -> str | None:
    if type(value) is int:
        return str(value)
    return value if type(value) is str and value.strip() and len(value) <= _MOST_TOKEN else None


def _from_token(meta: _Meta, request: PageRequest, page_len: int) -> PageRequest | None:
    """By a link, or by a token of whatever name."""
    for name in _LINKS:
        value = meta.get(name)
        if type(value) is dict:
            if type(value.get("after")) is str:
                continue
            value = value.get("href") or value.get("url") or value.get("link") or value.get("uri")
        if type(value) is str and _is_address(value):
            if linked := _to_address(value, request):
                return linked
            break
    following = meta.get("next")
    if type(following) is dict:
        for param in ("after", "cursor", "offset", "page"):
            if (token := _token(following.get(param))) is not None:
                return request.next_by(token, param)
    for name, param in _CURSORS.items():
        token = _token(meta.get(name))
        if token is None or (name == "endcursor" and meta.more is None):
            continue
        if name == "offset" and to_count(token) is not None:
            continue  # only Airtable's is a token
        if _is_address(token):
            return _to_address(token, request)
        spelt = meta.spelt.get(name, "")
        if "_" in spelt:
            # who writes next_page_token reads page_token
            param = "_".join(words("pageToken" if param == "nextPageToken" else param))  # noqa: PLW2901
        elif name == "nexttoken":
            param = spelt or param  # noqa: PLW2901
        # Temporal takes it back under its own name, Google's others as pageToken
        also = ("pageToken",) if param == "nextPageToken" else ()
        return request.next_by(token, param, *also)
    if (token := _token(following)) is not None and not _is_address(token):
        is_page = token.isdigit() and ("page" in meta or "currentpage" in meta)
        return request.next_by(token, "page" if is_page else "cursor")
    if meta.more and page_len:
        for name, param in _WITH_MORE.items():
            token = _token(meta.get(name))
            if token is not None and (name == "lastid" or request.get(param) != token):
                return request.next_by(token, param)
    return None


def _from_last_item(body: Json, request: PageRequest) -> PageRequest | None:
    """After the last item's id, where the answer says only that there is more (Stripe, OpenAI)."""
    if type(body) is not dict:
        return None
    for holder in (body, body.get("data"), body.get("result")):
        for value in islice(holder.values(), 100) if type(holder) is dict else ():
            if type(value) is list and value and type(value[-1]) is dict:
                param = "starting_after" if body.get("object") == "list" else "after"
                return request.next_by(_token(value[-1].get("id")), param)
    return None


def _is_address(text: str) -> bool:
    return len(text) <= _MOST_TOKEN and text.startswith(("http://", "https://", "/", "?", "./"))


def _to_address(address: str, request: PageRequest) -> PageRequest | None:
    """The request that a link names, if it stays with this origin and this very path.

    Scheme, host and port must be the platform's, else the key would leave it (behind a proxy such
    links name inner hosts): that there is more is told instead.
    """
    base = f"{request.origin.rstrip('/')}{request.path}"
    try:
        here, there = urlsplit(base), urlsplit(urljoin(base, address.strip()))
        same = not here.netloc or (
            (here.scheme, here.hostname, here.port) == (there.scheme, there.hostname, there.port)
        )
        named = parse_qsl(there.query, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return None
    if not same or there.username or there.password or not named:
        return None
    if there.path.rstrip("/") not in (here.path.rstrip("/"), request.path.rstrip("/")):
        return None
    params = dict(request.params) | dict(named)
    made = msgspec.structs.replace(request, params=tuple(params.items()))
    return None if made == request else made


def _from_numbers(
    meta: _Meta, request: PageRequest, page_len: int, before: int
) -> PageRequest | None:
    """By page number or offset, where the answer names one of its own.

    `before` rows were on the pages before this one.
    """
    total, pages = meta.count(_TOTALS), meta.count(_PAGE_COUNTS)
    page = to_count(next((meta[name] for name in _PAGE_NUMBERS if name in meta), None))
    if page is None and (number := meta.count(("number", "pagenumber"))) is not None:
        if "last" in meta or "totalelements" in meta:
            # Spring counts from 0 in its answers; some take requests counted from 1 all the same
            # (spring-data-commons 3433)
            if pages is not None and number + 1 >= pages:
                return None
            elements = meta.count(("totalelements",))
            all_seen = elements is not None and before + page_len >= elements
            # HAL: the last page has no link to a next one.
            is_last = pages is None and meta.has_links and not meta.get("next")
            if meta.more is None and (all_seen or is_last):
                return None
            counts_from_one = to_count(request.get("page")) == number + 1
            return request.next_by(str(number + 1 + counts_from_one), "page")
        page = number if "pagenumber" in meta else None
    if page is not None:
        first = 0 if page == 0 or request.counts_from_zero else 1
        if pages is not None:
            goes_on = page + (1 - first) < pages
        elif total is not None:
            size = next((count for name in _SIZES if (count := to_count(meta.get(name)))), page_len)
            goes_on = (page - first + 1) * size < total
        else:
            goes_on = meta.more is True
        request = msgspec.structs.replace(request, counts_from_zero=first == 0)
        return request.next_by(str(page + 1), "page") if goes_on else None
    start = next((name for name in _OFFSETS if to_count(meta.get(name)) is not None), "offset")
    offset = to_count(meta.get(start))
    if offset is None and ("limit" not in meta or total is None):
        return None
    following = (offset or 0) + page_len
    seen = following - (start == "startindex")  # SCIM counts from 1
    if total > seen if total is not None else meta.more is True:
        spelt = "offset" if start == "offset" else meta.spelt.get(start, start)
        return request.next_by(str(following), spelt)
    return None
