"""An answer that is not what was asked for, as an ApiError with a sentence that says what to do.

All sentences are ours. Words of the platform stand beside them, read by `error_body` and cleaned by
`text`; a reason phrase or a header is never shown, except the host of a redirect, cleaned.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError, Sent
from agentco_tui.api.waits import asked_wait
from agentco_tui.reading.error_body import read_error
from agentco_tui.text import SafeText, plain, safe

KEY_SOURCE: Final = "AGENTCO_API_KEY, or the profile's api_key_command"
"""Where a person looks for the key if nothing says where this one came from."""

_READS: Final = frozenset({"GET", "HEAD"})
_COLLECTIONS: Final = frozenset(
    {
        "/api/companies",
        "/api/agents",
        "/api/tasks",
        "/api/activity",
        "/api/activity/export",
        "/api/budget",
        "/api/budget/companies",
        "/api/budget/agents",
        "/api/budget/alerts",
    }
)
"""Paths without an identifier: a 404 there is about the address, not about a record."""

_RATE_CODES: Final = frozenset(
    {"ratelimited", "ratelimitexceeded", "toomanyrequests", "throttlingexception", "throttled"}
)
"""Codes, without signs and case, with which a 400 or 403 is a rate limit (SHAPES C24, I)."""

_STATUS_WORDS: Final[Mapping[int, str]] = {
    402: "the platform wants credit or a payment first (402)",
    405: "the platform does not offer this operation at this address (405): check base_url",
    406: "the platform cannot answer with JSON here (406): check base_url",
    407: "a proxy on the way wants a sign-in (407): check the proxy settings",
    408: "the platform gave up waiting for the request (408): try again",
    410: "the platform no longer has this (410)",
    411: "the platform wants a length that was not sent (411): tell its operators",
    413: "what was sent is too large for the platform (413): send less",
    414: "the address became too long for the platform (414): use fewer filters",
    415: "the platform does not take JSON here (415): check base_url",
    421: "the server is not responsible for this host (421): check base_url",
    423: "this is locked on the platform (423): try again later",
    425: "the platform does not take the request this early (425): try again",
    428: "the platform wants a condition that was not sent (428): read again and repeat",
    431: "the platform finds the headers too large (431): is the key the right one?",
    451: "the platform may not show this for legal reasons (451)",
    500: "the platform failed inside (500): try again, and tell its operators if it stays",
    501: "the platform has not built this operation (501)",
    502: "a proxy before the platform got no good answer from it (502): try again soon",
    503: "the platform is not available now (503): try again soon",
    504: "a proxy before the platform waited too long for it (504): try again soon",
    507: "the platform has no room left (507): tell its operators",
    511: "a network on the way wants a sign-in first (511): open a browser there",
}
_MAYBE_APPLIED: Final = frozenset({408, 499})
"""4xx statuses that a proxy may answer with while the platform goes on working."""


class Asked(msgspec.Struct, frozen=True):
    """What a sentence may say about a request: no key, no query, no body."""

    method: str
    path: str
    """Relative to the base address, identifiers percent-encoded."""
    host: SafeText
    """The configured host, cleaned, with the port where it is not the scheme's own."""
    key_source: str = KEY_SOURCE

    @property
    def writes(self) -> bool:
        """True if the platform may change something because of it."""
        return self.method not in _READS


def tell(
    kind: type[ApiError],
    words: str,
    asked: Asked,
    *,
    sent: Sent | None = None,
    status: int | None = None,
    retry_after: float | None = None,
) -> ApiError:
    """The error of class `kind`; `words` are ours or cleaned.

    `sent` beats what the class says. To a write whose outcome is not known the advice is added to
    look first, because nothing else here may repeat it.
    """
    outcome = kind.sent if sent is None else sent
    if asked.writes and outcome is Sent.UNKNOWN:
        words += "; it may have been applied all the same: look before doing it again"
    error = kind(
        plain(words),
        method=asked.method,
        path=safe(asked.path, 300),
        status=status,
        retry_after=retry_after,
    )
    error.sent = outcome
    return error


