"""What went wrong with a request, as an ApiError with a sentence, and when it is tried again.

Two tables: one by the status of an answer, one by the exception that came in its place. All
sentences are ours; what stands in [] is doubt about the address, which goes, or gives way to what
stands behind a |, once the address has answered what it was asked. Words of the platform stand
beside them, cleaned by `text`; a reason phrase, a header or the text of an exception is never shown
(they repeat what the other side chose), except the host of a redirect, cleaned.
"""

from __future__ import annotations

import errno
import random
import re
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Final, TypeAlias
from urllib.parse import urlsplit

import msgspec

from agentco_tui.api import errors
from agentco_tui.api.errors import ApiError, Sent
from agentco_tui.model import Moment
from agentco_tui.reading.error_body import ErrorBody, read_error
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, plain, safe
from agentco_tui.text.patterns import lazy_pattern

if TYPE_CHECKING:
    from agentco_tui.api.transport import Limits

KEY_SOURCE: Final = "AGENTCO_API_KEY, or the profile's api_key_command"
"""Where a person looks for the key if nothing says where this one came from."""

_COLLECTIONS: Final = lazy_pattern(
    r"/api/(companies|agents|tasks|activity(/export)?|budget(/(companies|agents|alerts))?)"
)
"""Paths without an identifier: a 404 there is about the address, not about a record."""

_RATE_CODES: Final = frozenset(
    {"ratelimited", "ratelimitexceeded", "toomanyrequests", "throttlingexception", "throttled"}
)
"""Codes, without signs and case, with which a 400 or 403 is a rate limit."""

_KINDS: Final[Mapping[int, type[ApiError]]] = {
    400: errors.Invalid,
    401: errors.KeyRejected,
    403: errors.NotAllowed,
    404: errors.NotFound,
    409: errors.Conflict,
    422: errors.Invalid,
    429: errors.RateLimited,
}
_BY_STATUS: Final[Mapping[int, str]] = {
    400: "the platform did not accept the {fields} (400)",
    401: "the key is missing or invalid: check {key_source}",
    402: "the platform wants credit or a payment first (402)",
    403: "the key lacks the permission for this: use one that may {change} it (made in the "
    "platform's Settings, API Keys)",
    404: "the platform knows no such thing, or hides it from this key (404): refresh and look",
    405: "the platform does not offer this operation at this address (405)[: check base_url]",
    407: "a proxy on the way wants a sign-in (407): check the proxy settings",
    408: "the platform gave up waiting for the request (408): try again",
    409: "the platform has moved on, so this no longer fits (409): refresh and look again",
    410: "the platform no longer has this (410)",
    413: "what was sent is too large for the platform (413): send less",
    422: "the platform did not accept the {fields} (422)",
    429: "too many requests: {wait}, then try again (429)",
    501: "the platform has not built this operation (501)",
    502: "a proxy before the platform got no good answer from it (502): try again soon",
    503: "the platform is not available now (503): try again soon",
    504: "a proxy before the platform waited too long for it (504): try again soon",
    511: "a network on the way wants a sign-in first (511): open a browser there",
}
_NO_SUCH_PATH: Final = (
    "{host} has no {path} (404)[: check base_url, which ends before /api|, though it answers at "
    "other paths: this platform does not offer it, or hides it from this key]"
)
_MAYBE_APPLIED: Final = frozenset({408, 499})
"""4xx statuses that a proxy may answer with while the platform goes on working."""

_UNUSABLE: Final[Mapping[type[ApiError], str]] = {
    errors.WebPage: "{host} answered with a web page, not with data: check [base_url, and ]"
    "whether a sign-in page or a proxy stands before the platform",
    errors.NotJson: "the answer cannot be read ({reason}): [check base_url, or ]try again",
    errors.Unreadable: "the answer is in no known shape ({reason}): `agentco-tui doctor --fields` "
    "shows what is read",
    errors.TooLarge: "the answer is larger than {reason}: ask for less, by company or by date",
    errors.Broken: "{host} sent more than one answer, so none is believed: is a proxy mixing "
    "them up?",
}
"""A 2xx that is not what was asked for."""

