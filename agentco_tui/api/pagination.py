"""Finds the request for the next page of a list in the answer with the current one.

Platforms (the remote services that this program can watch) announce a next page in many ways: a
link, a token, a page number, an offset, a flag; in the body or in headers. All are looked up in
tables of exact names, folded for case and separators (`fold`: `next_page` and `nextPage` are one
name). An answer without any of them gets no second request: what the REST API does not promise is
not sent. Links are followed only within the same origin and path; a token is sent back exactly as
it came.

`next_page` is the entry; it returns a `ListRest`. `Json` is a parsed body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import islice
from typing import Final, NamedTuple
from urllib.parse import SplitResult, parse_qsl, urljoin, urlsplit

import msgspec

from agentco_tui.reading.field_names import fold, words
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.values.scalar import to_count, to_flag
from agentco_tui.text.patterns import lazy_pattern

_MOST_TOKEN: Final = 4_096
"""Characters; a longer token or link is ignored."""
_MOST_JSON: Final = 2_000
"""Characters of a header that holds JSON; a longer one is ignored."""
_MOST_FIELDS: Final = 200
"""Fields of one object that are examined."""
_MOST_DEPTH: Final = 3
"""Levels below the body at which containers are searched."""

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
"""Headers, each with the name under which bodies send the same."""
_JSON_HEADERS: Final = ("x-pagination", "pagination", "paging-headers")
PAGING_HEADERS: Final = (*_HEADERS, *_JSON_HEADERS)
"""All headers that decide how the next page is requested."""
_PAGING: Final = frozenset(PAGING_HEADERS)

_CONTAINERS: Final = (
    "data", "result", "response", "payload", "embedded", "meta", "pagination", "paging",
    "pageinfo", "resultinfo", "pageable", "page", "metadata", "responsemetadata", "cursor",
    "cursors", "links", "link", "d", "hits", "view", "hydraview", "collection",
)  # fmt: skip
"""Objects of an answer that may hold the fields about pages."""
_CONNECTION: Final = frozenset({"pageinfo", "nextcursor", "nextpagetoken"})
"""Fields that make any object such a container: a connection of GraphQL may have any name."""
_MORE: Final = ("hasmore", "hasnextpage", "hasnext", "more", "moreavailable", "istruncated")
"""Flags that are true if more rows follow."""
_IS_LAST: Final = ("last", "islast", "islastpage", "lastpage")
"""Flags that are true on the last page."""
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
"""Names of a token for the next page, and the parameter as which it is sent."""
_CURSORS_IF_MORE: Final = {
    "lastid": "after", "marker": "marker", "cursor": "cursor", "after": "after",
    "bookmark": "bookmark",
}  # fmt: skip
"""Tokens that lead to the next page only if a flag says that more follows; and their parameter."""
# Folded names of numbers: rows of a page, pages in all, this page, its first row.
_SIZES: Final = ("perpage", "pagesize", "size", "limit", "itemsperpage")
_PAGE_COUNTS: Final = ("totalpages", "pages", "lastpage", "pagecount", "numpages")
_PAGE_NUMBERS: Final = ("page", "currentpage", "current", "pageindex", "pagenum", "pageno")
_OFFSETS: Final = ("offset", "skip", "startat", "start", "from", "startindex", "firstresult")
_NUMBERING: Final = frozenset((*_PAGE_NUMBERS, *_OFFSETS, "number", "pages"))

_LINK_HEADER: Final = lazy_pattern(
    r'<([^<>]*)>\s*((?:;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]*))?\s*)*)', re.ASCII
)
_REL: Final = lazy_pattern(r';\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))', re.IGNORECASE)


class PageRequest(msgspec.Struct, frozen=True):
    """One GET of a list: `path` is that of the REST API, `params` are in order, not yet encoded."""

    path: str
    params: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    """Scheme, host and port of the platform, and the path of its base URL if it has one."""
    counts_from_zero: bool = False
    """Whether an answer showed that the platform's first page is page 0."""

    def get(self, *names: str) -> str | None:
        """Return the value of the first of these parameters that is set."""
        params = dict(self.params)
        return next((params[name] for name in names if name in params), None)

    def with_token(self, token: str | None, *names: str) -> PageRequest | None:
        """Return the request with these parameters set to a token.

        None if there is no token, or if this request has that token already: the platform would
        send the same page forever.
        """
        if token is None or self.get(*names) == token:
            return None
        other_params = tuple(param for param in self.params if param[0] not in names)
        token_params = tuple((name, token) for name in names)
        return msgspec.structs.replace(self, params=other_params + token_params)


class ListRest(NamedTuple):
    """What an answer says about the rest of its list."""

    request: PageRequest | None
    """The request for the next page; None if there is none, or if it is unknown how to ask."""
    more: bool
    """Whether there seem to be more rows, but it is unknown how to request them."""
    total: int | None
    """How many rows the platform says there are in all: a hint."""


