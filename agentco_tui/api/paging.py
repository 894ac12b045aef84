"""How the next page of a list is asked for, if the answer says that there is one (SHAPES A).

An answer without any marker gets no second request: what the interface does not promise is not
sent, and `more_suspected` tells that there may be more. Links are followed only within the same
origin and path; a token is carried over as it came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qsl, urljoin, urlsplit

import msgspec

from agentco_tui.api.names import fold, snake, some
from agentco_tui.api.page_headers import meta_in
from agentco_tui.api.page_meta import Meta, meta_of, says_more, total_in
from agentco_tui.patterns import lazy_pattern
from agentco_tui.reading.schema import Json
from agentco_tui.reading.values.number import to_count

_MAX_TOKEN: Final = 4_096
_NO_HEADERS: Final[Mapping[str, str]] = {}


class PageRequest(msgspec.Struct, frozen=True):
    """One GET of a list: `path` as the interface has it, `params` in order, unencoded."""

    path: str
    params: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    """Scheme, host and port of the platform, with the base URL's path if it has one."""
    counts_from_zero: bool = False
    """True once an answer showed that its first page is page 0."""

    def having(self, **changes: str) -> PageRequest:
        """The same request with these parameters set."""
        kept = tuple(pair for pair in self.params if pair[0] not in changes)
        return msgspec.structs.replace(self, params=(*kept, *changes.items()))

    def get(self, *names: str) -> str | None:
        """The first of these parameters that is set."""
        for name in names:
            for key, value in self.params:
                if key == name:
                    return value
        return None


_CURSORS: Final[tuple[tuple[str, str], ...]] = (
    ("nextcursor", "cursor"),
    ("nextpagetoken", "nextPageToken"),
    ("nexttoken", "NextToken"),
    ("nextmarker", "marker"),
    ("continuationtoken", "continuationToken"),
    ("nextcontinuationtoken", "continuationToken"),
    ("nextpagecursor", "cursor"),
    ("endcursor", "after"),
    ("nextstartingafter", "starting_after"),
    ("scrollid", "scroll_id"),
    ("nextoffset", "offset"),
    ("aftercursor", "after"),
    ("nextbookmark", "bookmark"),
    ("continue", "continue"),
)
_LAST_IDS: Final = ("lastid",)
_LINK_HEADER: Final = lazy_pattern(
    r'<([^<>]*)>\s*((?:;\s*[\w*-]+\s*(?:=\s*(?:"[^"]*"|[^",;\s]*))?\s*)*)', re.ASCII
)
_REL: Final = lazy_pattern(r';\s*rel\s*=\s*(?:"([^"]*)"|([^",;\s]+))', re.IGNORECASE)


def next_page(
    body: Json, headers: Mapping[str, str], request: PageRequest, page_len: int
) -> PageRequest | None:
    """The request for the page after this one, or None if the answer names none.

    `headers` with lower-case names; `page_len` is how many records this page held. Stops on an
    empty token, on `has_more: false`, on a cursor that was just used, and where a page adds
    nothing. That a page brings only known ids is for the caller to see.
    """
    by_header = _from_headers(headers, request) or _from_numbers(
        meta_in(headers), request, page_len, None
    )
    if type(body) is not dict:
        return by_header
    meta = meta_of(body)
    more = says_more(meta)
    if more is False:
        return None
    by_link = _from_link(meta, request)
    if by_link is not None:
        return by_link
    by_cursor = _from_cursor(meta, request, page_len)
    if by_cursor is not None:
        return by_cursor
    if by_header is not None:
        return by_header
    if page_len == 0:
        return None
    by_number = _from_numbers(meta, request, page_len, more)
    if by_number is None and more is True and not _ABOUT_NUMBERS.intersection(meta):
        return _from_last_item(body, request)
    return by_number


