"""The retry policy and the waits that a platform asks for, as pure functions."""

from __future__ import annotations

from email.utils import formatdate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api import errors
from agentco_tui.api.timing import RetryPolicy, asked_wait, http_date
from agentco_tui.text import SafeText

NOW = 1_790_000_000.0


def failure(kind: type[errors.ApiError], **facts: object) -> errors.ApiError:
    return kind(SafeText("x"), **facts)  # type: ignore[arg-type]


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


def high() -> float:
    return 1.0


def label(error: errors.ApiError) -> str:
    return f"{type(error).__name__}-{error.status}"


@pytest.mark.parametrize("error", PASSING, ids=label)
def test_a_passing_failure_of_a_read_is_tried_again_and_of_a_write_never(
    error: errors.ApiError,
) -> None:
    policy = RetryPolicy()
    assert policy.delay(error, attempt=1, method="GET", elapsed=0, draw=high) == 0.25
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        assert policy.delay(error, attempt=1, method=method, elapsed=0) is None


@pytest.mark.parametrize("error", LASTING, ids=label)
def test_a_lasting_failure_is_told_at_once(error: errors.ApiError) -> None:
    assert RetryPolicy().delay(error, attempt=1, method="GET", elapsed=0) is None


def test_the_ceiling_doubles_up_to_the_cap_and_attempts_end() -> None:
    policy = RetryPolicy(attempts=9, budget=1000)
    waits = [
        policy.delay(PASSING[0], attempt=attempt, method="GET", elapsed=0, draw=high)
        for attempt in range(1, 10)
    ]
    assert waits == [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 8.0, 8.0, None]
    assert RetryPolicy(attempts=1).delay(PASSING[0], attempt=1, method="GET", elapsed=0) is None


def test_retry_after_is_waited_for_unless_it_is_too_long() -> None:
    def wait(seconds: float, elapsed: float = 0) -> float | None:
        error = failure(errors.RateLimited, status=429, retry_after=seconds)
        return RetryPolicy().delay(error, attempt=1, method="GET", elapsed=elapsed, draw=high)

    assert wait(0) == 0.25
    assert wait(7) == 7.25
    assert wait(60) == 60.25
    assert wait(60.5) is None
    assert wait(60, elapsed=30) is None


@given(
    attempt=st.integers(1, 10_000),
    elapsed=st.floats(0, 1e6),
    draw=st.floats(0, 1),
    after=st.none() | st.floats(0, 86_400),
)
def test_no_wait_is_negative_or_beyond_the_budget(
    attempt: int, elapsed: float, draw: float, after: float | None
) -> None:
    policy = RetryPolicy(attempts=10_001)
    error = failure(errors.RateLimited, status=429, retry_after=after)
    wait = policy.delay(error, attempt=attempt, method="GET", elapsed=elapsed, draw=lambda: draw)
    if wait is not None:
        assert 0 <= wait <= policy.longest_wait + policy.cap
        assert elapsed + wait <= policy.budget
        assert after is None or wait >= after


@pytest.mark.parametrize(
    ("value", "seconds"),
    [("0", 0), ("120", 120), (" 5 ", 5), ("1.5", 1.5), ("999999999", 86_400),
     ("9" * 5000, 86_400), (formatdate(NOW + 30, usegmt=True), 30),
     (formatdate(NOW - 30, usegmt=True), 0), (formatdate(NOW + 9e6, usegmt=True), 86_400),
     *((text, None) for text in (
         "-3", "", "soon", "NaN", "inf", "1e9", "٣", "12 seconds", "2026-10-21T07:28:00Z",
         "Wed, 32 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 25:28:00 GMT",
         "Wed, 21 Xxx 2026 07:28:00 GMT"))],
)  # fmt: skip
def test_retry_after_forms(value: str, seconds: float | None) -> None:
    assert asked_wait(503, {"retry-after": value}, NOW) == seconds


def test_a_date_is_counted_from_the_platforms_own_clock() -> None:
    day_wrong = NOW + 86_400
    headers = {
        "date": formatdate(day_wrong, usegmt=True),
        "retry-after": formatdate(day_wrong + 20, usegmt=True),
    }
    assert asked_wait(429, headers, NOW) == 20


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
    assert asked_wait(429, headers, NOW) == seconds
    if "retry-after" not in headers:
        assert asked_wait(503, headers, NOW) is None


@pytest.mark.parametrize(
    "text",
    [
        "Sun, 06 Nov 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:37 GMT",
        "Sun Nov  6 08:49:37 1994",
    ],
)
def test_dates(text: str) -> None:
    assert http_date(text) == http_date(text.lower()) == 784_111_777


@given(st.text(max_size=60))
def test_any_text_is_a_date_or_nothing(text: str) -> None:
    found = http_date(text)
    assert found is None or found >= 0