def next_page(
    body: Json,
    headers: Mapping[str, str],
    request: PageRequest,
    row_count: int,
    rows_before: int = 0,
) -> ListRest:
    """Return how to request the page after this one.

    `headers` have lower-case names; `row_count` is the number of rows of this page, `rows_before`
    that of the pages before it. There is no next page after an empty token, after `has_more:
    false`, after a token that was just used, or after a page without rows. More rows are suspected
    if the total is above what was seen, if a flag or link says so, or if the page is exactly as
    long as the `limit` that was requested.
    """
    fields = _PagingFields(body, headers)
    following = None
    if fields and fields.more is not False:
        following = _by_token(fields, request, row_count)
        if following is None and row_count:
            following = _by_number(fields, request, row_count, rows_before)
        is_numbered = not _NUMBERING.isdisjoint(fields)
        if following is None and row_count and fields.more and not is_numbered:
            following = _after_last_item(body, request)
    total = fields.count(_TOTALS)
    if following is not None:
        return ListRest(following, False, total)
    more = _suspects_more(fields, request, rows_before + row_count, total)
    return ListRest(None, more, total)


def _suspects_more(
    fields: _PagingFields, request: PageRequest, rows_seen: int, total: int | None
) -> bool:
    """Return whether more rows seem to exist although it is unknown how to request them."""
    if fields.more:
        return True
    if fields.more is None and fields.get("next") not in (None, "", False, {}):
        return True
    if fields.get("lastevaluatedkey"):
        return True  # DynamoDB: a key of several parts, which no query can carry
    requested_limit = to_count(request.get("limit", "per_page", "page_size", "size"))
    if _is_full(rows_seen, requested_limit):
        return True
    if total is None:
        return _is_full(rows_seen, to_count(fields.get("limit")))
    offset = to_count(request.get("offset")) or 0
    if rows_seen <= offset:
        rows_seen += offset
    return total > rows_seen


def _is_full(rows_seen: int, limit: int | None) -> bool:
    """Return whether the last page was exactly as long as it could be."""
    if not limit or not rows_seen:
        return False
    return rows_seen % limit == 0


# -- the fields about pages ------------------------------------------------------------------------


class _PagingFields(dict[str, Json]):
    """The fields of an answer that may be about pages, by their folded names.

    Those of the body itself come first; those of inner objects, then those of headers, only add
    what is missing.
    """

    def __init__(self, body: Json, headers: Mapping[str, str]) -> None:
        super().__init__()
        self.spelling: dict[str, str] = {}
        """How the answer itself spells a folded name."""
        self.has_links = False
        """Whether the body has an object or a list of links, in which `next` may be missing."""
        if type(body) is dict:
            self._read_objects(body)
        if not _PAGING.isdisjoint(headers):
            self._read_headers(headers)
        self.more = self._says_more()
        """Whether a flag says that more follows; None if there is no flag."""

    def count(self, names: Iterable[str]) -> int | None:
        """Return the first of these fields that is a count."""
        for name in names:
            if name in self:
                count = to_count(self[name])
                if count is not None:
                    return count
        return None

    def _read_objects(self, body: dict[str, Json]) -> None:
        """Read the body, then the containers in it, level by level."""
        containers = [(body, 0)]
        for container, depth in containers:
            for key, value in islice(container.items(), _MOST_FIELDS):
                name = fold(key)
                if name == "links" and depth == 0 and type(value) in (dict, list) and value:
                    self.has_links = True
                if type(value) is list:
                    if name == "links":
                        self._read_links(value)
                elif type(value) is not dict:
                    if self.get(name) is None:
                        self[name] = value
                        self.spelling[name] = key
                elif self._keep_object(name, value, depth):
                    continue
                elif depth < _MOST_DEPTH and _is_container(name, value):
                    containers.append((value, depth + 1))

    def _keep_object(self, name: str, value: dict[str, Json], depth: int) -> bool:
        """Keep an object that is itself the value of a field about pages; False if it is not."""
        if name in ("next", "nextpage"):
            self.setdefault("next", value)
        elif name == "lastevaluatedkey" and value and depth == 0:
            self[name] = value
        elif name == "total" and len(value) < 4 and "value" in value:
            self.setdefault("total", value["value"])  # Elasticsearch
        else:
            return False
        return True

    def _read_links(self, links: list[Json]) -> None:
        """Keep the next link of a list such as `[{"rel": "next", "href": …}]`."""
        for link in links[:50]:
            rel = link.get("rel") if type(link) is dict else None
            rels = rel if type(rel) is list else str(rel).lower().split()
            if "next" in rels:
                self.setdefault("next", link)

    def _read_headers(self, headers: Mapping[str, str]) -> None:
        for fields in _in_headers(headers):
            for key, value in fields.items():
                if self.get(fold(key)) is None:
                    self[fold(key)] = value

    def _says_more(self) -> bool | None:
        for name in _MORE:
            more = to_flag(self.get(name))
            if more is not None:
                return more
        for name in _IS_LAST:
            is_last = self.get(name)
            if type(is_last) is bool:
                return not is_last
        return None