def more_suspected(
    body: Json, seen: int, request: PageRequest, headers: Mapping[str, str] = _NO_HEADERS
) -> bool:
    """True if more records seem to exist than were seen (SHAPES A5: "at least N").

    To be asked where `next_page` found nothing to follow; `seen` counts the records of this page
    and of those before it. More is suspected for a total above that, for a flag or a link that
    says so, and for a page exactly as long as the `limit` that was asked for.
    """
    asked = to_count(request.get("limit", "per_page", "page_size", "size"))
    if asked and seen and seen % asked == 0:
        return True
    by_header = total_in(meta_in(headers))
    if by_header is not None and by_header > seen:
        return True
    if type(body) is not dict:
        return False
    meta = meta_of(body)
    more = says_more(meta)
    if more is True or (more is None and meta.get("next") not in (None, "", False, {})):
        return True
    if any(fold(key) == "lastevaluatedkey" and value for key, value in some(body, 50)):
        return True  # a key of several parts, which no query can carry
    offset = to_count(request.get("offset")) or 0
    total = total_in(meta)
    if total is not None:
        return total > (seen if seen > offset else seen + offset)
    limit = to_count(meta.get("limit"))
    return bool(limit and seen and seen % limit == 0)


def _token(value: Json) -> str | None:
    if type(value) is int:
        return str(value)
    if type(value) is str and value.strip() and len(value) <= _MAX_TOKEN:
        return value
    return None


def _from_cursor(meta: Meta, request: PageRequest, page_len: int) -> PageRequest | None:
    following = meta.get("next")
    if type(following) is dict:
        for param in ("after", "cursor", "offset", "page"):
            if (token := _token(following.get(param))) is not None:
                return _with(request, param, token)
        return None
    for name, param in _CURSORS:
        token = _token(meta.get(name))
        if token is None:
            continue
        if name == "endcursor" and says_more(meta) is None:
            continue
        if _is_address(token):
            return _to_address(token, request)
        spelt = meta.spelt.get(name, "")
        if "_" in spelt:
            # who writes next_page_token reads page_token
            param = snake("pageToken" if param == "nextPageToken" else param)  # noqa: PLW2901
        elif name == "nexttoken":
            param = spelt or param  # noqa: PLW2901
        if param == "nextPageToken" and request.get(param) != token:
            # Temporal takes it back under its own name, Google's others as pageToken
            return request.having(nextPageToken=token, pageToken=token)
        return _with(request, param, token)
    if type(meta.get("offset")) is str and to_count(meta["offset"]) is None:
        return _with(request, "offset", _token(meta["offset"]))  # Airtable's is a token
    following_page = meta.get("nextpage")
    token = _token(following_page)
    if token is not None:
        return _to_address(token, request) if _is_address(token) else _with(request, "page", token)
    if type(following) is int or (type(following) is str and not _is_address(following)):
        token = _token(following)
        if token is not None:
            is_page = "page" in meta or "currentpage" in meta
            return _with(request, "page" if is_page and token.isdigit() else "cursor", token)
    if says_more(meta) and page_len:
        for name in _LAST_IDS:
            token = _token(meta.get(name))
            if token is not None:
                return _with(request, "after", token)
        for name, param in (
            ("marker", "marker"),
            ("cursor", "cursor"),
            ("after", "after"),
            ("bookmark", "bookmark"),
        ):
            token = _token(meta.get(name))
            if token is not None and request.get(param) != token:
                return _with(request, param, token)
    return None


_PAGE_NUMBERS: Final = ("page", "currentpage", "current", "pageindex", "pagenum", "pageno")
_OFFSETS: Final = ("offset", "skip", "startat", "start", "from", "startindex", "firstresult")
_ABOUT_NUMBERS: Final = frozenset((*_PAGE_NUMBERS, *_OFFSETS, "number", "pages"))


def _from_last_item(body: Mapping[str, Json], request: PageRequest) -> PageRequest | None:
    """After the last item's id, where the answer says only that there is more (SHAPES A10)."""
    for holder in (body, body.get("data"), body.get("result")):
        if type(holder) is not dict:
            continue
        for value in list(holder.values())[:100]:
            if type(value) is list and value and type(value[-1]) is dict:
                token = _token(value[-1].get("id"))
                param = "starting_after" if body.get("object") == "list" else "after"
                return _with(request, param, token)
    return None


def _with(request: PageRequest, param: str, token: str | None) -> PageRequest | None:
    """The request with a token set; None if that very token was the last one already."""
    if token is None or request.get(param) == token:
        return None
    return request.having(**{param: token})


def _from_link(meta: Mapping[str, Json], request: PageRequest) -> PageRequest | None:
    for name in ("next", "nextlink", "nexturl", "nexthref", "odatanextlink", "nextpageurl",
                 "nextpageuri", "nextpagelink", "nexturi", "hydranext"):  # fmt: skip
        value = meta.get(name)
        if type(value) is dict:
            value = value.get("href") or value.get("url") or value.get("link") or value.get("uri")
            if type(meta[name].get("after")) is str:
                continue
        if type(value) is str and _is_address(value):
            return _to_address(value, request)
    return None


