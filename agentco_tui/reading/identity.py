"""Who a row is: which of its fields is its id, and whether a write may name the row by that id.

A row is one object of a list as the platform, the remote service, sends it; a write is a request
that changes the platform, such as an approval. This is the one place that decides it. A kind of
record (tasks, companies) has a table of names under which an id may come; an id read there is
always shown. A write may name a row only by

- the row's own id (`id`, `_id`, `uuid`, …), or the key of a map of rows,
- a field whose name says what it identifies: `agent_id` in an AI agent's budget,
- a field that the tables here, the list's name or the profile's mapping (what the user has declared
  for this platform) decide on.

Everything else gets an `IdDoubt` with the reason: the row can be read, and no screen, command or
client method writes to it. Different rows that came with the same id are all kept and marked; an id
that two rows have identifies neither.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from hashlib import blake2b
from itertools import islice
from typing import Final, NamedTuple, TypeVar

import msgspec
from msgspec.structs import replace

from agentco_tui.model import (
    Activity,
    Agent,
    Alert,
    Budget,
    Company,
    IdDoubt,
    Record,
    Task,
)
from agentco_tui.reading.field_names import fold, word_set, words
from agentco_tui.reading.json_access import Json, get_path
from agentco_tui.reading.name_index import Candidate
from agentco_tui.reading.schema import Row
from agentco_tui.text import SafeText, clean_line, mark_safe
from agentco_tui.text.memoized import memoized

R = TypeVar("R", bound=Record)


# -- names of ids ----------------------------------------------------------------------------------

_ID_WORDS: Final = word_set("id uuid guid")
"""Last words of names of ids."""
_NO_SUBJECT: Final = word_set(
    """agent assistant bot worker employee member
    company organization organisation org workspace tenant account team group department
    customer client project environment region
    user person human owner author creator requester reporter reviewer approver actor assignee
    budget policy plan model template provider integration trace span correlation"""
)
"""Last words of names of ids that never identify a task or a run: who and where, not which."""
_OF_ANOTHER: Final = word_set("parent root previous next original source last default")
"""First words of names of ids of another row of the same kind."""


class IdNames(NamedTuple):
    """The names of ids with which a kind's rows refer to themselves or to others, such as `run_id`.

    Subjects are written without separators: `dagrun` of `dag_run_id`.
    """

    noun: str
    """What a row is called in a sentence: "task"."""
    beside: Mapping[str, frozenset[str] | None]
    """The subjects of ids that may be the row's own, each with the subjects of other ids that do
    not put it in doubt. Any further id does; None: no other id does."""
    never_beside: Mapping[str, frozenset[str]] = {}
    """The subjects of ids beside which an id is not the row's own, by its subject."""


TASK_IDS: Final = IdNames(
    "task",
    beside={
        "task": None,
        "usertask": None,
        # what a person is asked, about a run or an issue: LibreFang, Paperclip; HumanLayer
        "approval": word_set("issue run job execution thread session workflow call toolcall"),
        "call": word_set("run"),
        # one run of something that is defined: LangGraph, Inngest, GitHub, dbt, Databricks
        "run": word_set("job workflow flow function event dag pipeline thread graph"),
        "dagrun": word_set("dag"),  # Airflow
        "execution": word_set("workflow flow job statemachine"),  # n8n, Rundeck, AWS
        "request": frozenset(),
        "conversation": frozenset(),  # OpenHands, Dify
        "issue": word_set("repository milestone board"),
        "job": word_set("pipeline queue"),  # GitLab
        "session": word_set("snapshot"),  # Devin
        "thread": word_set("graph checkpoint"),  # LangGraph
        "workflow": frozenset(),
    },
    # Airflow's task_id is a step of a definition: each of its runs has the same one.
    never_beside={"task": word_set("dag dagrun")},
)
COMPANY_IDS: Final = IdNames(
    "company",
    beside={
        "company": None,
        # from the inner to the outer: LiteLLM's teams and Portkey's workspaces name their parent
        "team": word_set("workspace organization organisation org tenant account"),
        "workspace": word_set("organization organisation org tenant account"),
        "organization": word_set("tenant account"),
        "organisation": word_set("tenant account"),
        "org": word_set("tenant account"),
        "tenant": frozenset(),
        "account": frozenset(),
    },
)
_RULES: Final = {names.noun: names for names in (TASK_IDS, COMPANY_IDS)}
"""The rules of a kind, by what a row of it is called."""
_KNOWN_SUBJECTS: Final = frozenset((*TASK_IDS.beside, *COMPANY_IDS.beside, *_NO_SUBJECT))
"""Subjects that are recognized in a name without separators, such as `jobid`."""


