"""Figures as people read them, by example and in general."""

from __future__ import annotations

from datetime import UTC, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.model import Moment, Money
from agentco_tui.model.format import (
    age,
    age_changes_in,
    ago,
    clock,
    count,
    duration,
    moment,
    money,
    money_origin,
    number,
    percent,
    size,
    zone,
)
from agentco_tui.text import SafeText, cell_width, clean_line, signs

HOUR, DAY = 3_600, 86_400
BERLIN = timezone(timedelta(hours=1))
NOON = 1_763_550_271.9
"""2025-11-19 11:04:31 UTC."""


def sum_of(amount: str, currency: str | None = None, *, derived: bool = False) -> Money:
    code = None if currency is None else SafeText(currency)
    return Money(amount=Decimal(amount), currency=code, derived=derived)


def examples(table: str) -> list[tuple[str, str]]:
    """Pairs of what is given and what is shown, between semicolons; "-" is what was not sent."""
    pairs = (pair.split("=", 1) for line in table.strip().splitlines() for pair in line.split(";"))
    return [(given.strip(), shown.strip()) for given, shown in pairs]


def figure(given: str) -> Decimal | None:
    return None if given == "-" else Decimal(given)


def seconds_of(given: str) -> float | None:
    """Seconds, or so many of the units behind."""
    if given == "-":
        return None
    units = {"m": 60, "h": HOUR, "d": DAY}
    return float(given.rstrip("mhd")) * units.get(given[-1], 1) if given != "inf" else float(given)


AGES = """
- = –; inf = 999 y; -30 = 0 s; 59.99 = 59 s; 60 = 1 m; 26m = 26 m; 47.9h = 47 h; 2d = 2 d
35d = 5 w; 800d = 2 y
"""
DURATIONS = """
- = –; -1 = –; inf = –; 0.0001 = <1 ms; 0.9994 = 999 ms; 0.9996 = 1.0 s; 59.94 = 59.9 s
59.96 = 1 m 00 s; 3599.6 = 1 h 00 m; 185m = 3 h 05 m; 52h = 2 d 04 h; 1e300 = >999,999 d
"""


@pytest.mark.parametrize(("given_age", "expected"), examples(AGES))
def test_age(given_age: str, expected: str) -> None:
    seconds = seconds_of(given_age)
    assert age(seconds) == expected
    assert ago(seconds) == (expected if seconds is None else f"{expected} ago")


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(3_599, "59 m"), (3_600, "1h00"), (6_779, "1h52"), (172_799, "47h59"), (172_800, "2 d")],
)
def test_a_wait_of_hours_is_told_to_the_minute(seconds: float, expected: str) -> None:
    assert age(seconds, fine=True) == expected


@given(st.floats(min_value=0, max_value=1e9), st.booleans())
def test_an_age_stays_until_it_is_said_to_change(seconds: float, fine: bool) -> None:
    now = age(seconds, fine=fine)
    wait = age_changes_in(seconds, fine=fine)
    assert age(seconds + wait * 0.99, fine=fine) == now
    assert age(seconds + wait + 0.001, fine=fine) != now


@pytest.mark.parametrize(("given_duration", "expected"), examples(DURATIONS))
def test_duration(given_duration: str, expected: str) -> None:
    assert duration(seconds_of(given_duration)) == expected


@given(st.floats())
def test_ages_and_durations_are_short_and_never_negative(seconds: float) -> None:
    assert cell_width(age(seconds)) <= 5
    assert cell_width(age(seconds, fine=True)) <= 5
    assert not age(seconds).startswith("-")
    assert cell_width(duration(seconds)) <= 14


SUMS = """
- = –; Infinity = –; 1234.5 USD = $1,234.50; 12 EUR = €12.00; 12 CHF = 12.00 CHF
1234.5 = 1,234.50; 1200 JPY = ¥1,200; -5 USD = -$5.00; 0 USD = $0.00; 0E+90 USD = $0.00
0.00123456 USD = $0.0012; 0.0999 USD = $0.10; 0.4999 USD = $0.50; 0.1 JPY = ¥0.1
0.0000000001 USD = <$0.000000001; 999999.999 USD = $1,000,000.00
1E+999999 USD = $1.0E+999999; 1200 TOKENS = 1,200 TOKENS; 0.1 CREDITS = 0.1 CREDITS
5 XXXXXXXXXXXXXXXXX = 5 XXXXXXXXXXX…
"""
SHORT_SUMS = """
999999 USD = $999,999.00; 1200000 USD = $1.2 M; 999960000 USD = $1.0 B
3.21E+12 CHF = 3.2 T CHF; 999999000000000 USD = $1,000.0 T; 2000000 TOKENS = 2.0 M TOKENS
"""


@pytest.mark.parametrize(
    ("given_sum", "expected", "short"),
    [(*pair, False) for pair in examples(SUMS)] + [(*pair, True) for pair in examples(SHORT_SUMS)],
)
def test_money(given_sum: str, expected: str, short: bool) -> None:
    amount, _, currency = given_sum.partition(" ")
    found = None if amount == "-" else sum_of(amount, currency or None)
    assert money(found, short) == expected


def test_odd_money() -> None:
    assert money(sum_of("5", "USD", derived=True)) == "~$5.00"
    assert money(sum_of("0." + "1" * 5_000, "USD")) == "$0.11"
    assert money(sum_of("150.999", "USD"), exact=True) == "$150.999"
    assert money(sum_of("150.9", "JPY"), exact=True) == "¥150.9"
    assert money(sum_of("150", "EUR"), exact=True) == "€150.00"
    for amount, text in (("750.00", "$750"), ("750.5", "$750.50"), ("0.0012", "$0.0012")):
        assert money(sum_of(amount, "USD"), brief=True) == text
    many = money(sum_of("1" * 15 + "." + "1" * 50, "TOKENS"), exact=True)
    assert many == f"111,111,111,111,111.{'1' * 12} TOKENS"


