"""Entries of the log as sentences about names: composed when shown, with the names known by then.

Who did it stands apart from what was done and to what; an id stands only where no name is known,
and behind the verb.
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

SPAN: Final = 600.0  # seconds within which what is of one kind is folded
_DONE: Final = re.compile(
    r"\w+ed|begun|built|done|gone|held|left|lost|made|met|paid|put|read|run|sent|set|spent|taken|won"
)
_PARTICLES: Final = ("in", "off", "on", "out", "up", "down", "over", "back")
_FIGURES: Final = re.compile(r"\d[\d.,:]*")
_QUOTED: Final = re.compile(r"“[^“”]*”|„[^„“]*“|«[^«»]*»|\"[^\"]*\"")
_TASK_WORDS: Final = ("task", "issue", "job", "todo")


def doer(entry: Activity, names: Names) -> SafeText:
    """The name of who did it, else the sort of doer, else the sign for missing."""
    ref = entry.actor or entry.agent
    sort = phrase(entry.actor_type or "") or ("agent" if ref and not entry.actor else "")
    return _doers_name(entry, names) or (safe(sort) if sort else signs.missing)


def _doers_name(entry: Activity, names: Names) -> SafeText | None:
    return names.of_entry(entry, "actor" if entry.actor else "agent")


def deed(entry: Activity, names: Names) -> SafeText:
    """What was done, without who did it: the platform's words, else verb and object."""
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
    """The whole of it: "Linus approved task “Refund 214 customers”"."""
    if entry.text is not None:
        return entry.text
    who = doer(entry, names)
    return deed(entry, names) if who == signs.missing else joined((who, deed(entry, names)), " ")


def _object(entry: Activity, names: Names) -> tuple[str, str]:
    """What it was done to: the sort of thing, and its name, else its id."""
    ref, sort = entry.target, phrase(entry.target_type or "")
    if ref is None and entry.task is not None:
        ref, sort = entry.task, "task"
    elif ref is None and entry.actor is not None and entry.agent is not None:
        ref, sort = entry.agent, "agent"
    if ref is None:
        return sort, ""
    by, kind = entry.actor or entry.agent, phrase(entry.actor_type or "")
    if by is not None and ref.id == by.id is not None and sort in ("", kind or sort):
        return "", ""
    known = names.known(ref, sort)
    if known is None:
        return sort, safe(ref.id or "", 60)
    return sort, f"“{known}”" if sort == "task" else known


class Fold:
    """An entry, and those of its kind before it: `entries`, the newest first."""

    def __init__(self, entry: Activity) -> None:
        self.entries = [entry]

    @property
    def count(self) -> SafeText:
        """How often: "×4"; nothing of one."""
        return plain(f"×{len(self.entries)}" if len(self.entries) > 1 else "")

    def times(self) -> SafeText:
        """How often within how long: "×4 in 10 m"; nothing of one."""
        first, last = self.entries[-1].at, self.entries[0].at
        if not self.count or first is None or last is None:
            return self.count
        return plain(f"{self.count} in {max(1, round((last.at - first.at) / 60))} m")


def folded(newest_first: Iterable[Activity], names: Names) -> list[Fold]:
    """The entries with what one doer did again within ten minutes folded into the newest of it:
    with the same verb, of the same task or thing that has a name, and in the same words but for
    figures and names. Nothing is folded over a gap.
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
    who, target = entry.actor or entry.agent, names.of_entry(entry, "target")
    words = without_particulars(entry.text or "")
    return who, entry.verb, entry.severity, entry.task, target, entry.target_type, words


@memoized(8192)
def without_particulars(text: str) -> str:
    """What texts that are alike have in common: the words, without figures, names, and what is
    quoted. Where all words but the first begin with a capital, what is a name can't be told, and
    they stay; so does a text without words.

    >>> without_particulars("Refund 1,214 customers of Fairview Hotels")
    'Refund customers of'
    """
    first, *rest = _FIGURES.sub("", _QUOTED.sub("“…”", text)).split() or [""]
    words = [word for word in rest if not word[0].isupper()]
    if not any(word[0].isalpha() for word in words):
        words = rest
    found = " ".join((first, *words))
    return found if any(map(str.isalpha, found)) else text