def _is_container(name: str, value: dict[str, Json]) -> bool:
    if name in _CONTAINERS:
        return True
    return not _CONNECTION.isdisjoint(fold(key) for key in islice(value, 50))


def _in_headers(headers: Mapping[str, str]) -> Iterator[Mapping[str, Json]]:
    """Yield what headers say about pages, by the names under which bodies send the same."""
    fields: dict[str, Json] = {}
    for header, name in _HEADERS.items():
        text = headers.get(header, "").strip()
        if header == "link" and len(text) <= 4 * _MOST_TOKEN:
            address = _next_in_link_header(text)
            if address is not None:
                fields.setdefault(name, {"href": address})
        elif header == "x-next-cursor" or (text.isdigit() and len(text) < 16):
            fields[name] = text
    yield fields
    for header in _JSON_HEADERS:
        text = headers.get(header, "")
        if text.startswith("{") and len(text) <= _MOST_JSON:
            with suppress(BodyError):
                yield parse_json(text.encode("utf-8", "replace"))


def _next_in_link_header(text: str) -> str | None:
    """Return the first address with `rel="next"` (RFC 8288)."""
    for match in _LINK_HEADER.finditer(text):
        for rel in _REL.finditer(match[2]):
            if "next" in (rel[1] or rel[2]).lower().split():
                return match[1]
    return None


# -- by a link or a token --------------------------------------------------------------------------


def _by_token(fields: _PagingFields, request: PageRequest, row_count: int) -> PageRequest | None:
    """Return the request that a link, or a token under any name, leads to."""
    link = _next_link(fields)
    if link is not None:
        linked = _follow_link(link, request)
        if linked is not None:
            return linked
    following = fields.get("next")
    if type(following) is dict:
        for name in ("after", "cursor", "offset", "page"):
            token = _as_token(following.get(name))
            if token is not None:
                return request.with_token(token, name)
    for name in _CURSORS:
        token = _as_token(fields.get(name))
        if token is not None and _leads_to_next(name, token, fields):
            if _is_address(token):
                return _follow_link(token, request)
            return request.with_token(token, *_token_params(name, fields))
    token = _as_token(following)
    if token is not None and not _is_address(token):
        has_page_numbers = "page" in fields or "currentpage" in fields
        if token.isdigit() and has_page_numbers:
            return request.with_token(token, "page")
        return request.with_token(token, "cursor")
    if fields.more and row_count:
        for name, param in _CURSORS_IF_MORE.items():
            token = _as_token(fields.get(name))
            if token is not None and (name == "lastid" or request.get(param) != token):
                return request.with_token(token, param)
    return None


def _next_link(fields: _PagingFields) -> str | None:
    """Return the first address under a name of a link, in any object about pages."""
    for name in _LINKS:
        value = fields.get(name)
        if type(value) is dict:
            if type(value.get("after")) is str:
                continue  # HubSpot: the token beside the link is what its documentation uses
            value = value.get("href") or value.get("url") or value.get("link") or value.get("uri")
        if type(value) is str and _is_address(value):
            return value
    return None


def _leads_to_next(name: str, token: str, fields: _PagingFields) -> bool:
    """Return whether a token is one for the next page, though others use its name differently."""
    if name == "endcursor":
        return fields.more is not None
    if name == "offset":
        return to_count(token) is None  # only Airtable's is a token, not a number
    return True


def _token_params(name: str, fields: _PagingFields) -> tuple[str, ...]:
    """Return the parameters as which a token is sent, in the spelling of the answer."""
    param = _CURSORS[name]
    spelling = fields.spelling.get(name, "")
    if "_" in spelling:
        # A platform that writes next_page_token reads page_token.
        base = "pageToken" if param == "nextPageToken" else param
        param = "_".join(words(base))
    elif name == "nexttoken":
        param = spelling or param
    if param == "nextPageToken":
        # Temporal takes it back under its own name, Google's services as pageToken.
        return param, "pageToken"
    return (param,)


def _as_token(value: Json) -> str | None:
    if type(value) is int:
        return str(value)
    if type(value) is str and value.strip() and len(value) <= _MOST_TOKEN:
        return value
    return None


def _is_address(text: str) -> bool:
    return len(text) <= _MOST_TOKEN and text.startswith(("http://", "https://", "/", "?", "./"))