_Told: TypeAlias = tuple[type[ApiError], str]
_BY_EXCEPTION: Final[Mapping[str, _Told]] = {
    "PoolTimeout": (errors.TimedOut,
        "all connections to {host} stayed busy for {limits.pool:g} s: wait"),
    "ConnectTimeout": (errors.TimedOut,
        "no connection to {host} within {limits.connect:g} s: check the network[ and base_url]"),
    "WriteTimeout": (errors.TimedOut,
        "{host} took nothing in for {limits.write:g} s: check the line"),
    "TimeoutException": (errors.TimedOut,
        "{host} sent nothing for {limits.read:g} s: it or the line is slow, or hangs"),
    # That of the whole request, by asyncio.
    "TimeoutError": (errors.TimedOut,
        "no whole answer from {host} within {limits.total:g} s: it or the line is too slow"),
    "ProxyError": (errors.Unreachable,
        "the proxy of the environment did not let the request through: check HTTPS_PROXY"),
    "UnsupportedProtocol": (errors.NotSent,
        "the request to {host} cannot be sent as it is: check base_url"),
    "DamagedBodyError": (errors.Broken, "the packed answer is damaged or cut off: try again"),
    # What came is not HTTP, or breaks its rules: a wrong length, a close before the answer.
    "ProtocolError": (errors.Broken,
        "{host} closed before a whole answer"
        "[, or does not speak HTTP: check base_url|: try again]"),
}  # fmt: skip
"""By the name of httpx's class, or of one it is derived from."""
_BROKE: Final = "the connection to {host} broke before a whole answer came: try again"
_NO_CONNECTION: Final = "no connection to {host}: check [base_url and ]the network"
_UNKNOWN_NAME: Final = "the name {host} is not known here: check [base_url, ]the network and DNS"
_BY_ERRNO: Final[Mapping[tuple[int, ...], _Told]] = {
    (errno.ECONNREFUSED,): (errors.Refused,
        "nothing answers at {host}: is the platform running[, and is the port right]?"),
    (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN): (errors.Unreachable,
        "there is no way to {host} from here: check the network"),
    (errno.EACCES, errno.EPERM): (errors.Unreachable,
        "this machine does not allow a connection to {host}: firewall?"),
    (errno.EMFILE, errno.ENFILE): (errors.Unreachable,
        "this machine has no file handle left for a connection"),
    (errno.ETIMEDOUT,): (errors.TimedOut,
        "{host} did not react to the connection: check the network"),
    (errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED): (errors.Unreachable,
        "{host} closed the connection before anything was sent[: is the port right?|]"),
}  # fmt: skip
"""Why no connection was made; the first that fits counts."""
_CERTIFICATES: Final[Mapping[int, str]] = {
    9: "is not valid yet: is the clock of this machine right?",
    10: "has expired: tell its operators",
    **dict.fromkeys(
        (2, 18, 19, 20, 21, 27),
        "is signed by itself or from a CA unknown here: set ca_file if it is your own",
    ),
    23: "was revoked: tell its operators",
    **dict.fromkeys((62, 63, 64), "is not for {host}[: check the host in base_url|]"),
}
"""X509_V_ERR_… of OpenSSL's x509_vfy.h."""
_HANDSHAKES: Final[Mapping[str, str]] = {
    **dict.fromkeys(
        ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"),
        "{host} does not speak TLS at this port: check the port, or use http:// if local",
    ),
    "CERTIFICATE_REQUIRED": "{host} asks for a client certificate, which agentco-tui does not send",
    **dict.fromkeys(
        ("VERSION", "PROTOCOL"),
        "{host} offers only TLS versions that are not accepted here: tell its operators",
    ),
}
"""By parts of OpenSSL's reason."""
_MOST_LAYERS: Final = 40

_MARKS: Final = {ord("["): "\x02", ord("]"): "\x03"}
"""What no text of the platform's has in it any more."""
_DOUBT: Final = lazy_pattern(r"\x02([^|\x03]*)\|?([^\x03]*)\x03")

_NOTHING_SAID: Final = ErrorBody()
_LONGEST_WAIT: Final = 86_400.0  # seconds: nothing longer than a day is believed
_PASSING: Final = (errors.Unreachable, errors.TimedOut, errors.Broken, errors.RateLimited)
"""Failures that may be over soon; a bad certificate, a refusal or a 404 is not."""
_LONGEST_RETRY_AFTER: Final = 60.0
_BUDGET: Final = 75.0
"""Seconds after the start of the first attempt in which another one may still begin."""
_SECONDS: Final = lazy_pattern(r"\d+(\.\d{1,6})?", re.ASCII)
_RESETS: Final = ("ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset")
_DRAFT_RESET: Final = lazy_pattern(r"\b(?:reset|t)=(\d{1,9})\b", re.ASCII)


class Asked(msgspec.Struct, frozen=True):
    """What a sentence may say about a request: no key, no query, no body."""

    method: str
    path: str  # relative to the base address, identifiers percent-encoded
    host: SafeText  # with the port where it is not the scheme's own
    key_source: str = KEY_SOURCE
    reached: Callable[[], bool] = bool
    """Whether the address has answered what it was asked."""

    @property
    def writes(self) -> bool:
        return self.method not in ("GET", "HEAD")


