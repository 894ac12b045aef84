"""Formats figures for the screen and for commands: ages, sums of money, shares, counts, times.

Most figures come from the platform, the remote service that runs the companies of AI agents; one
that it did not send is "missing".

All functions are pure: the current time is an argument. They return `SafeText`, a string that a
terminal can show as it is, in English form (1,234.50) whatever the locale, so that scripts can rely
on it. A figure that was not sent (None), or is no number (NaN), becomes `signs.missing`, never 0. A
figure that was computed here and not sent starts with `signs.derived` (`~`). Rounding never makes a
figure untrue: a sum other than zero is never shown as 0.00, a share below one never as 100 %.
"""

from __future__ import annotations

import math
from datetime import UTC, datetime, tzinfo
from decimal import ROUND_HALF_EVEN, Decimal
from typing import TYPE_CHECKING, Final

from agentco_tui.text import SafeText, clean_line, clip, in_ascii, mark_safe, signs

if TYPE_CHECKING:
    from agentco_tui.model import Moment, Money

_MINUTE: Final = 60
_HOUR: Final = 3_600
_DAY: Final = 86_400
_AGES: Final = (
    (_MINUTE, 1, "s"),
    (_HOUR, _MINUTE, "m"),
    (2 * _DAY, _HOUR, "h"),
    (14 * _DAY, _DAY, "d"),
    (728 * _DAY, 7 * _DAY, "w"),
    (math.inf, 365.25 * _DAY, "y"),
)
"""(below so many seconds, seconds in the unit, name of the unit)."""
_MONTHS: Final = "JanFebMarAprMayJunJulAugSepOctNovDec"
_DAYS: Final = "MonTueWedThuFriSatSun"

_BEFORE: Final = {
    **{"USD": "$", "EUR": "€", "GBP": "£", "JPY": "¥", "INR": "₹", "KRW": "₩", "ILS": "₪"},
    **{"CAD": "CA$", "AUD": "A$", "NZD": "NZ$", "HKD": "HK$", "SGD": "S$", "MXN": "MX$"},
    **{"BRL": "R$", "CNY": "CN¥"},
}
"""Signs before a sum, of currencies whose sign is unmistakable; others have their code after it."""
_NO_CENTS: Final = frozenset({"JPY", "KRW", "VND", "CLP", "ISK", "UGX", "XAF", "XOF", "HUF"})
"""Currencies whose sums are shown without decimals."""
_UNITS_OF_THREE: Final = frozenset({"REQ", "TOK", "GIB", "MIB", "KIB", "HRS", "MIN", "SEC"})
"""Units that look like the code of a currency and are none."""

_LARGEST: Final = 15
"""From 10^15 on a figure is shown as 1.2E+15, because no column has room for its digits."""
_SMALLEST: Final = -9
"""Sums below 10^-9 are shown as "<0.000000001"."""


def age(seconds: float | None, *, fine: bool = False) -> SafeText:
    """How long ago, in at most five cells: "0 s", "12 s", "26 m", "47 h", "13 d", "5 w", "3 y".

    If `fine`, hours have their minutes: "1h52". Rounded down; a negative age (a clock that is
    wrong) is "0 s".
    """
    if seconds is None or math.isnan(seconds):
        return signs.missing
    seconds = max(seconds, 0)
    if fine and _HOUR <= seconds < 2 * _DAY:
        return SafeText(f"{int(seconds // _HOUR)}h{int(seconds % _HOUR // _MINUTE):02d}")
    for below, unit, name in _AGES:
        if seconds < below:
            return SafeText(f"{min(int(seconds // unit), 999)} {name}")
    return SafeText("999 y")


def age_changes_in(seconds: float, *, fine: bool = False) -> float:
    """Seconds until `age` gives another text for what is `seconds` old now."""
    if seconds < 0:
        return 1 - seconds
    unit = next(unit for below, unit, _ in _AGES if seconds < below)
    if fine and _HOUR <= seconds < 2 * _DAY:
        unit = _MINUTE
    return unit - seconds % unit