def refused(
    asked: Asked, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> ApiError:
    """The error for a status outside 2xx.

    `headers` has lower-case names, `body` is what could be read of the answer, `now` is our clock
    in seconds since 1970.
    """
    said = read_error(body, headers.get("content-type", ""))
    wait = asked_wait(status, headers, now)
    kind, words, sent = _verdict(asked, status, headers, said.code, wait)
    error = tell(kind, words, asked, sent=sent, status=status, retry_after=wait)
    error.platform_message = said.message
    error.platform_code = said.code
    error.fields = said.fields
    return error


def _verdict(
    asked: Asked,
    status: int,
    headers: Mapping[str, str],
    code: SafeText | None,
    wait: float | None,
) -> tuple[type[ApiError], str, Sent | None]:
    if status == 429 or (status in (400, 403) and is_rate_code(code)):
        pause = f"wait {_seconds(wait)}" if wait else "wait a little"
        return errors.RateLimited, f"too many requests: {pause}, then try again ({status})", None
    if status == 401:
        return errors.KeyRejected, f"the key is missing or invalid: check {asked.key_source}", None
    if status == 403:
        return errors.NotAllowed, _not_allowed(asked), None
    if status == 404:
        return errors.NotFound, _not_found(asked), None
    if status == 409:
        words = "the platform has moved on, so this no longer fits (409): refresh and look again"
        return errors.Conflict, words, None
    if status in (400, 422):
        what = "fields" if asked.writes else "filter"
        return errors.Invalid, f"the platform did not accept the {what} ({status})", None
    if 300 <= status < 400:
        return errors.Redirected, _redirect(asked, status, headers.get("location", "")), None
    if 500 <= status < 600:
        fallback = f"the platform failed ({status}): try again later"
        words = _STATUS_WORDS.get(status, fallback)
        if wait:
            words += f"; it asks for a wait of {_seconds(wait)}"
        return errors.PlatformFailed, words, None
    words = _STATUS_WORDS.get(status, f"the platform answered with a status of its own ({status})")
    known = 400 <= status < 500 and status not in _MAYBE_APPLIED
    return errors.OtherStatus, words, Sent.NO if known else Sent.UNKNOWN


def is_rate_code(code: SafeText | None) -> bool:
    """True if the platform's code for a refusal means that it came too often."""
    return code is not None and "".join(filter(str.isalnum, code)).lower() in _RATE_CODES


def _not_allowed(asked: Asked) -> str:
    what = "change" if asked.writes else "read"
    return (
        "the key lacks the permission for this: use one that may "
        f"{what} it (made in the platform's Settings, API Keys)"
    )


def _not_found(asked: Asked) -> str:
    if asked.path in _COLLECTIONS:
        return f"{asked.host} has no {asked.path} (404): check base_url, which ends before /api"
    return "the platform knows no such thing, or hides it from this key (404): refresh and look"


def _redirect(asked: Asked, status: int, location: str) -> str:
    """Only the host is told: paths and queries of a redirect may hold what somebody planted."""
    if not location:
        return f"the platform answered {status} without saying where to: check base_url"
    try:
        host = urlsplit(location[:2000]).hostname
        own = urlsplit(f"//{asked.host}").hostname
    except ValueError:
        host = own = None
    if not host or host == own:
        return (
            f"the address redirects to another place on the same host ({status}), which is not "
            "followed: check base_url, and whether it must begin with https://"
        )
    return (
        f"the address redirects to {safe(host, 80)} ({status}), which is not followed, so that "
        "the key stays here: if that is the platform, make it the base_url"
    )


def web_page(asked: Asked, status: int) -> ApiError:
    """HTML where JSON was due: a sign-in page or a proxy's (SHAPES C27)."""
    words = (
        f"{asked.host} answered with a web page, not with data: check base_url, "
        "and whether a sign-in page or a proxy stands before the platform"
    )
    return tell(errors.WebPage, words, asked, status=status)


def not_json(asked: Asked, status: int, reason: str) -> ApiError:
    """`reason` is cleaned: "JSON that is cut off or broken"."""
    words = f"the answer cannot be read ({reason}): check base_url, or try again"
    return tell(errors.NotJson, words, asked, status=status)


def unreadable(asked: Asked, status: int, reason: str) -> ApiError:
    """`reason` is cleaned: "no list of tasks in it"."""
    words = f"the answer is in no known shape ({reason}): `agentco-tui doctor` shows what came"
    return tell(errors.Unreadable, words, asked, status=status)


def too_large(asked: Asked, status: int, cap: int) -> ApiError:
    """More than `cap` bytes, as sent or after unpacking."""
    words = f"the answer is larger than {_size(cap)}: ask for less, by company or by date"
    return tell(errors.TooLarge, words, asked, status=status)


def too_many_values(asked: Asked, status: int) -> ApiError:
    """A body that is not too large, but what is in it would be (`footprint`)."""
    words = "the answer holds more values than fit into memory: ask for less, by company or by date"
    return tell(errors.TooLarge, words, asked, status=status)


def more_than_one(asked: Asked, status: int) -> ApiError:
    """More than one answer came to one request."""
    words = (
        f"{asked.host} sent more than one answer, so none is believed: is a proxy mixing them up?"
    )
    return tell(errors.Broken, words, asked, status=status)


def odd_encoding(asked: Asked, status: int) -> ApiError:
    """A Content-Encoding that was not offered: never unpacked (SAFETY, HTTP)."""
    words = "the answer is packed in a way that was not asked for: is a proxy changing it?"
    return tell(errors.Unreadable, words, asked, status=status)


def not_sent(asked: Asked, words: str) -> ApiError:
    """Refused here: `words` say why."""
    return tell(errors.NotSent, words, asked)


def _seconds(wait: float) -> str:
    """A wait as a person says it: "12 s", "3 min", "2 h"."""
    if wait < 100:
        return f"{max(1, round(wait))} s"
    return f"{round(wait / 60)} min" if wait < 5400 else f"{round(wait / 3600)} h"


def _size(count: int) -> str:
    if count >= 1 << 20:
        return f"{count / (1 << 20):.3g} MiB"
    return f"{count / 1024:.3g} KiB" if count >= 1024 else f"{count} bytes"