def _follow_link(address: str, request: PageRequest) -> PageRequest | None:
    """Return the request that a link names, if it stays with this origin and this very path.

    Scheme, host and port must be the platform's; otherwise the API key would leave it. (Behind a
    proxy such links name inner hosts.) That there is more is reported instead.
    """
    current_address = f"{request.origin.rstrip('/')}{request.path}"
    try:
        current = urlsplit(current_address)
        linked = urlsplit(urljoin(current_address, address.strip()))
        is_same_origin = not current.netloc or _origin_of(current) == _origin_of(linked)
        params = parse_qsl(linked.query, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return None
    if not is_same_origin or linked.username or linked.password or not params:
        return None
    if linked.path.rstrip("/") not in (current.path.rstrip("/"), request.path.rstrip("/")):
        return None
    all_params = {**dict(request.params), **dict(params)}
    following = msgspec.structs.replace(request, params=tuple(all_params.items()))
    if following == request:
        return None
    return following


def _origin_of(address: SplitResult) -> tuple[str, str | None, int | None]:
    return address.scheme, address.hostname, address.port


def _after_last_item(body: Json, request: PageRequest) -> PageRequest | None:
    """Return the request for what follows the id of the last item (Stripe, OpenAI)."""
    if type(body) is not dict:
        return None
    for container in (body, body.get("data"), body.get("result")):
        if type(container) is not dict:
            continue
        for value in islice(container.values(), 100):
            if type(value) is list and value and type(value[-1]) is dict:
                last_id = _as_token(value[-1].get("id"))
                is_stripe = body.get("object") == "list"
                return request.with_token(last_id, "starting_after" if is_stripe else "after")
    return None


# -- by a page number or an offset -----------------------------------------------------------------


def _by_number(
    fields: _PagingFields, request: PageRequest, row_count: int, rows_before: int
) -> PageRequest | None:
    """Return the request for the next number, if the answer names its own page or offset."""
    page_field = next((fields[name] for name in _PAGE_NUMBERS if name in fields), None)
    page = to_count(page_field)
    if page is not None:
        return _by_page_number(page, fields, request, row_count)
    number = fields.count(("number", "pagenumber"))
    if number is not None:
        if "last" in fields or "totalelements" in fields:
            return _by_spring_number(number, fields, request, rows_before + row_count)
        if "pagenumber" in fields:
            return _by_page_number(number, fields, request, row_count)
    return _by_offset(fields, request, row_count)


def _by_page_number(
    page: int, fields: _PagingFields, request: PageRequest, row_count: int
) -> PageRequest | None:
    first_page = 0 if page == 0 or request.counts_from_zero else 1
    pages_done = page - first_page + 1
    page_count = fields.count(_PAGE_COUNTS)
    total = fields.count(_TOTALS)
    if page_count is not None:
        has_next = pages_done < page_count
    elif total is not None:
        sizes = [to_count(fields.get(name)) for name in _SIZES]
        page_size = next((size for size in sizes if size), row_count)
        has_next = pages_done * page_size < total
    else:
        has_next = fields.more is True
    if not has_next:
        return None
    request = msgspec.structs.replace(request, counts_from_zero=first_page == 0)
    return request.with_token(str(page + 1), "page")


def _by_spring_number(
    number: int, fields: _PagingFields, request: PageRequest, rows_seen: int
) -> PageRequest | None:
    """Return the next page of Spring Data, whose answers count from 0.

    Some of these platforms take requests that are counted from 1 (spring-data-commons 3433): the
    next number follows from that of the request.
    """
    page_count = fields.count(_PAGE_COUNTS)
    if page_count is not None and number + 1 >= page_count:
        return None
    if fields.more is None:
        element_count = fields.count(("totalelements",))
        if element_count is not None and rows_seen >= element_count:
            return None
        # HAL: the last page has no link to a next one.
        if page_count is None and fields.has_links and not fields.get("next"):
            return None
    next_number = number + 1
    if to_count(request.get("page")) == next_number:
        next_number += 1
    return request.with_token(str(next_number), "page")


def _by_offset(fields: _PagingFields, request: PageRequest, row_count: int) -> PageRequest | None:
    total = fields.count(_TOTALS)
    numbers = [name for name in _OFFSETS if to_count(fields.get(name)) is not None]
    name = numbers[0] if numbers else "offset"
    offset = to_count(fields.get(name))
    if offset is None:
        if "limit" not in fields or total is None:
            return None
        offset = 0
    next_offset = offset + row_count
    rows_seen = next_offset
    if name == "startindex":
        rows_seen -= 1  # SCIM counts from 1
    has_next = fields.more is True
    if total is not None:
        has_next = total > rows_seen
    if not has_next:
        return None
    param = "offset" if name == "offset" else fields.spelling.get(name, name)
    return request.with_token(str(next_offset), param)
