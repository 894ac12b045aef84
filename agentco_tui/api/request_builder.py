"""Builds httpx requests, and checks every part of them before anything is sent.

The origin is scheme, host and port of the platform, the remote service. `RequestInfo` has the
method and path of a request; `RequestClass` decides which pool of connections sends it. The API key
is added later, by the transport.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias
from urllib.parse import quote, urlencode

import httpx

from agentco_tui.api import errors
from agentco_tui.api.error_messages import RequestInfo, error_for
from agentco_tui.api.errors import ApiError
from agentco_tui.api.pools import RequestClass

Pairs: TypeAlias = Iterable[tuple[str, str]]
"""Names and values of a query or of headers, in order."""

_PATH: Final = re.compile(r"(/(?!\.{1,2}(/|$))[A-Za-z0-9_.~%!$&'()*+,;=:@-]+)+")
_HEADER_NAME: Final = re.compile(r"[A-Za-z0-9-]{1,64}")
_HEADER_VALUE: Final = re.compile(r"[!-~]([ -~]{0,1022}[!-~])?")
_ETAG: Final = re.compile(r'(W/)?"[!#-~]{0,200}"')
_LONGEST_URL: Final = 16_000
"""Characters."""


class RequestBuilder:
    """Builds the requests for one origin, without the key."""

    def __init__(
        self, client: httpx.AsyncClient, root: str, origin: httpx.URL, prefix: str = "/api"
    ) -> None:
        """`root` is the address before the path of every request, `prefix` how that begins."""
        self._client = client
        self._prefix = f"{prefix}/"
        self._root = root
        self._origin = (origin.scheme, origin.netloc)

    def build(
        self,
        info: RequestInfo,
        request_class: RequestClass,
        *,
        params: Pairs = (),
        body: bytes | None = None,
        accept: str = "application/json",
        headers: Pairs = (),
        etag: str | None = None,
    ) -> httpx.Request:
        """The request as it goes out on every attempt.

        An `etag` that could not be sent is left out. Raises NotSent.
        """
        if not info.path.startswith(self._prefix) or not _PATH.fullmatch(info.path):
            raise _not_sent(info, "the path is none of the platform's: is an id wrong?")
        all_headers = [("Accept", accept), *headers]
        if etag is not None and _ETAG.fullmatch(etag):
            all_headers.append(("If-None-Match", etag))
        if body is not None:
            all_headers.append(("Content-Type", "application/json"))
        if not _can_be_sent(all_headers):
            raise _not_sent(info, "a header holds a character that cannot be sent")
        query = _encoded_query(params)
        if query is None:
            raise _not_sent(info, "a filter holds a character that cannot be sent")
        target = f"{info.path}?{query}" if query else info.path
        url = self._root + target
        if len(url) > _LONGEST_URL:
            raise _not_sent(info, "the address became too long: use fewer or shorter filters")
        request = self._client.build_request(
            info.method,
            url,
            content=body,
            headers=all_headers,
            extensions={
                "request_class": request_class,
                "recorded_target": f"{info.method} {target}",
            },
        )
        if (request.url.scheme, request.url.netloc) != self._origin:
            raise _not_sent(info, "the request would have left the configured address")
        return request


def _can_be_sent(headers: Sequence[tuple[str, str]]) -> bool:
    return all(
        _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in headers
    )


def _encoded_query(params: Pairs) -> str | None:
    """The query of a URL; None if it cannot be encoded.

    Nothing is raised here: the error that the caller raises would keep this one, and its text.
    """
    try:
        return urlencode([*params], quote_via=quote, safe="")
    except UnicodeError:
        return None


def _not_sent(info: RequestInfo, problem: str) -> ApiError:
    return error_for(errors.NotSent, problem, info)
