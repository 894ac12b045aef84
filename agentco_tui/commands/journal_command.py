"""`agentco-tui journal`: what was approved or changed from here, and what became of it."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

import msgspec

from agentco_tui.actions.journal import Journal
from agentco_tui.actions.journal_digest import find_damage
from agentco_tui.actions.journal_errors import JournalDamagedError
from agentco_tui.actions.journal_lines import Attempt, Settled, histories, seconds_of
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, complain, say, say_json
from agentco_tui.config import Given
from agentco_tui.config.validators import parse_duration
from agentco_tui.model import Moment
from agentco_tui.model.format import ago, moment
from agentco_tui.system.state_folder import state_folder
from agentco_tui.text import SafeText, plain, safe, signs

MOST_NAMED = 10  # attempts named one by one at the end of the program


def since_when(text: str, now: float) -> float:
    """Return the moment that `--since` means, in seconds since 1970.

    "90s", "30m", "2h", "3d" and "1w" count back from `now`; a date or a date with a time is taken
    in local time unless it has a zone. Raises UsageError.

    >>> since_when("2h", 10_000.0)
    2800.0
    """
    typed = text.strip()
    if (seconds := parse_duration(typed.casefold())) is not None:
        return now - seconds
    try:
        return datetime.fromisoformat(typed).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"--since can't be read from “{safe(text, 60)}”: "
            "give a span as 2h or 3d, or a date as 2026-01-31 or 2026-01-31T14:30"
        ) from None


def run(given: Given, env: Mapping[str, str]) -> int:
    del env  # one journal has all profiles of a user on a machine
    since = None if given["since"] is None else since_when(given["since"], time.time())
    return show(state_folder() / "journal.jsonl", as_json=given["json"], since=since)


def show(path: Path, *, as_json: bool, since: float | None) -> int:
    """Print a line for each attempt with its outcome, the oldest first; return the exit code.

    `since` is in seconds since 1970. If the file was changed by something else, that is reported
    after the lines, and the code is 1.
    """
    try:
        with path.open("rb") as file:
            for attempt, outcomes in histories(file):
                at = seconds_of(attempt.time)
                if since is not None and at is not None and at < since:
                    continue
                if as_json:
                    told = msgspec.structs.asdict(attempt)
                    told["outcome"] = _outcome_of(outcomes[-1]) if outcomes else None
                    told["corrected"] = [_outcome_of(settled) for settled in outcomes[:-1]]
                    say_json(told)
                else:
                    say(_line(attempt, outcomes))
            changed_at = find_damage(file)
        if changed_at is not None:
            complain(JournalDamagedError(path, changed_at).sentence)
            return Exit.FAILED
    except FileNotFoundError:
        if not as_json:
            say(f"nothing was approved or changed from here yet ({path})")
    except BrokenPipeError:
        raise
    except OSError as error:
        complain(f"the journal {path} can't be read: {error.strerror}")
        return Exit.FAILED
    return Exit.OK


def leaving(journal: Journal, now: float) -> list[SafeText]:
    """Return what the end of the program reports: writes whose outcome is unknown, outcomes that
    are not in the journal, and the loss of the journal.
    """
    left, unwritten = journal.unfinished()
    report = _unsettled_lines(left, now) if left else []
    for settled in unwritten[:MOST_NAMED]:
        words = f"{signs.warning} not in the journal: {_what(settled)}: {_is(settled)}"
        report.append(plain(words))
    if journal.lost is not None:
        report.append(plain(f"{signs.warning} {journal.lost.why}"))
    return report


def _unsettled_lines(left: Sequence[Attempt], now: float) -> list[SafeText]:
    """Return how many writes have no outcome and how to see them, then some of them by name."""
    was, them = ("was", "it") if len(left) == 1 else ("were", "them")
    heading = (
        f"{signs.unknown} {_counted(left)} {was} sent and not yet settled: agentco-tui journal "
        f"--since {_since_argument(left, now)} shows {them}, "
        f"and the next start reads what became of {them}"
    )
    report = [plain(heading)]
    for attempt in left[:MOST_NAMED]:
        at = seconds_of(attempt.time)
        when = "" if at is None else f", {ago(max(0.0, now - at))}"
        report.append(plain(f"  {_what(attempt)}{when}"))
    if len(left) > MOST_NAMED:
        report.append(plain(f"  and {len(left) - MOST_NAMED} more"))
    return report


def _counted(attempts: Sequence[Attempt]) -> str:
    """Return attempts in numbers: "2 approvals and 1 × set limit"."""
    number_by_verb = Counter(attempt.verb for attempt in attempts)
    approvals = number_by_verb.pop("approve", 0)
    counts = [f"{number} × {safe(verb, 20)}" for verb, number in number_by_verb.items()]
    if approvals:
        counts.insert(0, f"{approvals} approval{'' if approvals == 1 else 's'}")
    return " and ".join(counts)


def _since_argument(attempts: Sequence[Attempt], now: float) -> str:
    """Return the `--since` that shows these attempts, also if it is typed a few minutes later."""
    oldest = min(seconds_of(attempt.time) or now for attempt in attempts)
    minutes = max(10, math.ceil((now - oldest) / 60 + 5))
    return f"{minutes}m" if minutes <= 90 else f"{math.ceil(minutes / 60)}h"


def _outcome_of(settled: Settled) -> dict[str, object]:
    names = ("time", "known_by", "words", "http_status", "sentence", "made", "pid")
    return {"is": settled.outcome, **{name: getattr(settled, name) for name in names}}


def _line(attempt: Attempt, outcomes: list[Settled]) -> SafeText:
    made = next((settled.made for settled in outcomes if settled.made), None)
    what = _what(attempt) + (f" {signs.arrow} {safe(made, 80)}" if made else "")
    profile = safe(attempt.profile, 40)
    became = _is(outcomes[0]) if outcomes else f"{signs.unknown} unknown: no outcome is written"
    for settled in outcomes[1:]:
        became += f"; corrected at {_when(settled)}: {_is(settled)}"
    return plain(f"{_when(attempt)}  {profile}  {what}  {became}")


def _when(entry: Attempt | Settled) -> str:
    at = seconds_of(entry.time)
    return moment(None if at is None else Moment(at=at))


def _what(entry: Attempt | Settled) -> str:
    """Return what is done to what, with ids, so that similar ones can be told apart."""
    named = ((entry.company_name, entry.company), (entry.agent_name, entry.agent))
    each = (" ".join(safe(word, 80) for word in words if word) for words in named)
    people = ", ".join(filter(None, each))
    task = f" {safe(entry.task, 80)}" if entry.task else ""
    whose = f" ({people})" if people else ""
    return f"{safe(entry.verb, 20)} “{safe(entry.title, 80)}”{task}{whose}"


def _is(settled: Settled) -> str:
    words = f" ({safe(settled.words, 120)})" if settled.words else ""
    known = f", known by {safe(settled.known_by, 20)}" if settled.known_by else ""
    return f"{safe(settled.outcome, 40)}{known}{words}"
