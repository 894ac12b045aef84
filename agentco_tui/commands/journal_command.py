"""`agentco-tui journal`: prints every change that was sent from this machine, and its result.

A change is an approval, a new task, a new limit, and so on (its verb). The journal file has an
`Attempt` for each, written before it is sent to the platform (the service with AI agents that is
watched), and then a `Settled` for its outcome; a later one corrects an earlier one. Other commands
use `parse_since`, and `unsettled_report` for what is still open when the program ends.
"""

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
from agentco_tui.actions.journal_lines import Attempt, Settled, attempt_histories, seconds_of
from agentco_tui.cli.arguments import UsageError
from agentco_tui.commands.command_output import Exit, print_json, print_lines, print_to_stderr
from agentco_tui.config import Arguments
from agentco_tui.config.validators import parse_duration
from agentco_tui.model import Moment, with_key
from agentco_tui.model.format import ago, moment
from agentco_tui.system.state_folder import JOURNAL_FILE, state_folder
from agentco_tui.text import SafeText, clean_line, mark_safe, signs

MOST_LISTED = 10
"""The report at the end of the program lists at most so many attempts one by one."""


def parse_since(text: str, now: float) -> float:
    """Return the moment that a `--since` argument names, in seconds since 1970.

    "90s", "30m", "2h", "3d" and "1w" count back from `now`. A date, with or without a time, is
    local unless it has a time zone. Raises UsageError.

    >>> parse_since("2h", 10_000.0)
    2800.0
    """
    typed = text.strip()
    seconds = parse_duration(typed.casefold())
    if seconds is not None:
        return now - seconds
    try:
        return datetime.fromisoformat(typed).timestamp()
    except (ValueError, OverflowError, OSError):
        raise UsageError(
            f"--since: “{clean_line(text, 60)}” is not a time: "
            "use a duration such as 2h or 3d, or a date such as 2026-01-31 or 2026-01-31T14:30"
        ) from None


def run(arguments: Arguments, env: Mapping[str, str]) -> int:
    """Print the journal of all profiles; returns the exit code. Raises UsageError."""
    del env  # it chooses a profile, and the journal has those of all
    since: float | None = None
    if arguments["since"] is not None:
        since = parse_since(arguments["since"], time.time())
    return print_journal(state_folder() / JOURNAL_FILE, as_json=arguments["json"], since=since)


def print_journal(path: Path, *, as_json: bool, since: float | None) -> int:
    """Print a line for each attempt with its outcome, the oldest first; returns the exit code.

    `since` is in seconds since 1970. A file that another program has changed is reported after the
    lines, with exit code 1.
    """
    try:
        with path.open("rb") as file:
            for attempt, outcomes in attempt_histories(file):
                at = seconds_of(attempt.time)
                if since is not None and at is not None and at < since:
                    continue
                if as_json:
                    print_json(_attempt_as_json(attempt, outcomes))
                else:
                    print_lines(_attempt_line(attempt, outcomes))
            # The first line that shows that the file was changed, by digests in the lines.
            changed_at = find_damage(file)
        if changed_at is not None:
            print_to_stderr(JournalDamagedError(path, changed_at).sentence)
            return Exit.FAILED
    except FileNotFoundError:
        if not as_json:
            print_lines(f"nothing has been approved or changed from here yet ({path})")
    except BrokenPipeError:
        raise
    except OSError as error:
        print_to_stderr(f"the journal {path} can't be read: {error.strerror}")
        return Exit.FAILED
    return Exit.OK


def unsettled_report(journal: Journal, now: float) -> list[SafeText]:
    """Return the lines to print when the program ends, if any.

    They report changes whose outcome is unknown, outcomes that could not be written to the journal,
    and a journal that was lost. `now` is in seconds since 1970.
    """
    # Of this process only: attempts without a known outcome, and outcomes not yet in the file.
    unsettled, unwritten = journal.unfinished()
    report: list[SafeText] = []
    if unsettled:
        report += _unsettled_lines(unsettled, now)
    for settled in unwritten[:MOST_LISTED]:
        words = f"{_subject_words(settled)}: {_outcome_words(settled)}"
        report.append(mark_safe(f"{signs.warning} not in the journal: {words}"))
    if journal.lost is not None:
        report.append(mark_safe(f"{signs.warning} {journal.lost.why}"))
    return report