def ago(seconds: float | None) -> SafeText:
    """`age` as a phrase: "12 s ago"."""
    text = age(seconds)
    if text == signs.missing:
        return text
    return SafeText(f"{text} ago")


def duration(seconds: float | None) -> SafeText:
    """How long something took: "84 ms", "1.5 s", "2 m 03 s", "3 h 05 m", "2 d 04 h".

    A negative or infinite duration is missing.
    """
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return signs.missing
    if 0 < seconds < 0.0005:
        return SafeText("<1 ms")
    if seconds < 0.9995:
        return SafeText(f"{seconds * 1_000:.0f} ms")
    if seconds < 59.95:
        return SafeText(f"{seconds:.1f} s")
    whole = round(seconds)
    if whole < _HOUR:
        return SafeText(f"{whole // _MINUTE} m {whole % _MINUTE:02d} s")
    if whole < _DAY:
        return SafeText(f"{whole // _HOUR} h {whole % _HOUR // _MINUTE:02d} m")
    if whole >= 1_000_000 * _DAY:
        return SafeText(">999,999 d")
    return SafeText(f"{whole // _DAY:,} d {whole % _DAY // _HOUR:02d} h")


def money(
    sum_: Money | None,
    short: bool = False,
    exact: bool = False,
    rough: bool = False,
    brief: bool = False,
) -> SafeText:
    """A sum: "$1,234.50", "-$5.00", "~€12.00", "12.00 CHF", "1,200 TOKENS", "1,234.50".

    Without a currency there is no sign and two decimals. Sums below ten cents show two significant
    digits ("$0.0012"), from 10^15 on "$1.2E+15". `short` turns millions into "$1.2 M"; `exact`
    shows up to twelve digits behind the point; `rough`, for estimates, rounds to three digits and
    leaves out the cents of hundreds; `brief` leaves them out where there are none. An assumed unit
    is not marked here, because then every sum of such a platform would be: see `money_origin`.
    """
    if sum_ is None or not sum_.amount.is_finite():
        return signs.missing
    unit = clip(clean_line(sum_.currency or ""), 12)
    amount = abs(sum_.amount)
    no_cents = unit in _NO_CENTS
    if rough and amount:
        amount = Decimal(f"{amount:.2e}")
        no_cents |= amount >= 100
    if brief and amount == amount.to_integral_value():
        no_cents = True
    exact_decimals: int | None = None
    if exact:
        decimals_sent = max(0, -int(amount.normalize().as_tuple().exponent))
        exact_decimals = min(decimals_sent, 12)
    sign = ""
    if _is_counted(unit):
        figure = _figure(amount, exact_decimals, short)
    else:
        usual_decimals = 0 if no_cents else 2
        figure = _figure(amount, max(exact_decimals or 0, usual_decimals), short)
        sign = _currency_sign(unit)
    prefix = ""
    if sum_.derived:
        prefix += signs.derived
    if figure.startswith("<"):
        prefix += "<"
        figure = figure.removeprefix("<")
    if sum_.amount < 0:
        prefix += "-"
    if unit and not sign:
        figure += f" {unit}"
    return mark_safe(f"{prefix}{sign}{figure}")


def _currency_sign(unit: str) -> str:
    """The sign before sums of a currency; "" if its code follows the sum."""
    sign = _BEFORE.get(unit, "")
    if in_ascii() and not sign.isascii():
        return ""
    return sign


def _is_counted(unit: str) -> bool:
    """Whether a unit is counted (TOKENS, CREDITS, GB); currencies have three letters (ISO 4217)."""
    if not unit:
        return False
    return len(unit) != 3 or not unit.isalpha() or unit in _UNITS_OF_THREE


def money_origin(sum_: Money) -> str:
    """Which parts of a sum were assumed or computed here, in words; empty if none were."""
    not_sent: list[str] = []
    if sum_.unit_assumed and sum_.amount:  # zero is the same in units and in cents
        not_sent.append("unit")
    if sum_.currency is None:
        not_sent.append("currency")
    notes: list[str] = []
    if not_sent:
        notes.append(f"{' and '.join(not_sent)} not sent")
    if sum_.derived:
        notes.append("worked out here")
    return ", ".join(notes)