def _filled(template: str, **facts: object) -> str:
    """A sentence whose doubts `error_for` can tell from brackets in the facts."""
    return template.translate(_MARKS).format(**facts)


def error_for(
    kind: type[ApiError],
    words: str,
    asked: Asked,
    *,
    sent: Sent | None = None,
    status: int | None = None,
    retry_after: float | None = None,
    refusal: ErrorBody = _NOTHING_SAID,
) -> ApiError:
    """The error of class `kind`; `words` are ours or cleaned, `sent` beats what the class says."""
    outcome = kind.sent if sent is None else sent
    if asked.writes and outcome is Sent.UNKNOWN:
        words += "; it may have been applied all the same: look before doing it again"
    return kind(
        plain(_DOUBT.sub(r"\1", words)),
        once_reached=plain(_DOUBT.sub(r"\2", words)),
        reached=asked.reached,
        method=asked.method,
        path=safe(asked.path, 300),
        sent=outcome,
        status=status,
        retry_after=retry_after,
        platform_message=refusal.message,
        fields=refusal.fields,
    )


def unusable(kind: type[ApiError], asked: Asked, status: int, reason: str = "") -> ApiError:
    """A 2xx that is not what was asked for; `reason` is cleaned: "no list of tasks in it"."""
    words = _filled(_UNUSABLE[kind], host=asked.host, reason=reason)
    return error_for(kind, words, asked, status=status)


def larger_than(asked: Asked, status: int, cap: int) -> ApiError:
    """More than `cap` bytes, as sent or after unpacking."""
    size = f"{cap / (1 << 20):.3g} MiB" if cap >= 1 << 20 else f"{cap / 1024:.3g} KiB"
    return unusable(errors.TooLarge, asked, status, size)


def failed_inside(asked: Asked, status: int, refusal: ErrorBody) -> ApiError:
    """A 2xx whose body says that the call failed."""
    kind = errors.RateLimited if _is_rate_code(refusal.code) else errors.OtherStatus
    words = f"the platform answered {status}, but says that this failed: try again later"
    return error_for(kind, words, asked, status=status, refusal=refusal)