@memoized(4096)
def _subject_words(key: str) -> tuple[str, ...] | None:
    """The words of the subject of an id's name; None if it is no name of an id.

    ("job",) of `job_id`, `jobId` and `jobid`; () of `id` itself.
    """
    parts = words(key)
    if parts and parts[-1] in _ID_WORDS:
        return parts[:-1]
    folded = fold(key)
    subject = folded.removesuffix("id")
    if subject != folded and subject in _KNOWN_SUBJECTS:
        return (subject,)
    return None


def subject_of(name: str) -> str:
    """The subject of the name of an id (with dots), without separators; "" if it has none."""
    return "".join(_subject_words(name.rpartition(".")[2]) or ())


@memoized(2048)
def _id_keys(keys: tuple[str, ...], noun: str = "") -> tuple[tuple[str, str], ...]:
    """(key, subject) of the ids that may be the row's own; `noun` is what such a row is called."""
    candidates = _RULES[noun].beside if noun else {}
    pairs: list[tuple[str, str]] = []
    for key in keys[:_MAX_KEYS]:
        parts = _subject_words(key)
        if not parts or parts[0] in _OF_ANOTHER:
            continue
        subject = "".join(parts)
        if subject in candidates or parts[-1] not in _NO_SUBJECT:
            pairs.append((key, subject))
    return tuple(pairs)


_MAX_KEYS: Final = 400
"""Keys of one object that are examined."""
_SCALARS: Final = frozenset((str, int))


def has_id_field(obj: Mapping[str, Json]) -> bool:
    """Whether an object has an id under any name that may be its own."""
    pairs = _id_keys(tuple(obj))
    return any(type(obj[key]) in _SCALARS and obj[key] != "" for key, _ in pairs)


@memoized(256)
def _singular(list_name: str) -> str:
    """The folded name of a list without the ending of its plural."""
    folded = fold(list_name)
    if folded.endswith("ies"):
        return f"{folded.removesuffix('ies')}y"
    return folded.removesuffix("s")


# -- the id of a row -------------------------------------------------------------------------------


def is_mapped(row: Row, slot: str) -> bool:
    """Whether the value of this slot is from a path in a profile's mapping."""
    return slot in row.values and row.source(slot).is_mapped


def field_name(source: Candidate) -> SafeText:
    """The platform's name of the field that a value is from, with dots."""
    return clean_line(".".join(map(str, (source.key, *source.path_below))), 80)


def doubt_of_row(row: Row, names: IdNames, list_name: str = "") -> IdDoubt | None:
    """Why the slot `id` of a row may hold the id of something else; None if it is the row's."""
    if "id" not in row.values:
        return None
    source = row.source("id")
    if source.name == "id" or source.is_mapped:  # most rows have their own
        return None
    return doubt_of_name(row, source, names, list_name)


_DEFINITIONS: Final = word_set("job workflow session thread")
"""Subjects of ids that several rows may share; each row then has a number or key of its own."""
_OWN_NAMES: Final = word_set("number key slug identifier")
"""Folded keys of such a number or key."""


def _relations(holder: Mapping[str, Json], subject: str, names: IdNames) -> list[tuple[str, str]]:
    """(key, subject) of the other fields in a row that may identify it.

    `run: {id: …}` beside `job_id`, and a number beside the id of the definition that was run.
    """
    pairs: list[tuple[str, str]] = []
    for key, value in islice(holder.items(), _MAX_KEYS):
        folded = fold(key)
        is_object = folded in names.beside and type(value) is dict
        has_id = is_object and type(value.get("id")) in _SCALARS
        is_own = subject in _DEFINITIONS and folded in _OWN_NAMES and type(value) in _SCALARS
        if has_id or is_own:
            pairs.append((key, folded))
    return pairs


def doubt_of_name(
    row: Row, source: Candidate, names: IdNames, list_name: str = ""
) -> IdDoubt | None:
    """Why the field that an id is from may hold the id of something else; None if it doesn't."""
    subject = subject_of(source.name)
    if subject not in names.beside:
        return None  # `id`, `_id`, `sys_id`: the row's own
    holder: Json = row.obj
    if source.path_below:
        holder = get_path(row.obj[source.key], source.path_below[:-1])
    if type(holder) is not dict:
        return None
    present = tuple(
        (key, other)
        for key, other in _id_keys(tuple(holder), names.noun)
        if type(holder[key]) in _SCALARS and holder[key] != ""
    )
    if names is TASK_IDS:
        present += tuple(_relations(holder, subject, names))
    return _decide(present, subject, names.noun, _singular(list_name))


