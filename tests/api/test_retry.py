"""The retry policy and the waits that a platform asks for, as pure functions."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api import errors
from agentco_tui.api.header_times import http_date, requested_wait
from agentco_tui.api.retry import retry_wait
from agentco_tui.text import SafeText

NOW = 1_790_000_000.0


def failure(
    kind: type[errors.ApiError], status: int | None = None, retry_after: float | None = None
) -> errors.ApiError:
    return kind(SafeText("x"), status=status, retry_after=retry_after)


PASSING = [
    failure(errors.Refused),
    failure(errors.NameNotFound),
    failure(errors.Unreachable),
    failure(errors.TimedOut),
    failure(errors.Broken),
    failure(errors.RateLimited, status=429),
    *(failure(errors.PlatformFailed, status=status) for status in (500, 502, 503, 504)),
]
LASTING = [
    failure(errors.NotSent),
    failure(errors.TlsFailure),
    *(
        failure(kind, status=status)
        for kind, status in (
            (errors.KeyRejected, 401), (errors.NotAllowed, 403), (errors.NotFound, 404),
            (errors.Conflict, 409), (errors.Invalid, 422), (errors.Redirected, 302),
            (errors.PlatformFailed, 501), (errors.NotJson, 200), (errors.WebPage, 200),
            (errors.TooLarge, 200), (errors.Unreadable, 200),
        )
    ),
]  # fmt: skip


def label(error: errors.ApiError) -> str:
    return f"{type(error).__name__}-{error.status}"


@pytest.mark.parametrize("error", PASSING, ids=label)
def test_a_passing_failure_of_a_read_is_tried_again(error: errors.ApiError) -> None:
    wait = retry_wait(error, 1, 0)
    assert wait is not None
    assert 0 <= wait < 0.25


@pytest.mark.parametrize("error", LASTING, ids=label)
def test_a_lasting_failure_is_told_at_once(error: errors.ApiError) -> None:
    assert retry_wait(error, 1, 0) is None


@given(failed=st.integers(1, 10_000), elapsed=st.floats(0, 100), after=st.none() | st.floats(0, 80))
def test_every_wait_is_in_its_bounds(failed: int, elapsed: float, after: float | None) -> None:
    error = failure(errors.RateLimited, status=429, retry_after=after)
    wait = retry_wait(error, failed, elapsed)
    if wait is None:
        assert elapsed + (after or 0) > 75 - 8 or (after or 0) > 60
    else:
        assert (after or 0) <= wait <= (after or 0) + min(8, 0.25 * 2 ** min(failed, 9))
        assert elapsed + wait <= 75


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("120", 120), (" 5 ", 5), ("1.5", 1.5), ("999999999", 86_400),
     ("9" * 5000, 86_400), (formatdate(NOW + 30, usegmt=True), 30),
     (formatdate(NOW - 30, usegmt=True), 0), (formatdate(NOW + 9e6, usegmt=True), 86_400),
     *((text, None) for text in (
         "-3", "", "soon", "NaN", "inf", "1e9", "٣", "12 seconds",
         "Wed, 32 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 25:28:00 GMT",
         "Wed, 21 Xxx 2026 07:28:00 GMT"))],
)  # fmt: skip
def test_retry_after_forms(value: str, seconds: float | None) -> None:
    assert requested_wait(503, {"retry-after": value}, NOW) == seconds


def test_a_date_is_counted_from_the_platforms_own_clock() -> None:
    day_wrong = NOW + 86_400
    headers = {
        "date": formatdate(day_wrong, usegmt=True),
        "retry-after": formatdate(day_wrong + 20, usegmt=True),
    }
    assert requested_wait(429, headers, NOW) == 20


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"x-ratelimit-reset": "30"}, 30),
        ({"x-ratelimit-reset": str(int(NOW) + 30)}, 30),
        ({"x-ratelimit-reset": str((int(NOW) + 30) * 1000)}, 30),
        ({"ratelimit-reset": "12"}, 12),
        ({"ratelimit": "limit=100, remaining=0, reset=9"}, 9),
        ({"ratelimit": '"default";r=0;t=7'}, 7),
        ({"x-ratelimit-reset": "1s"}, None),
        ({"retry-after": "4", "x-ratelimit-reset": "30"}, 4),
        ({}, None),
    ],
)
def test_reset_headers_count_only_for_429(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_wait(429, headers, NOW) == seconds
    if "retry-after" not in headers:
        assert requested_wait(503, headers, NOW) is None


@pytest.mark.parametrize(
    "text",
    ["Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994"],
)
def test_dates(text: str) -> None:
    assert http_date(text) == 784_111_777
