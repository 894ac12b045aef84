"""Bodies to records, with whatever is wrong with a body told as an ApiError.

Large bodies are read in a thread, so that the event loop is never held (law 5). It is one thread
for all: each thread has memory of its own that it keeps, and Python runs one at a time anyway.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from typing import Final, TypeVar

from agentco_tui.api import answered, errors
from agentco_tui.api.answered import Asked
from agentco_tui.api.decode import RefusedBody, Unshaped
from agentco_tui.api.errors import ApiError
from agentco_tui.api.long_json import parse_long
from agentco_tui.api.thrift import keep_little
from agentco_tui.reading.error_body import ErrorBody, error_in, says_failed
from agentco_tui.reading.json_body import (
    BodyError,
    OverfullBodyError,
    looks_like_html,
    parse_json,
)
from agentco_tui.reading.schema import Json
from agentco_tui.text import plain

LARGE: Final = 256 * 1024
"""Bytes: below this, reading takes less than a thread is worth."""

NO_ERROR: Final = 200

T = TypeVar("T")


_thread = ThreadPoolExecutor(1, thread_name_prefix="reading", initializer=keep_little)


def beside(work: Callable[[], T]) -> asyncio.Future[T]:
    """Begin `work` in the thread that reads, beside the event loop; in the order of the calls."""
    return asyncio.get_running_loop().run_in_executor(_thread, work)


async def body_digest(body: bytes) -> bytes:
    """A hash of a body: 16 bytes. A megabyte takes about a millisecond."""
    if len(body) > 4 * LARGE:
        return await beside(lambda: _digest(body))
    return _digest(body)


async def read_body(body: bytes, asked: Asked, status: int, work: Callable[[Json], T]) -> T:
    """What `work` makes of the JSON in `body`.

    Raises WebPage or NotJson for what is no JSON, Unreadable for JSON without what was asked for,
    and OtherStatus or RateLimited for a 2xx that says that the call failed (SHAPES C).
    """

    def whole() -> T | ApiError:
        return _outcome(body, asked, status, work)

    outcome = await beside(whole) if len(body) > LARGE else whole()
    if isinstance(outcome, ApiError):
        raise outcome
    return outcome


def _outcome(body: bytes, asked: Asked, status: int, work: Callable[[Json], T]) -> T | ApiError:
    """The error is handed back, so that no parser's exception hangs on to it."""
    if status == NO_ERROR and asked.method == "GET" and (not body or body.isspace()):
        # A 204 says that there is nothing; a 200 without a body says nothing, and "no task waits"
        # must not be made of that (law 1).
        return answered.not_json(asked, status, plain("the answer is empty"))
    try:
        return work(parse_long(body) if len(body) > LARGE else parse_json(body))
    except OverfullBodyError:
        return answered.too_many_values(asked, status)
    except BodyError as error:
        if error.is_html:
            return answered.web_page(asked, status)
        return answered.not_json(asked, status, error.reason)
    except RefusedBody as error:
        return failed_inside(asked, status, error.refusal)
    except Unshaped as error:
        return answered.unreadable(asked, status, error.sentence)


def _digest(body: bytes) -> bytes:
    return blake2b(body, digest_size=16).digest()


def failed_inside(asked: Asked, status: int, refusal: ErrorBody) -> ApiError:
    """The error for a 2xx whose body says that the call failed (SHAPES C6, C27c)."""
    rate = answered.is_rate_code(refusal.code)
    kind = errors.RateLimited if rate else errors.OtherStatus
    words = f"the platform answered {status}, but says that this failed: try again later"
    error = answered.tell(kind, words, asked, status=status)
    error.platform_message = refusal.message
    error.platform_code = refusal.code
    error.fields = refusal.fields
    return error


def not_the_export(
    first: bytes, content_type: str, wanted: str, asked: Asked, status: int
) -> ApiError | None:
    """What is wrong with an export that begins with `first`; None if it looks as it should.

    A sign-in page or a JSON error may come with a 200 and under any content type, so the first
    bytes are looked at too. Only for the format `wanted` "json" may it be JSON.
    """
    kind = content_type.partition(";")[0].strip().lower()
    if "html" in kind or looks_like_html(first):
        return answered.web_page(asked, status)
    begins = first.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if not begins or wanted == "json" or not (kind.endswith("json") or begins in (b"{", b"[")):
        return None
    try:
        found = parse_json(first)
    except BodyError:
        found = None
    if says_failed(found) or (isinstance(found, dict) and "error" in found):
        return failed_inside(asked, status, error_in(found))
    return answered.unreadable(asked, status, f"JSON where {wanted} was due")