def _figure(amount: Decimal, decimals: int | None = None, short: bool = False) -> str:
    """An amount that is not negative, in digits.

    With `decimals`, so many of them; with "<" before the figure if they would all be zero. Without,
    up to twelve significant digits and no trailing zeros. `short` writes millions as "1.2 M".
    """
    if not amount:
        return f"{0:.{decimals or 0}f}"
    exponent = amount.adjusted()
    if exponent < _SMALLEST and decimals is not None:
        return "<0.000000001"
    if not _SMALLEST <= exponent < _LARGEST:
        return f"{amount:.1E}"
    if short and exponent >= 6:
        for power, letter in ((6, "M"), (9, "B"), (12, "T")):
            figure = amount.scaleb(-power).quantize(Decimal("0.1"), ROUND_HALF_EVEN)
            if figure < 1_000 or letter == "T":
                return f"{figure:,} {letter}"
    if decimals is None:
        places = max(0, 11 - max(exponent, 0))
    else:
        places = decimals
        least_exponent = -1 if decimals else 0
        if exponent < least_exponent:
            places = 1 - exponent  # two significant digits
    text = f"{amount.quantize(Decimal(1).scaleb(-places), ROUND_HALF_EVEN):,f}"
    if places == decimals or "." not in text:
        return text
    whole, _, fraction = text.rstrip("0").partition(".")
    least_decimals = decimals or 0
    if not fraction and not least_decimals:
        return whole
    return f"{whole}.{fraction:0<{least_decimals}}"


def percent(share: Decimal | None, derived: bool = False) -> SafeText:
    """A share, 1 being all of it: "83 %", "140 %", "<1 %", "~83 %".

    "100 %" is exactly all of it: just below is "99 %", just above ">100 %".
    """
    if share is None or not share.is_finite():
        return signs.missing
    text = _percent_text(share)
    if derived:
        text = f"{signs.derived}{text}"
    return SafeText(text)


def _percent_text(share: Decimal) -> str:
    """A finite share in per cent, rounded to whole ones, but never to or across 0 or 100 %."""
    if share and share.adjusted() > 2:
        if share < 0:
            return "<-99,999 %"
        return ">99,999 %"
    if share < 0:
        if share > Decimal("-0.01"):
            return "<0 %"
        return f"{min(-1, round(share * 100)):,} %"
    if 0 < share < Decimal("0.01"):
        return "<1 %"
    whole = round(share * 100)
    if share < 1:
        return f"{min(99, whole)} %"
    if share > 1 and whole == 100:
        return ">100 %"
    return f"{whole:,} %"


def count(value: int | None) -> SafeText:
    """How many: "1,234"; from 10^15 on about how many, "1.2E+15"."""
    if value is None:
        return signs.missing
    if abs(value) < 10**_LARGEST:
        return SafeText(f"{value:,}")
    if value.bit_length() > 64:
        # Turning a huge integer into digits takes quadratic time.
        digits = round((value.bit_length() - 1) * math.log10(2))
        minus = "-" if value < 0 else ""
        return SafeText(f"{minus}1E+{digits}")
    return number(Decimal(value))


def number(value: Decimal | None) -> SafeText:
    """Any figure: "1,234.5", "0.3" (also for 0.30000000000000004), "1.2E+40"."""
    if value is None or not value.is_finite():
        return signs.missing
    figure = _figure(abs(value))
    if value < 0 and figure != "0":
        figure = f"-{figure}"
    return SafeText(figure)


def size(amount: int | None) -> SafeText:
    """Bytes: "512 B", "1.5 kB", "20.0 MB" (a kB is 1,000 bytes)."""
    if amount is None:
        return signs.missing
    if abs(amount) < 1_000:
        return SafeText(f"{amount} B")
    figure = amount / 1_000
    for unit in ("kB", "MB", "GB"):
        if abs(figure) < 999.95:
            return SafeText(f"{figure:.1f} {unit}")
        figure /= 1_000
    return SafeText(f"{figure:,.1f} TB")


