"""Turns entries of the activity log into sentences, with the names that are known by now.

The activity log is the record of what the AI agents did, as the platform (the remote service) sends
it. An entry has an actor, a verb and an object, or a text of the platform's; its `agent` is the one
that it is about, and did it if no other `actor` is named. Screens show who did it (`actor_words`)
and what was done (`action_words`) in two columns. An id is shown only where no name is known.
`Names.of_entry` takes a name that the entry carries, or looks it up by id with `known_name`.
`fold_repeats` joins entries that repeat into one line. A gap is an entry of our own where entries
are missing. `entry.at` is a `Moment`, whose `at` is in seconds.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Final

from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.names import Names
from agentco_tui.model import Activity, Ref, has_word
from agentco_tui.reading.field_names import phrase
from agentco_tui.text import SafeText, clean_line, joined, mark_safe, signs
from agentco_tui.text.memoized import memoized

SPAN: Final = 600.0  # seconds within which entries of one kind are folded
# A participle, "approved", is put before the noun: "task approved" becomes "approved task".
_DONE: Final = re.compile(
    r"\w+ed|begun|built|done|gone|held|left|lost|made|met|paid|put|read|run|sent|set|spent|taken|won"
)
_PARTICLES: Final = ("in", "off", "on", "out", "up", "down", "over", "back")
_FIGURES: Final = re.compile(r"\d[\d.,:]*")
_QUOTED: Final = re.compile(r"“[^“”]*”|„[^„“]*“|«[^«»]*»|\"[^\"]*\"")
_TASK_WORDS: Final = ("task", "issue", "job", "todo")


def actor_words(entry: Activity, names: Names) -> SafeText:
    """The name of the actor, else the sort of actor, else the sign for missing."""
    name = _actor_name(entry, names)
    if name:
        return name
    sort = phrase(entry.actor_type or "")  # in separate words, as "tool call" for "toolCall"
    if not sort and entry.actor is None and entry.agent is not None:
        sort = "agent"
    if not sort:
        return signs.missing
    return clean_line(sort)


def _actor_name(entry: Activity, names: Names) -> SafeText | None:
    if entry.actor:
        return names.of_entry(entry, "actor")
    return names.of_entry(entry, "agent")


def action_words(entry: Activity, names: Names) -> SafeText:
    """What was done, without the actor: the platform's words, else verb and object."""
    ref = entry.actor or entry.agent
    who = _actor_name(entry, names)
    if entry.text is not None:
        rest = entry.text.removeprefix(f"{who} ")
        if who and rest:
            return clean_line(rest)
        return entry.text
    words = phrase(entry.verb or "").split()
    sort, thing = _object_of(entry, names)
    names_the_actor = len(words) > 1 and words[0] == "agent"
    if names_the_actor and not (sort or thing or entry.actor):
        del words[0]
    words = _participle_first(words)
    object_words = sort.split()
    if sort == "task":
        object_words = [word for word in words if word in _TASK_WORDS]
    other_words = [word for word in words if word not in object_words]
    parts = [*words, sort, thing]
    if object_words and words[-len(object_words) :] == object_words:
        parts = [*words, thing]  # approved task “X”
    elif object_words and other_words != words:
        of = "of" if len(other_words) > 1 else ""
        parts = [*other_words, of, *object_words, thing]
    if who is None and ref is not None and ref.id is not None:
        parts.append(f"by {clean_line(ref.id, 60)}")
    if entry.outcome and entry.outcome not in words:
        parts.append(f"({phrase(entry.outcome)})")
    return clean_line(" ".join(filter(None, parts)) or "an entry without words")


def _participle_first(words: list[str]) -> list[str]:
    """The words of a verb with the participle in front: "budget updated" as "updated budget"."""
    if words and _DONE.fullmatch(words[-1]):
        return [words[-1], *words[:-1]]
    if len(words) > 1 and words[-1] in _PARTICLES and _DONE.fullmatch(words[-2]):
        return [*words[-2:], *words[:-2]]
    return words


def sentence(entry: Activity, names: Names) -> SafeText:
    """The whole sentence: "Linus approved task “Refund 214 customers”"."""
    if entry.text is not None:
        return entry.text
    who = actor_words(entry, names)
    action = action_words(entry, names)
    if who == signs.missing:
        return action
    return joined((who, action), " ")


def _object_of(entry: Activity, names: Names) -> tuple[str, str]:
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
    known = names.known_name(ref, sort)
    if sort == "task":
        return sort, _task_words(entry.task_key or names.task_key(ref), ref, known)
    if known is None:
        return sort, clean_line(ref.id or "", 60)
    return sort, known


def _task_words(key: SafeText | None, task: Ref, title: SafeText | None) -> str:
    """The key and the title of a task: "GLO-7 “Publish prices”"; its id if neither is known."""
    if title is None:
        return key or clean_line(task.id or "", 60)
    if key is None or has_word(title, key):
        return f"“{title}”"
    return f"{key} “{title}”"


class Fold:
    """Entries of one kind that are shown as one, the newest first."""

    def __init__(self, entry: Activity) -> None:
        self.entries = [entry]

    @property
    def count(self) -> SafeText:
        """How often: "×4"; empty for a single entry."""
        if len(self.entries) == 1:
            return mark_safe("")
        return mark_safe(f"×{len(self.entries)}")

    def count_and_span(self) -> SafeText:
        """How often within how long: "×4 in 10 m"; empty for a single entry."""
        first = self.entries[-1].at
        last = self.entries[0].at
        if not self.count or first is None or last is None:
            return self.count
        minutes = max(1, round((last.at - first.at) / 60))
        return mark_safe(f"{self.count} in {minutes} m")


def fold_repeats(newest_first: Iterable[Activity], names: Names) -> list[Fold]:
    """Fold what one actor did repeatedly within ten minutes into the newest entry of it.

    Entries are of one kind if they are of one company, and have the same verb and object, and the
    same words apart from figures and names. Nothing is folded across a gap.
    """
    folds: list[Fold] = []
    open_: dict[Hashable, Fold] = {}
    for entry in newest_first:
        if is_gap(entry):
            open_.clear()
        kind = _fold_key(entry, names)
        fold = open_.get(kind)
        latest = fold.entries[0].at if fold is not None else None
        if fold and latest and entry.at and latest.at - entry.at.at <= SPAN:
            fold.entries.append(entry)
        else:
            fold = Fold(entry)
            folds.append(fold)
            open_[kind] = fold
    return folds


def _fold_key(entry: Activity, names: Names) -> Hashable:
    """What entries that may be folded into one have in common."""
    if entry.at is None or is_gap(entry) or (entry.text is None and entry.verb is None):
        return entry.id
    who = entry.actor or entry.agent
    target = names.of_entry(entry, "target")
    words = without_particulars(entry.text or "")
    about = entry.company, entry.task, target, entry.target_type
    return who, entry.verb, entry.severity, about, words


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
    if not any(map(str.isalpha, remaining)):
        return text
    return remaining