def _is_address(text: str) -> bool:
    return len(text) <= _MAX_TOKEN and text.startswith(("http://", "https://", "/", "?", "./"))


def _to_address(address: str, request: PageRequest) -> PageRequest | None:
    """The request that a link names, if it stays with this origin and this very path.

    Scheme, host and port must be the platform's, else the key would leave it (SHAPES A17: behind
    a proxy such links name inner hosts); `more_suspected` tells that one was not followed.
    """
    base = f"{request.origin.rstrip('/')}{request.path}"
    try:
        here, there = urlsplit(base), urlsplit(urljoin(base, address.strip()))
        same = not here.netloc or (
            (here.scheme, here.hostname, here.port) == (there.scheme, there.hostname, there.port)
        )
    except ValueError:
        return None
    if not same or there.username or there.password:
        return None
    if there.path.rstrip("/") not in (here.path.rstrip("/"), request.path.rstrip("/")):
        return None
    named = parse_qsl(there.query, keep_blank_values=True, max_num_fields=50)
    if not named:
        return None
    params = dict(request.params) | dict(named)
    made = msgspec.structs.replace(request, params=tuple(params.items()))
    return None if made == request else made


def _from_headers(headers: Mapping[str, str], request: PageRequest) -> PageRequest | None:
    link = headers.get("link")
    if link and len(link) <= 4 * _MAX_TOKEN:
        for match in _LINK_HEADER.finditer(link):
            if any("next" in (rel[1] or rel[2]).lower().split() for rel in _REL.finditer(match[2])):
                return _to_address(match[1], request)
    page = headers.get("x-next-page", "").strip()
    if page.isdigit() and len(page) < 12:
        return _with(request, "page", page)
    cursor = headers.get("x-next-cursor", "").strip()
    return _with(request, "cursor", cursor) if cursor and len(cursor) <= _MAX_TOKEN else None


def _from_numbers(
    meta: Mapping[str, Json], request: PageRequest, page_len: int, more: bool | None
) -> PageRequest | None:
    """By page number or offset, where the answer names one of its own."""
    total = total_in(meta)
    size = next(
        (count for name in ("perpage", "pagesize", "size", "limit", "itemsperpage")
         if (count := to_count(meta.get(name)))), None,
    )  # fmt: skip
    start = next((name for name in _OFFSETS if to_count(meta.get(name)) is not None), "offset")
    offset = to_count(meta.get(start))
    zero_based = to_count(meta.get("number", meta.get("pagenumber")))
    page = to_count(next((meta[name] for name in _PAGE_NUMBERS if name in meta), None))
    pages = next(
        (count for name in ("totalpages", "pages", "lastpage", "pagecount", "numpages")
         if (count := to_count(meta.get(name))) is not None), None,
    )  # fmt: skip
    if page is None and zero_based is not None and ("last" in meta or "totalelements" in meta):
        # Spring counts from 0 in its answers
        if pages is not None and zero_based + 1 >= pages:
            return None
        # some take requests counted from 1 all the same (spring-data-commons 3433)
        counts_from_one = to_count(request.get("page")) == zero_based + 1
        return _with(request, "page", str(zero_based + 1 + counts_from_one))
    if page is None and "pagenumber" in meta:
        page = zero_based
    if page is not None:
        first = 0 if page == 0 or request.counts_from_zero else 1
        if pages is not None:
            goes_on = page + (1 - first) < pages
        elif total is not None:
            goes_on = (page - first + 1) * (size or page_len) < total
        else:
            goes_on = more is True
        request = msgspec.structs.replace(request, counts_from_zero=first == 0)
        return _with(request, "page", str(page + 1)) if goes_on else None
    if offset is not None or ("limit" in meta and total is not None):
        following = (offset or 0) + page_len
        seen = following - (start == "startindex")  # SCIM counts from 1
        goes_on = total > seen if total is not None else more is True
        if goes_on:
            spelt = meta.spelt.get(start, start) if isinstance(meta, Meta) else start
            return _with(request, spelt if start != "offset" else "offset", str(following))
    return None