def clock(moment_: Moment | None, now: float, tz: tzinfo | None = None) -> SafeText:
    """A past time, seen from `now` (seconds since 1970), in at most nine cells.

    "12:04:31" today, "Wed 12:04" in the six days before, "19 Nov" this year, else "Nov 2024". In
    the zone `tz`, by default the local one.
    """
    if moment_ is None:
        return signs.missing
    then = _local(moment_.at, tz)
    today = _local(now, tz)
    if then is None or today is None:
        return signs.unknown
    days_ago = (today.date() - then.date()).days
    if days_ago == 0:
        return SafeText(f"{then:%H:%M:%S}")
    if 0 < days_ago < 7:
        return SafeText(f"{_weekday(then)} {then:%H:%M}")
    if then.year == today.year:
        return SafeText(f"{then.day} {_month(then)}")
    return SafeText(f"{_month(then)} {then.year}")


def day(at: float, now: float, tz: tzinfo | None = None) -> SafeText:
    """A future time, as exact as an estimate is.

    "17:00" today, "Tue 24 Nov" in the six days after, "1 Dec" within ten months, else "Dec 2026".
    """
    then = _local(at, tz)
    today = _local(now, tz)
    if then is None or today is None:
        return signs.unknown
    days_ahead = (then.date() - today.date()).days
    if days_ahead == 0:
        return SafeText(f"{then:%H:%M}")
    if 0 < days_ahead < 7:
        return SafeText(f"{_weekday(then)} {then.day} {_month(then)}")
    if abs(days_ahead) < _DAYS_WITHOUT_YEAR:
        return SafeText(f"{then.day} {_month(then)}")
    return SafeText(f"{_month(then)} {then.year}")


_DAYS_WITHOUT_YEAR: Final = 300
"""A date less than so many days away is clear without its year."""


def _weekday(then: datetime) -> str:
    """The weekday in three letters: "Mon". In English, whatever the locale."""
    start = 3 * then.weekday()
    return _DAYS[start : start + 3]


def _month(then: datetime) -> str:
    """The month in three letters: "Jan". In English, whatever the locale."""
    end = 3 * then.month
    return _MONTHS[end - 3 : end]


def zone(now: float, tz: tzinfo | None = None) -> SafeText:
    """The name of the time zone: "UTC", "CET"."""
    today = _local(now, tz)
    if today is None:
        return signs.unknown
    return clean_line(f"{today:%Z}", 10)


def moment(moment_: Moment | None, tz: tzinfo | None = None, full: bool = False) -> SafeText:
    """A time with its date: "2025-11-19 12:04:31".

    With `full` also its zone, and whether that is assumed: "2025-11-19 12:04:31 +01:00, zone
    assumed".
    """
    if moment_ is None:
        return signs.missing
    then = _local(moment_.at, tz)
    if then is None:
        if full:
            return mark_safe(f"{signs.unknown} no time a calendar has")
        return signs.unknown
    text = then.isoformat(" ")
    date_and_time = text[:19]
    offset = text[19:]
    if not full:
        return mark_safe(date_and_time)
    assumed = ", zone assumed" if moment_.zone_assumed else ""
    return mark_safe(f"{date_and_time} {offset}{assumed}")


def stamp(seconds: float) -> str:
    """Seconds since 1970 as ISO 8601 in UTC, to the millisecond."""
    moment_ = datetime.fromtimestamp(seconds, UTC)
    return moment_.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _local(at: float, tz: tzinfo | None) -> datetime | None:
    """The local time of `at`, to the second; None if it lies beyond what calendars have."""
    try:
        then = datetime.fromtimestamp(math.floor(at), UTC)
        return then.astimezone(tz)
    except (ValueError, OverflowError, OSError):
        return None