def refused(
    asked: Asked, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> ApiError:
    """The error for a status outside 2xx; `body` is what could be read of the answer."""
    refusal = read_error(body, headers.get("content-type", ""))
    wait = asked_wait(status, headers, now)
    failed = 500 <= status < 600
    kind = _KINDS.get(status, errors.PlatformFailed if failed else errors.OtherStatus)
    fallback = "the platform answered with a status of its own ({status})"
    if failed:
        fallback = "the platform failed ({status}): try again later"
    words = _BY_STATUS.get(status, fallback)
    if status in (400, 403) and _is_rate_code(refusal.code):
        kind, words = errors.RateLimited, "too many requests: {wait}, then try again ({status})"
    words = _filled(
        words,
        status=status,
        key_source=asked.key_source,
        fields="fields" if asked.writes else "filter",
        change="change" if asked.writes else "read",
        wait=f"wait {_seconds(wait)}" if wait else "wait a little",
    )
    if failed and wait:
        words += f"; it asks for a wait of {_seconds(wait)}"
    if status == 404 and _COLLECTIONS.fullmatch(asked.path):
        words = _filled(_NO_SUCH_PATH, host=asked.host, path=asked.path)
    if 300 <= status < 400:
        kind, words = errors.Redirected, _redirect(asked, status, headers.get("location", ""))
    sent = kind.sent
    if kind is errors.OtherStatus and (status in _MAYBE_APPLIED or not 400 <= status < 500):
        sent = Sent.UNKNOWN
    return error_for(
        kind, words, asked, sent=sent, status=status, retry_after=wait, refusal=refusal
    )


def unanswered(cause: BaseException, asked: Asked, limits: Limits, *, sent: Sent) -> ApiError:
    """No whole answer came. `sent` is NO only if `cause` proves that no byte has left."""
    names = [kind.__name__ for kind in type(cause).__mro__]
    told = (_BY_EXCEPTION[name] for name in names if name in _BY_EXCEPTION)
    kind, words = next(told, (errors.Broken, _BROKE))
    layers = [cause]
    for layer in layers:  # what lies under it: causes, contexts, members of groups
        below = [layer.__cause__, layer.__context__, *getattr(layer, "exceptions", ())]
        new = [each for each in below if each is not None and each not in layers]
        layers += new[: _MOST_LAYERS - len(layers)]
    tls = [layer for layer in layers if isinstance(layer, ssl.SSLError)]
    if "ConnectError" in names:
        numbers = {layer.errno for layer in layers if isinstance(layer, OSError)}
        told = (told for known, told in _BY_ERRNO.items() if numbers.intersection(known))
        kind, words = next(told, (errors.Unreachable, _NO_CONNECTION))
        if tls:
            kind, words = errors.TlsFailure, tls_words(tls[0])
        elif any(isinstance(layer, socket.gaierror) for layer in layers):
            kind, words = errors.NameNotFound, _UNKNOWN_NAME
        elif any(isinstance(layer, UnicodeError) for layer in layers):
            kind, words = errors.NameNotFound, "{host} cannot be a host name: check base_url"
    elif kind is errors.Broken:
        for layer in tls:
            if "CERTIFICATE_REQUIRED" in (layer.reason or ""):
                kind, words = errors.TlsFailure, tls_words(layer)
    return error_for(kind, _filled(words, host=asked.host, limits=limits), asked, sent=sent)


def tls_words(failure: ssl.SSLError) -> str:
    """What was wrong with the certificate or the handshake of {host}, and what to do about it."""
    if isinstance(failure, ssl.SSLCertVerificationError):
        fault = _CERTIFICATES.get(failure.verify_code, "was not accepted: tell its operators")
        return f"the certificate of {{host}} {fault}"
    reason = failure.reason or ""
    for part, words in _HANDSHAKES.items():
        if part in reason:
            return words
    if isinstance(failure, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return "{host} closed the connection in the TLS handshake[: is the port right?|]"
    return "the TLS handshake with {host} failed: check the port and the server's TLS settings"


def _redirect(asked: Asked, status: int, location: str) -> str:
    """Only the host is told: paths and queries of a redirect may hold what somebody planted."""
    with suppress(ValueError):
        host = urlsplit(location[:2000]).hostname
        if host and host != urlsplit(f"//{asked.host}").hostname:
            return (
                f"the address redirects to {safe(host, 80)} ({status}), which is not followed, so "
                "that the key stays here: if that is the platform, make it the base_url"
            )
    return _filled(
        "the address redirects to another place on the same host ({status}), which is not "
        "followed[: check base_url, and whether it must begin with https://|]",
        status=status,
    )


def _is_rate_code(code: SafeText | None) -> bool:
    return code is not None and "".join(filter(str.isalnum, code)).lower() in _RATE_CODES


def _seconds(wait: float) -> str:
    if wait < 100:
        return f"{max(1, round(wait))} s"
    return f"{round(wait / 60)} min" if wait < 5400 else f"{round(wait / 3600)} h"


def retry_wait(error: ApiError, failed: int, elapsed: float) -> float | None:
    """Seconds until a read is sent again that failed so often, or None to tell the error.

    Back-off with full jitter: each wait is drawn between 0 and a ceiling that doubles. A long
    Retry-After is left to the caller, who finds it in the error.
    """
    is_passing = isinstance(error, _PASSING) and not isinstance(error, errors.TlsFailure)
    if isinstance(error, errors.PlatformFailed):
        is_passing = error.status in (500, 502, 503, 504)
    asked = error.retry_after or 0.0
    if not is_passing or asked > _LONGEST_RETRY_AFTER:
        return None
    # After what was asked for, so that not all who were told the same come back at once.
    ceiling = min(8.0, 0.25 * 2.0 ** min(failed - 1, 30))
    wait = asked + ceiling * random.random()  # noqa: S311 (jitter, not secrecy)
    return wait if elapsed + wait <= _BUDGET else None


def asked_wait(status: int, headers: Mapping[str, str], now: float) -> float | None:
    """Seconds the answer asks us to wait, at most a day; None if it asks nothing readable.

    A date is counted from the platform's own Date header where there is one, so that a wrong clock
    on either side does not matter. Digits first: a lenient date parser reads "-3" as a year.
    """
    here = http_date(headers.get("date", ""))
    clock = now if here is None else here
    value = headers.get("retry-after", "").strip()
    wait: float | None = None
    if _SECONDS.fullmatch(value):
        wait = float(value)
    elif (at := http_date(value)) is not None:
        wait = at - clock
    elif status == 429 and (match := _DRAFT_RESET.search(headers.get("ratelimit", "")[:200])):
        wait = float(match[1])
    elif status == 429:
        values = (headers.get(name, "").strip() for name in _RESETS)
        if told := next(filter(_SECONDS.fullmatch, values), None):
            # Seconds from now, epoch seconds or epoch milliseconds: told apart by size.
            wait = float(told) / (1000 if float(told) >= 1e11 else 1)
            wait = wait - clock if wait >= 1e8 else wait
    return None if wait is None else min(max(wait, 0.0), _LONGEST_WAIT)


def http_date(text: str) -> float | None:
    """Seconds since 1970 for a date of RFC 9110 5.6.7, or any other that is read in a body."""
    found = to_moment(text)
    return found.at if isinstance(found, Moment) else None