def _unsettled_lines(unsettled: Sequence[Attempt], now: float) -> list[SafeText]:
    """Return how many changes have no known outcome, how to see them, and the first of them."""
    if len(unsettled) == 1:
        verb = "was"
        pronoun = "it"
    else:
        verb = "were"
        pronoun = "them"
    heading = (
        f"{signs.unknown} {_counts_by_verb(unsettled)} {verb} sent and not yet settled:"
        f" agentco-tui journal --since {_since_argument(unsettled, now)} shows {pronoun},"
        f" and the next start reads what became of {pronoun}"
    )
    report = [mark_safe(heading)]
    for attempt in unsettled[:MOST_LISTED]:
        at = seconds_of(attempt.time)
        when = "" if at is None else f", {ago(max(0.0, now - at))}"
        report.append(mark_safe(f"  {_subject_words(attempt)}{when}"))
    if len(unsettled) > MOST_LISTED:
        report.append(mark_safe(f"  and {len(unsettled) - MOST_LISTED} more"))
    return report


def _counts_by_verb(attempts: Sequence[Attempt]) -> str:
    """Return the number of attempts of each kind: "2 approvals and 1 × set limit"."""
    number_by_verb = Counter(attempt.verb for attempt in attempts)
    approvals = number_by_verb.pop("approve", 0)
    counts = [f"{number} × {clean_line(verb, 20)}" for verb, number in number_by_verb.items()]
    if approvals:
        noun = "approval" if approvals == 1 else "approvals"
        counts.insert(0, f"{approvals} {noun}")
    return " and ".join(counts)


def _since_argument(attempts: Sequence[Attempt], now: float) -> str:
    """Return the `--since` that shows these attempts, even if it is typed a few minutes later."""
    oldest = min(seconds_of(attempt.time) or now for attempt in attempts)
    minutes = max(10, math.ceil((now - oldest) / 60 + 5))
    if minutes <= 90:
        return f"{minutes}m"
    return f"{math.ceil(minutes / 60)}h"


def _attempt_as_json(attempt: Attempt, outcomes: Sequence[Settled]) -> dict[str, object]:
    """Return an attempt with its last outcome, and those that it corrects, for scripts."""
    fields = msgspec.structs.asdict(attempt)
    fields["outcome"] = _outcome_as_json(outcomes[-1]) if outcomes else None
    fields["corrected"] = [_outcome_as_json(settled) for settled in outcomes[:-1]]
    return fields


def _outcome_as_json(settled: Settled) -> dict[str, object]:
    # known_by: what the outcome is known from: a later "read", the "answer" alone, or only "here".
    # words: the platform's message. sentence: as shown to the user. made: the id of a new record.
    names = ("time", "known_by", "words", "http_status", "sentence", "made", "pid")
    return {"is": settled.outcome, **{name: getattr(settled, name) for name in names}}


def _attempt_line(attempt: Attempt, outcomes: list[Settled]) -> SafeText:
    """Return an attempt as a line: time, profile, what was sent, and each outcome in turn."""
    subject = _subject_words(attempt)
    for settled in outcomes:
        if settled.made:
            subject = f"{subject} {signs.arrow} {clean_line(settled.made, 80)}"
            break
    if outcomes:
        result = _outcome_words(outcomes[0])
    else:
        result = f"{signs.unknown} unknown: no outcome is written"
    for settled in outcomes[1:]:
        result += f"; corrected at {_local_time(settled)}: {_outcome_words(settled)}"
    subject += _given_words(attempt)
    return mark_safe(
        f"{_local_time(attempt)}  {clean_line(attempt.profile, 40)}  {subject}  {result}"
    )


def _given_words(attempt: Attempt) -> str:
    """Return what the user gave to a verb of the platform: " with “50” and “too dear”", or ""."""
    given = (attempt.details.get(name) for name in ("amount", "note"))
    words = [f"“{clean_line(text, 200)}”" for text in given if isinstance(text, str)]
    return f" with {' and '.join(words)}" if words else ""


def _local_time(entry: Attempt | Settled) -> str:
    at = seconds_of(entry.time)
    return moment(None if at is None else Moment(at=at))


def _subject_words(entry: Attempt | Settled) -> str:
    """Return what is done to what, with names and ids: “approve "Pay" t1 (Acme cmp_1)”."""
    title = with_key(clean_line(entry.key, 60) or None, clean_line(entry.title, 80))
    words = f"{clean_line(entry.verb, 40)} “{title}”"
    if entry.task:
        words = f"{words} {clean_line(entry.task, 80)}"
    owners: list[str] = []
    for name, record_id in (
        (entry.company_name, entry.company),
        (entry.agent_name, entry.agent),
    ):
        owner = " ".join(clean_line(word, 80) for word in (name, record_id) if word)
        if owner:
            owners.append(owner)
    if owners:
        words = f"{words} ({', '.join(owners)})"
    return words


def _outcome_words(settled: Settled) -> str:
    """Return an outcome, how it is known, and the platform's own words about it."""
    words: str = clean_line(settled.outcome, 40)
    if settled.known_by:
        words = f"{words}, known by {clean_line(settled.known_by, 20)}"
    if settled.words:
        words = f"{words} ({clean_line(settled.words, 120)})"
    return words
