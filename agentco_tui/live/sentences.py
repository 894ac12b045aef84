"""Entries of the log as sentences, composed when they are shown, with the names known by then.

Who did it is kept apart from what was done and to what. An id is shown only where no name is known.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Final

from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.names import Names
from agentco_tui.model import Activity
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import SafeText, joined, plain, safe, signs
from agentco_tui.text.memoized import memoized

SPAN: Final = 600.0  # seconds within which entries of one kind are folded
_DONE: Final = re.compile(
    r"\w+ed|begun|built|done|gone|held|left|lost|made|met|paid|put|read|run|sent|set|spent|taken|won"
)
_PARTICLES: Final = ("in", "off", "on", "out", "up", "down", "over", "back")
_FIGURES: Final = re.compile(r"\d[\d.,:]*")
_QUOTED: Final = re.compile(r"“[^“”]*”|„[^„“]*“|«[^«»]*»|\"[^\"]*\"")
_TASK_WORDS: Final = ("task", "issue", "job", "todo")


def doer(entry: Activity, names: Names) -> SafeText:
    """The name of the actor, else the sort of actor, else the sign for missing."""
    name = _doers_name(entry, names)
    if name:
        return name
    sort = phrase(entry.actor_type or "")
    if not sort and entry.actor is None and entry.agent is not None:
        sort = "agent"
    return safe(sort) if sort else signs.missing


def _doers_name(entry: Activity, names: Names) -> SafeText | None:
    return names.of_entry(entry, "actor" if entry.actor else "agent")


def deed(entry: Activity, names: Names) -> SafeText:
    """What was done, without the actor: the platform's words, else verb and object."""
    ref = entry.actor or entry.agent
    who = _doers_name(entry, names)
    if entry.text is not None:
        rest = entry.text.removeprefix(f"{who} ")
        return safe(rest) if who and rest else entry.text
    words: list[str] = phrase(entry.verb or "").split()
    sort, thing = _object(entry, names)
    if len(words) > 1 and words[0] == "agent" and not (sort or thing or entry.actor):
        del words[0]  # its own
    if words and _DONE.fullmatch(words[-1]):
        words = [words[-1], *words[:-1]]
    elif len(words) > 1 and words[-1] in _PARTICLES and _DONE.fullmatch(words[-2]):
        words = [*words[-2:], *words[:-2]]
    about = [word for word in words if word in _TASK_WORDS] if sort == "task" else sort.split()
    told = [*words, sort, thing]
    if about and words[-len(about) :] == about:
        told = [*words, thing]  # approved task “X”
    elif about and (others := [word for word in words if word not in about]) != words:
        told = [*others, "of" if len(others) > 1 else "", *about, thing]
    if who is None and ref is not None and ref.id is not None:
        told.append(f"by {safe(ref.id, 60)}")
    if entry.outcome and entry.outcome not in words:
        told.append(f"({phrase(entry.outcome)})")
    return safe(" ".join(filter(None, told)) or "an entry without words")


def sentence(entry: Activity, names: Names) -> SafeText:
    """The whole sentence: "Linus approved task “Refund 214 customers”"."""
    if entry.text is not None:
        return entry.text
    who = doer(entry, names)
    return deed(entry, names) if who == signs.missing else joined((who, deed(entry, names)), " ")


def _object(entry: Activity, names: Names) -> tuple[str, str]:
    """The object: the sort of thing, and its name, else its id."""
    ref = entry.target
    sort = phrase(entry.target_type or "")
    if ref is None and entry.task is not None:
        ref = entry.task
        sort = "task"
    elif ref is None and entry.actor is not None and entry.agent is not None:
        ref = entry.agent
        sort = "agent"
    if ref is None:
        return sort, ""
    actor = entry.actor or entry.agent
    actor_sort = phrase(entry.actor_type or "")
    is_same_id = actor is not None and actor.id is not None and ref.id == actor.id
    is_same_sort = not actor_sort or sort in ("", actor_sort)
    if is_same_id and is_same_sort:
        return "", ""  # it was done to the actor
    known = names.known(ref, sort)
    if known is None:
        return sort, safe(ref.id or "", 60)
    return sort, f"“{known}”" if sort == "task" else known


class Fold:
    """Entries of one kind that are shown as one, the newest first."""

    def __init__(self, entry: Activity) -> None:
        self.entries = [entry]

    @property
    def count(self) -> SafeText:
        """How often: "×4"; empty for a single entry."""
        return plain(f"×{len(self.entries)}" if len(self.entries) > 1 else "")

    def times(self) -> SafeText:
        """How often within how long: "×4 in 10 m"; empty for a single entry."""
        first, last = self.entries[-1].at, self.entries[0].at
        if not self.count or first is None or last is None:
            return self.count
        return plain(f"{self.count} in {max(1, round((last.at - first.at) / 60))} m")


def folded(newest_first: Iterable[Activity], names: Names) -> list[Fold]:
    """Fold what one actor did repeatedly within ten minutes into the newest entry of it.

    Entries are of one kind if they have the same verb and object, and the same words apart from
    figures and names. Nothing is folded across a gap.
    """
    folds: list[Fold] = []
    open_: dict[Hashable, Fold] = {}
    for entry in newest_first:
        if is_gap(entry):
            open_.clear()
        kind = _kind(entry, names)
        fold = open_.get(kind)
        latest = None if fold is None else fold.entries[0].at
        if fold and latest and entry.at and latest.at - entry.at.at <= SPAN:
            fold.entries.append(entry)
        else:
            folds.append(fold := Fold(entry))
            open_[kind] = fold
    return folds


def _kind(entry: Activity, names: Names) -> Hashable:
    if entry.at is None or is_gap(entry) or (entry.text is None and entry.verb is None):
        return entry.id
    who = entry.actor or entry.agent
    target = names.of_entry(entry, "target")
    words = without_particulars(entry.text or "")
    return who, entry.verb, entry.severity, entry.task, target, entry.target_type, words


@memoized(8192)
def without_particulars(text: str) -> str:
    """A text without figures, names and quotations: similar texts have the same words left.

    If all words except the first begin with a capital, names cannot be recognised, so they stay.
    A text without any other words stays unchanged.

    >>> without_particulars("Refund 1,214 customers of Fairview Hotels")
    'Refund customers of'
    """
    first, *rest = _FIGURES.sub("", _QUOTED.sub("“…”", text)).split() or [""]
    words = [word for word in rest if not word[0].isupper()]
    if not any(word[0].isalpha() for word in words):
        words = rest
    remaining = " ".join((first, *words))
    return remaining if any(map(str.isalpha, remaining)) else text
