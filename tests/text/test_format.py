"""Figures as people read them, by example and in general."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.format import (
    age,
    ago,
    clock,
    count,
    duration,
    moment,
    moment_full,
    money,
    money_full,
    number,
    percent,
    size,
    trust,
)
from agentco_tui.model import Moment, Money
from agentco_tui.text import SafeText, cell_width, safe, signs

HOUR, DAY = 3_600, 86_400
BERLIN = timezone(timedelta(hours=1))
NOON = 1_763_550_271.9
"""2025-11-19 11:04:31 UTC."""


def sum_of(amount: str, currency: str | None = None, *, derived: bool = False) -> Money:
    code = None if currency is None else SafeText(currency)
    return Money(amount=Decimal(amount), currency=code, derived=derived)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "–"),
        (float("inf"), "999 y"),
        (-30, "0 s"),
        (59.99, "59 s"),
        (60, "1 m"),
        (26 * 60, "26 m"),
        (47.9 * HOUR, "47 h"),
        (2 * DAY, "2 d"),
        (35 * DAY, "5 w"),
        (800 * DAY, "2 y"),
    ],
)
def test_age(seconds: float | None, expected: str) -> None:
    assert age(seconds) == expected
    assert ago(seconds) == (expected if seconds is None else f"{expected} ago")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (None, "–"),
        (-1, "–"),
        (float("inf"), "–"),
        (0.0001, "<1 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1.0 s"),
        (59.94, "59.9 s"),
        (59.96, "1 m 00 s"),
        (3599.6, "1 h 00 m"),
        (3 * HOUR + 300, "3 h 05 m"),
        (2 * DAY + 4 * HOUR, "2 d 04 h"),
        (1e300, ">999,999 d"),
    ],
)
def test_duration(seconds: float | None, expected: str) -> None:
    assert duration(seconds) == expected


@given(st.floats())
def test_ages_and_durations_are_short_and_never_negative(seconds: float) -> None:
    assert cell_width(age(seconds)) <= 5
    assert not age(seconds).startswith("-")
    assert cell_width(duration(seconds)) <= 14


@pytest.mark.parametrize(
    ("given_sum", "expected"),
    [
        (None, "–"),
        (sum_of("Infinity"), "–"),
        (sum_of("1234.5", "USD"), "$1,234.50"),
        (sum_of("12", "EUR"), "€12.00"),
        (sum_of("12", "CHF"), "12.00 CHF"),
        (sum_of("1234.5"), "1,234.50"),
        (sum_of("1200", "JPY"), "¥1,200"),
        (sum_of("-5", "USD"), "-$5.00"),
        (sum_of("5", "USD", derived=True), "~$5.00"),
        (sum_of("0", "USD"), "$0.00"),
        (sum_of("0E+90", "USD"), "$0.00"),
        (sum_of("0.00123456", "USD"), "$0.0012"),
        (sum_of("0.0999", "USD"), "$0.10"),
        (sum_of("0.4999", "USD"), "$0.50"),
        (sum_of("0.1", "JPY"), "¥0.1"),
        (sum_of("0.0000000001", "USD"), "<$0.000000001"),
        (sum_of("999999.999", "USD"), "$1,000,000.00"),
        (sum_of("1E+999999", "USD"), "$1.0E+999999"),
        (sum_of("0." + "1" * 5_000, "USD"), "$0.11"),
        (sum_of("1200", "TOKENS"), "1,200 TOKENS"),
        (sum_of("0.1", "CREDITS"), "0.1 CREDITS"),
        (sum_of("5", "X" * 500), "5 XXXXXXXXXXX…"),
    ],
)
def test_money(given_sum: Money | None, expected: str) -> None:
    assert money(given_sum) == expected


@pytest.mark.parametrize(
    ("amount", "currency", "expected"),
    [
        ("999999", "USD", "$999,999.00"),
        ("1200000", "USD", "$1.2 M"),
        ("999960000", "USD", "$1.0 B"),
        ("3.21E+12", "CHF", "3.2 T CHF"),
        ("999999000000000", "USD", "$1,000.0 T"),
        ("2000000", "TOKENS", "2.0 M TOKENS"),
    ],
)
def test_short_money(amount: str, currency: str, expected: str) -> None:
    assert money(sum_of(amount, currency), short=True) == expected


@pytest.mark.usefixtures("ascii_mode")
def test_money_in_ascii() -> None:
    assert money(sum_of("12", "EUR")) == "12.00 EUR"
    assert money(sum_of("12", "USD")) == "$12.00"
    assert money(None) == "-"


def test_money_full_tells_what_was_assumed() -> None:
    assumed = Money(amount=Decimal(5), unit_assumed=True, derived=True)
    assert money_full(assumed) == "~5.00 (unit and currency not sent, worked out here)"
    cents = Money(amount=Decimal(5), currency=safe("USD"), unit_assumed=True)
    assert money_full(cents) == "$5.00 (unit not sent)"
    nothing = Money(amount=Decimal(0), unit_assumed=True)
    assert money_full(nothing) == "0.00 (currency not sent)"
    assert money_full(sum_of("5", "USD")) == "$5.00"
    assert money_full(None) == "–"


@given(
    st.decimals(allow_nan=True, allow_infinity=True),
    st.sampled_from([None, "USD", "JPY", "CHF", "TOKENS"]),
    st.booleans(),
)
def test_money_is_short_and_true(amount: Decimal, currency: str | None, short: bool) -> None:
    text = money(sum_of(str(amount), currency), short)
    assert cell_width(text) <= 32
    assert safe(text) == text
    if amount.is_finite():
        assert ("-" in text.replace("E-", "")) == (amount < 0)
        assert any(digit in text for digit in "123456789") == bool(amount)


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (None, "–"),
        ("0", "0 %"),
        ("0.0001", "<1 %"),
        ("0.996", "99 %"),
        ("1", "100 %"),
        ("1.001", ">100 %"),
        ("12.5", "1,250 %"),
        ("1E+9", ">99,999 %"),
        ("-1E+999999", "<-99,999 %"),
        ("-0.001", "<0 %"),
    ],
)
def test_percent(share: str | None, expected: str) -> None:
    assert percent(None if share is None else Decimal(share)) == expected


def test_derived_percent() -> None:
    assert percent(Decimal("0.83"), derived=True) == "~83 %"
    assert percent(None, derived=True) == "–"


@given(st.decimals())
def test_a_percentage_never_crosses_the_limit_by_rounding(share: Decimal) -> None:
    text = percent(share)
    assert cell_width(text) <= 11
    if share.is_finite():
        assert (text == "100 %") == (share == 1)
        assert (text == "0 %") == (share == 0)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (-1_234_567, "-1,234,567"),
        (10**15, "1.0E+15"),
        pytest.param(10**5_000, "1E+5000", id="huge"),
    ],
)
def test_count(value: int | None, expected: str) -> None:
    assert count(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        ("sNaN", "–"),
        ("0.30000000000000004", "0.3"),
        ("1E+2", "100"),
        ("-0", "0"),
        ("1E+999999", "1.0E+999999"),
    ],
)
def test_number(value: str | None, expected: str) -> None:
    figure = None if value is None else Decimal(value)
    assert number(figure) == expected
    assert trust(figure) == expected


@given(st.decimals() | st.integers().map(Decimal))
def test_a_number_is_short_and_keeps_its_size(value: Decimal) -> None:
    text = number(value)
    assert cell_width(text) <= 30
    if value.is_finite() and value:
        shown = Decimal(text.replace(",", ""))
        assert abs(shown - value) <= abs(value) * Decimal("0.05")


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (None, "–"),
        (999, "999 B"),
        (999_949, "999.9 kB"),
        (999_950, "1.0 MB"),
        (4_567 * 10**12, "4,567.0 TB"),
        pytest.param(10**5_000, ">999,999 TB", id="huge"),
    ],
)
def test_size(amount: int | None, expected: str) -> None:
    assert size(amount) == expected


def test_clock() -> None:
    then = Moment(at=NOON)
    assert clock(then, NOON + 5, UTC) == "11:04:31"
    assert clock(then, NOON - 5, BERLIN) == "12:04:31"
    assert clock(then, NOON + DAY, BERLIN) == "19 Nov 12:04"
    assert clock(then, NOON + 365 * DAY, UTC) == "19 Nov 2025"
    assert clock(None, NOON) == "–"


def test_moments_in_the_local_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moment(Moment(at=NOON), UTC) == "2025-11-19 11:04:31"
    assert moment_full(Moment(at=NOON), BERLIN) == "2025-11-19 12:04:31 +01:00"
    assumed = Moment(at=NOON, zone_assumed=True)
    assert moment_full(assumed, UTC) == "2025-11-19 11:04:31 +00:00, zone assumed"
    assert moment(None) == moment_full(None) == "–"


@given(st.floats())
def test_any_moment_can_be_shown(at: float) -> None:
    then = Moment(at=at)
    assert cell_width(clock(then, NOON, UTC)) <= 12
    assert cell_width(moment(then, UTC)) <= 19
    assert cell_width(moment_full(then)) <= 40
    if abs(at) > 1e15:
        assert clock(then, NOON, UTC) == moment(then, UTC) == signs.unknown