@memoized(2048)
def _decide(
    present: tuple[tuple[str, str], ...], subject: str, noun: str, list_of: str
) -> IdDoubt | None:
    """The doubt about `subject` among the names of ids that are present in a row."""
    names = _RULES[noun]
    others = {other for _, other in present} - {subject}
    if not others:
        return None
    if list_of == subject:
        return None
    allowed = names.beside[subject]
    is_allowed = allowed is None or others <= allowed
    is_excluded = not others.isdisjoint(names.never_beside.get(subject, ()))
    if is_allowed and not is_excluded and list_of not in others:
        return None
    keys = [clean_line(key, 40) for key, _ in present[:_MOST_NAMED]]
    listed = f"{', '.join(keys[:-1])} and {keys[-1]}"
    return IdDoubt(
        reason=mark_safe(
            f"no write: it has {listed} and no id of its own, "
            f"and which of them is the {noun}'s is not known"
        )
    )


_MOST_NAMED: Final = 6
"""How many ids the reason of a doubt lists."""


@memoized(256)
def doubt(reason: str) -> IdDoubt:
    """A doubt with this reason; the same object for the same reason."""
    return IdDoubt(reason=clean_line(f"no write: {reason}", 300))


# -- ids that no request can name ------------------------------------------------------------------

_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def is_made_up(record_id: str) -> bool:
    """Whether an id holds a control character: made up here, or nothing a request can name."""
    return not record_id.isprintable() and _CONTROL.search(record_id) is not None


def doubt_of_id(record_id: str) -> IdDoubt | None:
    """Why an id cannot be named in a request; None if it can."""
    if not is_made_up(record_id):
        return None
    return doubt("its id holds a control character")


def refusal(ids: Iterable[str | None], records: Iterable[Record | None]) -> SafeText | None:
    """Why a write that names these ids must not be sent; None if it may be.

    `records` are the known records with these ids. Every write is checked here.
    """
    for record in records:
        if record is not None and record.unwritable is not None:
            return record.unwritable
    for each in ids:
        if each is not None and is_made_up(each):
            return mark_safe("no write: the id holds a control character, so that it names nothing")
    return None


# -- rows with the same id -------------------------------------------------------------------------

KIND_NOUNS: Final[Mapping[type[Record], str]] = {
    Company: "companies",
    Agent: "agents",
    Task: "tasks",
    Budget: "budgets",
    Alert: "alerts",
    Activity: "entries",
}
"""The plural of a kind's name, for sentences."""


def same_row(record: Record) -> Hashable:
    """A key that is equal for two copies of one row, as overlapping pages send them.

    For a task the id and the content, without its volatile fields; for other kinds the record.
    """
    if isinstance(record, Task):
        return record.id, record.content
    return record


def without_repeats(records: Sequence[R]) -> Sequence[R]:
    """The records without repeated rows: the last copy is kept, at the position of the first.

    The same object if no id occurs twice.
    """
    if len({record.id for record in records}) == len(records):
        return records
    return list({same_row(record): record for record in records}.values())


def mark_shared(records: Sequence[R]) -> Sequence[R]:
    """All the records; those that share an id are marked, and get different ids.

    The same object if no id occurs twice. The records must be free of copies (`without_repeats`).
    The first record with an id keeps it, so that a lookup finds it and the mark. Entries of a log
    get ids made of their content, which stay the same when newer entries come before them.
    """
    if len({record.id for record in records}) == len(records):
        return records
    sharers = Counter(record.sent_id for record in records)
    nth: Counter[str] = Counter()
    marked: list[R] = []
    for record in records:
        sent_id = record.sent_id
        count = sharers[sent_id]
        nth[sent_id] += 1
        if count == 1:
            marked.append(record)
            continue
        place = nth[sent_id]
        noun = KIND_NOUNS.get(type(record), "rows")
        words = f"{count} {noun} with this id: nothing can be done to them here"
        id_doubt = IdDoubt(reason=mark_safe(words), sharers=count, nth=place, sent_id=sent_id)
        marked.append(replace(record, id=_own_id(record, place), id_doubt=id_doubt))
    return marked


def _own_id(record: Record, place: int) -> str:
    """An id for one of several records with the same id.

    It contains NUL, which no platform has in its ids.
    """
    if isinstance(record, Activity):
        as_sent = replace(record, id=record.sent_id, id_doubt=None)
        digest = blake2b(msgspec.json.encode(as_sent), digest_size=8).hexdigest()
        return f"{record.sent_id}\0{digest}"
    if place == 1:
        return record.sent_id
    return f"{record.sent_id}\0{place}"
