"""Turns an answer that is no success, or cannot be used, into an ApiError with a sentence.

All sentences are our own; the words of the platform (the remote service that runs AI agents) follow
them, cleaned by `text` (`SafeText` has no control characters). A reason phrase, a header or the
text of an exception is never shown, because the other side chose it. The host of a redirect is the
one exception, and is cleaned.

A template may doubt the configured address. The part in brackets is shown until the address has
answered a request, and then disappears: "no connection[: check base_url]". With a bar, the part
behind it takes its place: "[: check base_url|: try again]".

`errors` defines the classes of errors, `Sent` in it whether the platform may have acted. An
`ErrorBody` is the message, code and refused fields that were read from the body of an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Final
from urllib.parse import urlsplit

import msgspec

from agentco_tui.api import errors
from agentco_tui.api.capabilities import Conventions
from agentco_tui.api.errors import ApiError, Sent
from agentco_tui.api.generic import CONVENTIONS
from agentco_tui.api.header_times import requested_wait
from agentco_tui.reading.error_body import ErrorBody, read_error
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.text.patterns import lazy_pattern

DEFAULT_KEY_SOURCE: Final = "AGENTCO_API_KEY, or the profile's api_key_command"
"""Where the user is sent to correct the key if its source is not known."""

_RATE_LIMIT_CODES: Final = frozenset(
    {"ratelimited", "ratelimitexceeded", "toomanyrequests", "throttlingexception", "throttled"}
)
"""Error codes that make a 400 or 403 a rate limit: letters and digits only, in lower case."""

_CLASS_BY_STATUS: Final[Mapping[int, type[ApiError]]] = {
    400: errors.Invalid,
    401: errors.KeyRejected,
    403: errors.NotAllowed,
    404: errors.NotFound,
    409: errors.Conflict,
    422: errors.Invalid,
    429: errors.RateLimited,
}
_SENTENCE_BY_STATUS: Final[Mapping[int, str]] = {
    400: "the platform did not accept the {fields} (400)",
    401: "the key is missing or invalid: check {key_source}",
    402: "the platform requires credit or a payment first (402)",
    403: "the key lacks the permission for this: use one that may {change} it{right_key}",
    404: "the platform has no such record, or hides it from this key (404): refresh and look again",
    405: "the platform does not offer this operation at this address (405)[: check base_url]",
    407: "a proxy requires a sign-in (407): check the proxy settings",
    408: "the platform timed out waiting for the request (408): try again",
    409: "the record has changed on the platform, so this no longer fits (409): refresh and look "
    "again",
    410: "the platform no longer has this (410)",
    413: "the request is too large for the platform (413): send less",
    422: "the platform did not accept the {fields} (422)",
    429: "too many requests: {wait}, then try again (429)",
    501: "the platform does not support this operation (501)",
    502: "a proxy in front of the platform got no valid answer from it (502): try again soon",
    503: "the platform is not available now (503): try again soon",
    504: "a proxy in front of the platform timed out waiting for it (504): try again soon",
    511: "this network requires a sign-in first (511): open a browser",
}
_PLATFORM_FAILED: Final = "the platform failed ({status}): try again later"
_OTHER_STATUS: Final = "the platform answered with an unexpected status ({status})"
_NO_KEY_SENT: Final = (
    "a key is needed, and none was sent ({status}): `agentco-tui login` takes one{right_key}"
)
_RATE_LIMITED: Final = "too many requests: {wait}, then try again ({status})"
_NO_SUCH_PATH: Final = (
    "{host} has no {path} (404)[: check base_url, which ends before {prefix}|, though it answers "
    "at other paths: this platform does not offer it, or hides it from this key]"
)
_OTHER_PLACE_ON_HOST: Final = (
    "the address redirects to another place on the same host ({status}), which is not "
    "followed[: check base_url, and whether it must begin with https://|]"
)
_MAYBE_APPLIED: Final = frozenset({408, 499})
"""4xx statuses that a proxy may answer with while the platform goes on working."""

_UNUSABLE: Final[Mapping[type[ApiError], str]] = {
    errors.WebPage: "{host} answered with a web page instead of data: check [base_url, and ]"
    "whether there is a sign-in page or a proxy in front of the platform",
    errors.NotJson: "the answer cannot be read ({reason}): [check base_url, or ]try again",
    errors.Unreadable: "the answer is in no known shape ({reason}): `agentco-tui doctor --fields` "
    "shows what is read",
    errors.TooLarge: "the answer is larger than {reason}: ask for less, by company or by date",
    errors.Broken: "{host} sent more than one answer, so none of them is used: is a proxy mixing "
    "them up?",
}
"""Sentences for a 2xx answer that cannot be used."""

_BRACKETS: Final = {ord("["): "\x02", ord("]"): "\x03"}
"""Control characters take the place of a template's brackets before it is filled in: cleaned text
contains no control characters, but may contain brackets."""
_DOUBT: Final = lazy_pattern(r"\x02([^|\x03]*)\|?([^\x03]*)\x03")
"""A part in brackets: the words before the address has answered, and those after."""

_NO_ERROR_BODY: Final = ErrorBody()
_MEBIBYTE: Final = 1024 * 1024
_LONGEST_LOCATION: Final = 2000
"""Characters of a Location header that are read."""


def _not_reached() -> bool:
    return False


class RequestInfo(msgspec.Struct, frozen=True):
    """The facts of a request that an error may show: no key, no query, no body."""

    method: str
    path: str
    """Relative to the base address, identifiers percent-encoded."""
    host: SafeText
    """With the port, unless it is the default port of the scheme."""
    key_source: str = DEFAULT_KEY_SOURCE
    """Where the user corrects the API key, as words for a sentence."""
    conventions: Conventions = CONVENTIONS
    """Those of the interface that the request is of."""
    is_reached: Callable[[], bool] = _not_reached
    """Whether the address has answered a request by now."""

    @property
    def is_write(self) -> bool:
        return self.method not in ("GET", "HEAD")


def fill_template(template: str, **facts: object) -> str:
    """The template with `facts` in place of its {names}; brackets are marked for `error_for`."""
    return template.translate(_BRACKETS).format(**facts)


def error_for(
    error_class: type[ApiError],
    sentence: str,
    info: RequestInfo,
    *,
    sent: Sent | None = None,
    status: int | None = None,
    retry_after: float | None = None,
    refusal: ErrorBody = _NO_ERROR_BODY,
) -> ApiError:
    """An error about a request.

    `sentence` is our own or cleaned, and from `fill_template` if it has brackets. `sent` replaces
    that of the class; `retry_after` is in seconds.
    """
    outcome = error_class.sent if sent is None else sent
    if info.is_write and outcome is Sent.UNKNOWN:
        sentence += "; it may have been applied all the same: look before doing it again"
    return error_class(
        mark_safe(_DOUBT.sub(r"\1", sentence)),
        once_reached=mark_safe(_DOUBT.sub(r"\2", sentence)),
        reached=info.is_reached,
        method=info.method,
        path=clean_line(info.path, 300),
        sent=outcome,
        status=status,
        retry_after=retry_after,
        platform_message=refusal.message,
        fields=refusal.fields,
    )


def unusable_answer(
    error_class: type[ApiError], info: RequestInfo, status: int, reason: str = ""
) -> ApiError:
    """The error for a 2xx answer that cannot be used; `reason` is cleaned: "no list of tasks"."""
    sentence = fill_template(_UNUSABLE[error_class], host=info.host, reason=reason)
    return error_for(error_class, sentence, info, status=status)


def answer_too_large(info: RequestInfo, status: int, cap: int) -> ApiError:
    """The error for a body of more than `cap` bytes, as sent or after unpacking."""
    return unusable_answer(errors.TooLarge, info, status, _size_in_words(cap))


def failure_in_body(info: RequestInfo, status: int, refusal: ErrorBody) -> ApiError:
    """The error for a 2xx answer whose body says that the call failed."""
    is_rate_limit = _is_rate_limit_code(refusal.code)
    error_class = errors.RateLimited if is_rate_limit else errors.OtherStatus
    sentence = f"the platform answered {status}, but says that this failed: try again later"
    return error_for(error_class, sentence, info, status=status, refusal=refusal)


def error_for_status(
    info: RequestInfo, status: int, headers: Mapping[str, str], body: bytes, now: float
) -> ApiError:
    """The error for a status outside 2xx.

    Header names are in lower case; `body` is as much of the answer as could be read; `now` is in
    seconds since 1970.
    """
    refusal = read_error(body, headers.get("content-type", ""))
    wait = requested_wait(status, headers, now)
    is_server_error = 500 <= status < 600
    conventions = info.conventions
    wants_a_key = conventions.key_header is None and status in (401, 403)
    is_rate_limit = status in (400, 403) and _is_rate_limit_code(refusal.code)

    if is_rate_limit:
        error_class: type[ApiError] = errors.RateLimited
        template = _RATE_LIMITED
    elif wants_a_key:
        error_class = errors.KeyRejected
        template = _NO_KEY_SENT
    elif is_server_error:
        error_class = errors.PlatformFailed
        template = _SENTENCE_BY_STATUS.get(status, _PLATFORM_FAILED)
    else:
        error_class = _CLASS_BY_STATUS.get(status, errors.OtherStatus)
        template = _SENTENCE_BY_STATUS.get(status, _OTHER_STATUS)
    sentence = fill_template(
        template,
        status=status,
        key_source=info.key_source,
        fields="fields" if info.is_write else "filter",
        change="change" if info.is_write else "read",
        right_key=f" ({conventions.right_key})" if conventions.right_key else "",
        wait=f"wait {_duration_in_words(wait)}" if wait else "wait a little",
    )
    if is_server_error and wait:
        sentence += f"; it asks for a wait of {_duration_in_words(wait)}"
    if status == 404 and info.path in conventions.collections:
        sentence = fill_template(
            _NO_SUCH_PATH, host=info.host, path=info.path, prefix=conventions.prefix
        )
    if 300 <= status < 400:
        error_class = errors.Redirected
        sentence = _redirect_sentence(info, status, headers.get("location", ""))

    sent = error_class.sent
    is_clear_refusal = 400 <= status < 500 and status not in _MAYBE_APPLIED
    if error_class is errors.OtherStatus and not is_clear_refusal:
        sent = Sent.UNKNOWN
    return error_for(
        error_class, sentence, info, sent=sent, status=status, retry_after=wait, refusal=refusal
    )


def _redirect_sentence(info: RequestInfo, status: int, location: str) -> str:
    """The sentence for a redirect to `location`.

    It shows the host only: the path and query of a redirect may contain text of an attacker.
    """
    with suppress(ValueError):
        host = urlsplit(location[:_LONGEST_LOCATION]).hostname
        if host and host != urlsplit(f"//{info.host}").hostname:
            return (
                f"the address redirects to {clean_line(host, 80)} ({status}), which is not "
                "followed, so that the key stays here: if that is the platform, make it "
                "the base_url"
            )
    return fill_template(_OTHER_PLACE_ON_HOST, status=status)


def _is_rate_limit_code(code: SafeText | None) -> bool:
    return code is not None and "".join(filter(str.isalnum, code)).lower() in _RATE_LIMIT_CODES


def _size_in_words(size: int) -> str:
    if size >= _MEBIBYTE:
        return f"{size / _MEBIBYTE:.3g} MiB"
    return f"{size / 1024:.3g} KiB"


def _duration_in_words(seconds: float) -> str:
    if seconds < 100:
        return f"{max(1, round(seconds))} s"
    if seconds < 5400:
        return f"{round(seconds / 60)} min"
    return f"{round(seconds / 3600)} h"