@pytest.mark.usefixtures("ascii_mode")
def test_money_in_ascii() -> None:
    assert money(sum_of("12", "EUR")) == "12.00 EUR"
    assert money(sum_of("12", "USD")) == "$12.00"
    assert money(None) == "-"


def test_the_origin_of_a_sum_tells_what_was_assumed() -> None:
    assumed = Money(amount=Decimal(5), unit_assumed=True, derived=True)
    assert money_origin(assumed) == "unit and currency not sent, worked out here"
    cents = Money(amount=Decimal(5), currency=clean_line("USD"), unit_assumed=True)
    assert money_origin(cents) == "unit not sent"
    nothing = Money(amount=Decimal(0), unit_assumed=True)
    assert money_origin(nothing) == "currency not sent"
    assert money_origin(sum_of("5", "USD")) == ""


@given(
    st.decimals(allow_nan=True, allow_infinity=True),
    st.sampled_from([None, "USD", "JPY", "CHF", "TOKENS"]),
    st.booleans(),
)
def test_money_is_short_and_true(amount: Decimal, currency: str | None, short: bool) -> None:
    text = money(sum_of(str(amount), currency), short)
    assert cell_width(text) <= 32
    assert clean_line(text) == text
    if amount.is_finite():
        assert ("-" in text.replace("E-", "")) == (amount < 0)
        assert any(digit in text for digit in "123456789") == bool(amount)


SHARES = """
- = –; 0 = 0 %; 0.0001 = <1 %; 0.996 = 99 %; 1 = 100 %; 1.001 = >100 %; 12.5 = 1,250 %
1E+9 = >99,999 %; -1E+999999 = <-99,999 %; -0.001 = <0 %
"""


@pytest.mark.parametrize(("share", "expected"), examples(SHARES))
def test_percent(share: str, expected: str) -> None:
    assert percent(figure(share)) == expected
    assert percent(figure(share), derived=True) == (expected if share == "-" else f"~{expected}")


@given(st.decimals())
def test_a_percentage_never_crosses_the_limit_by_rounding(share: Decimal) -> None:
    text = percent(share)
    assert cell_width(text) <= 11
    if share.is_finite():
        assert (text == "100 %") == (share == 1)
        assert (text == "0 %") == (share == 0)


NUMBERS = """
- = –; sNaN = –; 0.30000000000000004 = 0.3; 1E+2 = 100; -0 = 0; 1E+999999 = 1.0E+999999
"""


@pytest.mark.parametrize(("value", "expected"), examples(NUMBERS))
def test_number(value: str, expected: str) -> None:
    assert number(figure(value)) == expected


def test_counts_and_sizes() -> None:
    assert [count(n) for n in (None, -1_234_567, 10**15)] == ["–", "-1,234,567", "1.0E+15"]
    assert count(10**5_000) == "1E+5000"
    assert [size(n) for n in (None, 999, 999_949)] == ["–", "999 B", "999.9 kB"]
    assert [size(n) for n in (999_950, 4_567 * 10**12)] == ["1.0 MB", "4,567.0 TB"]


@given(st.decimals() | st.integers().map(Decimal))
def test_a_number_is_short_and_keeps_its_size(value: Decimal) -> None:
    text = number(value)
    assert cell_width(text) <= 30
    if value.is_finite() and value:
        shown = Decimal(text.replace(",", ""))
        assert abs(shown - value) <= abs(value) * Decimal("0.05")


def test_clock() -> None:
    then = Moment(at=NOON)
    assert clock(then, NOON + 5, UTC) == "11:04:31"
    assert clock(then, NOON - 5, BERLIN) == "12:04:31"
    assert clock(then, NOON + DAY, BERLIN) == "Wed 12:04"
    assert clock(then, NOON + 6 * DAY, UTC) == "Wed 11:04"
    assert clock(then, NOON + 7 * DAY, UTC) == clock(then, NOON - DAY, UTC) == "19 Nov"
    assert clock(then, NOON + 365 * DAY, UTC) == "Nov 2025"
    assert (zone(NOON, UTC), zone(NOON, BERLIN), zone(1e20)) == ("UTC", "UTC+01:00", signs.unknown)
    assert clock(None, NOON) == "–"


def test_moments_in_the_local_zone(monkeypatch: pytest.MonkeyPatch) -> None:
    assert moment(Moment(at=NOON), UTC) == "2025-11-19 11:04:31"
    assert moment(Moment(at=NOON), BERLIN, full=True) == "2025-11-19 12:04:31 +01:00"
    assumed = Moment(at=NOON, zone_assumed=True)
    assert moment(assumed, UTC, full=True) == "2025-11-19 11:04:31 +00:00, zone assumed"
    assert moment(None) == moment(None, full=True) == "–"


@given(st.floats())
def test_any_moment_can_be_shown(at: float) -> None:
    then = Moment(at=at)
    assert cell_width(clock(then, NOON, UTC)) <= 9
    assert cell_width(moment(then, UTC)) <= 19
    assert cell_width(moment(then, full=True)) <= 40
    if abs(at) > 1e15:
        assert clock(then, NOON, UTC) == moment(then, UTC) == signs.unknown
