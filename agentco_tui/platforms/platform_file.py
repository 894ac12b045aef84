"""Reads and checks the file of a platform; every mistake is reported with its line.

The names that a file may have are those of the records in `platform_records`, of which the checks
are made. What a type cannot say is checked afterwards: that our fields and states exist, and that a
request can be filled in with what is known when it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, Literal, Union, get_args, get_origin

import msgspec

from agentco_tui.api.capabilities import BUILT_IN_VERBS, VerbKind
from agentco_tui.config import Problem, SettingsError
from agentco_tui.config.declaration import EACH, Table
from agentco_tui.config.file import ConfigFile
from agentco_tui.config.key_bindings import nearest_key
from agentco_tui.config.toml_file import TomlFile
from agentco_tui.config.validators import WrongError, describe, nearest
from agentco_tui.keys.commands import COMMANDS, LEAVING_KEYS, RESERVED_KEYS
from agentco_tui.keys.key_names import key_name, key_names
from agentco_tui.keys.verb_commands import places_of_kind
from agentco_tui.model import AgentState, Severity, TaskState
from agentco_tui.platforms.platform_records import (
    GIVEN_NAMES,
    LISTS,
    DeclaredVerb,
    DeclaredWrite,
    PlatformFile,
    Proof,
    Source,
    Sources,
    SumUnit,
    TraceSource,
    Words,
)
from agentco_tui.platforms.templates import TemplateError, names_in, split_sum
from agentco_tui.reading.field_path import FieldPathError, parse_field_path
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.mapping import OPEN, field_names

_STATES: Final[Mapping[str, tuple[str, ...]]] = {
    "task": tuple(TaskState), "agent": tuple(AgentState), "alert": tuple(OPEN),
}  # fmt: skip
"""The states that the status words of a kind can mean; other kinds have none."""
_WRITES: Final[Mapping[str, tuple[str, ...]]] = {
    "create_company": ("name", "mission", "template"),
    "clone_company": ("id", "name", "mission"),
    "create_task": ("company_id", "title", "agent_id", "priority"),
    "set_limit": ("id", "limit"),
}
"""The writes that every platform may have, and the names that each can use."""
_FOLDER: Final = Path(__file__).parent
"""Where the files are that come with the program."""


class PlatformToml(TomlFile):
    """The file of a platform; `declared` is None if anything in it is wrong."""

    declared: PlatformFile | None = None

    def _check(self, data: Mapping[str, Any]) -> None:
        self.checked = self._checked_table("", data, checks_of_record(PlatformFile))
        if self.problems:
            return
        for setting, name in _missing_in(self.checked, PlatformFile, ""):
            self._report(setting, f"is not complete: it has no {name}")
        if self.problems:
            return
        declared = msgspec.convert(self.checked, PlatformFile)
        for setting, text in _mistakes(declared):
            self._report(setting, text)
        if not self.problems:
            self.declared = declared


def platform_paths(config: Path | None) -> dict[str, Path]:
    """The file of each platform by name; one beside the config file hides one of the program."""
    own = config.parent.glob("platforms/*.toml") if config is not None else ()
    return {path.stem: path for path in (*sorted(_FOLDER.glob("*.toml")), *sorted(own))}


def known_platforms(config: Path | None) -> tuple[dict[str, PlatformFile], list[Problem]]:
    """The platforms by name, those of files beside the config file first.

    Files that can't be used are left out; also returns what is wrong with them.
    """
    known: dict[str, PlatformFile] = {}
    problems: list[Problem] = []
    paths = platform_paths(config)
    for name in sorted(paths, key=lambda name: paths[name].parent == _FOLDER):
        try:
            known[name] = load_platform(name, config)
        except SettingsError as error:
            problems += error.problems
    return known, problems


def load_platform(name: str, config: Path | None) -> PlatformFile:
    """What the file of a platform says. Raises SettingsError with every mistake in it."""
    paths = platform_paths(config)
    if name not in paths:
        text = _no_such_platform(name, paths)
        raise SettingsError([Problem(text=text, setting="platform")])
    path = paths[name]
    file = _checked_file(path, path.stat().st_mtime_ns if path.exists() else 0)
    if file.declared is None:
        raise SettingsError(file.problems)
    return file.declared


@lru_cache(maxsize=4)
def _checked_file(path: Path, _changed_at: int) -> PlatformToml:
    """The file as it was at that time: it takes 15 ms, and a start needs it twice."""
    return PlatformToml(path, must_exist=True)


def platform_problems(config: ConfigFile) -> list[Problem]:
    """What is wrong with the platforms of the profiles, and with every file beside the config."""
    paths = platform_paths(config.path)
    problems: list[Problem] = []
    used = set[str | None]()
    for profile, entry in config.profiles.items():
        name = entry.get("platform")
        if name is not None and name not in paths:
            setting = f"profiles.{profile}.platform"
            problems.append(config.problem(setting, _no_such_platform(name, paths)))
        used.add(name)
    for name, path in paths.items():
        if name in used or path.parent != _FOLDER:
            problems += PlatformToml(path).problems
    return problems


def _no_such_platform(name: str, paths: Mapping[str, Path]) -> str:
    return f'there is no platform "{name}" (nearest valid name: {nearest(name, tuple(paths))})'


def checks_of_record(record: type[msgspec.Struct]) -> Table:
    """The checks of a table with the fields of a record."""
    return {
        field.encode_name: _checks_of_type(field.type) for field in msgspec.structs.fields(record)
    }


def _checks_of_type(declared: Any) -> Any:
    if get_origin(declared) is dict:
        keys, values = get_args(declared)
        checks = _checks_of_type(values)
        if get_origin(keys) is Literal:
            return dict.fromkeys(get_args(keys), checks)
        return {EACH: checks}
    if get_origin(declared) in {Union, type(int | None)}:
        return _checks_of_type(get_args(declared)[0])  # of what may be left out
    if isinstance(declared, type) and issubclass(declared, msgspec.Struct):
        return checks_of_record(declared)
    return _check_of_value(declared)


def _check_of_value(declared: Any) -> Callable[[object], Any]:
    def check(value: object) -> Any:
        if isinstance(value, str) and get_origin(declared) is tuple:
            value = (value,)
        try:
            return msgspec.convert(value, declared)
        except msgspec.ValidationError:
            raise WrongError(f"must be {_words_for(declared)}, is {describe(value)}") from None

    return check


def _words_for(declared: Any) -> str:
    if get_origin(declared) is Literal:
        return " or ".join(f'"{word}"' for word in get_args(declared))
    if declared == tuple[TraceSource | str, ...]:
        return "paths in quotes, or tables with them, in brackets"
    if get_origin(declared) is tuple:
        return "texts in quotes, in brackets"
    words = {str: "a text in quotes", bool: "true or false", int: "a whole number"}
    return words[declared]


def _missing_in(value: Any, declared: Any, place: str) -> Iterator[tuple[str, str]]:
    """The tables within a checked value that lack a required name, each with that name."""
    if get_origin(declared) in {Union, type(int | None)}:
        declared = get_args(declared)[0]
    if get_origin(declared) is dict:
        _, of_values = get_args(declared)
        for name, inner in value.items():
            yield from _missing_in(inner, of_values, f"{place}.{name}")
    elif isinstance(declared, type) and issubclass(declared, msgspec.Struct):
        for field in msgspec.structs.fields(declared):
            name = field.encode_name
            if name in value:
                yield from _missing_in(value[name], field.type, f"{place}.{name}".lstrip("."))
            elif field.required:
                yield place, name


# -- what a type cannot say -----------------------------------------------------------------------

_Mistakes = Iterator[tuple[str, str]]
"""Settings, each with what is wrong with it."""


def _mistakes(file: PlatformFile) -> _Mistakes:
    if not file.companies:
        yield "companies", "is missing: nothing can be asked without the companies"
    if file.found_by is not None:
        yield from _wrong_path(file, "found_by.get", file.found_by.get, ())
    if file.role is not None:
        yield from _wrong_path(file, "role.get", file.role.get, ())
    kinds = mappable_kinds()
    for name, kind_name in LISTS.items():
        sources: Sources = getattr(file, name)
        slots = field_names(kinds[kind_name])
        for source_name, source in sources.items():
            place = f"{name}.{source_name}"
            yield from _mistakes_in_source(file, place, source)
            yield from _unknown(f"{place}.fields", source.fields, slots)
            yield from _unknown(f"{place}.status", source.status, _STATES.get(kind_name, ()))
            severities = tuple(Severity) if kind_name in {"alert", "activity"} else ()
            yield from _unknown(f"{place}.severity", source.severity, severities)
            paths = [(f"{place}.fields.{slot}", path) for slot, path in source.fields.items()]
            paths += [(f"{place}.cause", path) for path in source.cause]
            if source.type is not None:
                paths.append((f"{place}.type", source.type))
            for setting, path in paths:
                try:
                    parse_field_path(path)
                except FieldPathError as error:
                    yield setting, str(error)
    for name, known in _WRITES.items():
        write: DeclaredWrite | None = getattr(file, name)
        if write is not None:
            yield from _mistakes_in_write(file, name, write, known)
    if file.set_limit is not None and file.set_limit.unit is None:
        yield "set_limit", "needs a unit: the one in which the platform takes the sum"
    for name, verb in file.verbs.items():
        yield from _mistakes_in_verb(file, name, verb)
    if file.news is not None:
        yield from _wrong_path(file, "news.get", file.news.get, ("company",))
        if "{company}" not in file.news.get:
            yield "news.get", "must have {company}: it is opened for each company"


def _mistakes_in_source(file: PlatformFile, place: str, source: Source) -> _Mistakes:
    yield from _wrong_path(file, f"{place}.get", source.get, ("company",))
    if source.one is not None:
        yield from _wrong_path(file, f"{place}.one", source.one, ("id",))
    is_of_tasks = place.startswith("tasks.")
    for name in ("pending", "approve", "trace", "never"):
        if getattr(source, name) and not is_of_tasks:
            yield f"{place}.{name}", "only tasks have this"
    if source.says and not place.startswith(("tasks.", "alerts.")):
        yield f"{place}.says", "only tasks and alerts have this"
    if source.takes and not place.startswith(("activity.", "agents.", "agent_budgets.")):
        yield f"{place}.takes", "only agents, agent_budgets and activity take parameters"
    for name, template in source.written.items():
        yield from _wrong_braces(f"{place}.written.{name}", template, (name,))
    if source.approve is not None:
        yield from _mistakes_in_write(file, f"{place}.approve", source.approve, None)
    for trace in source.traces:
        yield from _wrong_path(file, f"{place}.trace", trace.get, None)
    for name, path in source.names.items():
        if "{" in name or "}" in name or not path:
            yield f"{place}.names.{name}", "must be a name without braces, and the path of a field"
        if name in GIVEN_NAMES:
            yield f"{place}.names.{name}", "has a meaning of its own in braces: choose another name"
    for row_type, titles in source.says.items():
        for title in titles:
            yield from _wrong_title(f"{place}.says.{row_type}", title)
    types = {*source.says, *source.never} - {"*"}
    if types and source.type is None:
        yield place, f'needs a "type", the field that says {" or ".join(sorted(types))}'


def _mistakes_in_write(
    file: PlatformFile, place: str, write: DeclaredWrite, known: Iterable[str] | None
) -> _Mistakes:
    """The mistakes of a write that can use the names `known`; None: those of a row."""
    paths = [path for path in (write.post, write.put, write.patch, write.delete) if path]
    if len(paths) != 1:
        yield place, "needs one of post, put, patch and delete, with its path"
        return
    method, path = write.request
    yield from _wrong_path(file, f"{place}.{method.lower()}", path, known)
    yield from _wrong_braces(f"{place}.body", write.body, known)


def _mistakes_in_verb(file: PlatformFile, name: str, verb: DeclaredVerb) -> _Mistakes:
    place = f"verbs.{name}"
    kinds = kinds_with_verbs(file)
    yield from _unknown(f"{place}.on", verb.on, tuple(kinds), is_part=False)
    kinds_named = {kind for source in verb.on for kind in kinds.get(source, ())}
    if len(kinds_named) > 1 or not verb.on:
        yield f"{place}.on", "must name sources of one kind of records"
    if name in BUILT_IN_VERBS:
        yield place, "has the name of something that every platform offers: choose another"
    yield from _mistakes_in_write(file, place, verb, None)
    yield from _wrong_braces(f"{place}.asks", verb.asks, None)
    given = _names_or_none(verb.body)
    if "amount" in given and verb.unit is None:
        yield place, "needs a unit: the one in which the platform takes the amount"
    if verb.note == "required" and "note" not in given:
        yield f"{place}.note", "can't be required: the body has no {note}"
    if not verb.done and verb.proof is None:
        yield place, 'needs "done" or "proof": what a read must show afterwards'
    if verb.proof is not None:
        yield from _mistakes_in_proof(file, f"{place}.proof", verb.proof)
    yield from _wrong_key(file, name, verb, kinds_named)


def _mistakes_in_proof(file: PlatformFile, place: str, proof: Proof) -> _Mistakes:
    yield from _wrong_path(file, f"{place}.get", proof.get, None)
    for setting, texts in (("query", proof.query), ("rows", proof.rows)):
        yield from _wrong_braces(f"{place}.{setting}", texts, None)
    if not proof.rows:
        yield f"{place}.rows", "must name the words of a row: else any row would show it"


def _wrong_key(
    file: PlatformFile, name: str, verb: DeclaredVerb, kinds: Iterable[str]
) -> _Mistakes:
    """The mistakes in the key of a verb for records of these kinds."""
    setting = f"verbs.{name}.key"
    known, unknown = key_names(verb.key)
    if unknown or len(known) != 1:
        nearest_name = f" (nearest valid name: {nearest_key(unknown[0])})" if unknown else ""
        yield setting, f"must be one key{nearest_name}"
        return
    (key,) = known
    if key in RESERVED_KEYS or key in LEAVING_KEYS:
        yield setting, f"{key} has another meaning in every terminal: choose another key"
    places = {place for kind in kinds for place in places_of_kind(kind)}
    for command in COMMANDS:
        if key in command.keys.split(",") and not command.places.isdisjoint(places):
            yield setting, f"is taken by {command.id} in the same place"
            return
    for other_name, other in file.verbs.items():
        if other_name == name:
            return  # of two verbs, the later one is wrong
        if key_name(other.key) == key and _can_meet(verb, other):
            yield setting, f"is taken by the verb {other_name} for the same records"


def _can_meet(verb: DeclaredVerb, other: DeclaredVerb) -> bool:
    """Whether a record can have both verbs, as far as their sources, types and words say."""
    have_source = not set(verb.on).isdisjoint(other.on)
    have_word = all(
        _have_common_word(words, other_words)
        for words, other_words in ((verb.types, other.types), (verb.when, other.when))
    )
    return have_source and have_word


def _have_common_word(words: Words, other_words: Words) -> bool:
    """Whether a word can be one of those that both tuples mean, where "!word" excludes one."""
    wanted, also_wanted = (
        {word for word in each if not word.startswith("!")} for each in (words, other_words)
    )
    excluded = {each[1:] for each in (*words, *other_words) if each.startswith("!")}
    if wanted and also_wanted:
        return bool(wanted & also_wanted - excluded)
    either = wanted or also_wanted
    return not either or bool(either - excluded)


def kinds_with_verbs(file: PlatformFile) -> dict[str, list[VerbKind]]:
    """The sources whose records can have verbs, each with the kinds of the lists that it is in."""
    sources_of_kind: dict[VerbKind, Sources] = {
        "task": file.tasks, "agent": file.agents, "company": file.companies, "alert": file.alerts,
    }  # fmt: skip
    kinds: dict[str, list[VerbKind]] = {}
    for kind, sources in sources_of_kind.items():
        for name in sources:
            kinds.setdefault(name, []).append(kind)
    return kinds


def _wrong_path(
    file: PlatformFile, setting: str, path: str, known: Iterable[str] | None
) -> _Mistakes:
    if not path.startswith(f"{file.prefix}/"):
        yield setting, f"must begin with {file.prefix}/"
    yield from _wrong_braces(setting, path, known)
    for segment in path.split("/"):
        is_whole = segment.startswith("{") and segment.endswith("}") and segment.count("{") == 1
        if ("{" in segment or "}" in segment) and not is_whole:
            yield setting, "must have each name in braces as a whole segment, between slashes"
            return


def _wrong_title(setting: str, title: str) -> _Mistakes:
    """The mistakes in the braces of a title, where a sum may have its unit."""
    known_units = get_args(SumUnit)
    try:
        units = [split_sum(name)[1] for name in sorted(names_in(title))]
    except TemplateError as error:
        yield setting, str(error)
        return
    for unit in units:
        if unit is not None and unit not in known_units:
            yield setting, f"unknown unit {unit} (nearest unit: {nearest(unit, known_units)})"


def _wrong_braces(setting: str, template: Any, known: Iterable[str] | None) -> _Mistakes:
    try:
        names = sorted(names_in(template))
        sums = [name for name in names if split_sum(name)[1] is not None]
    except TemplateError as error:
        yield setting, str(error)
        return
    for name in sums:
        yield setting, f'has the sum {{{name}}}, which only "says" can have'
    if known is not None:
        yield from _unknown(setting, names, tuple(known), is_part=False)


def _names_or_none(template: Any) -> set[str]:
    """The names in the braces of a body; none if they don't match, which is reported elsewhere."""
    try:
        return names_in(template)
    except TemplateError:
        return set()


def _unknown(
    table: str, names: Iterable[str], known: tuple[str, ...], *, is_part: bool = True
) -> _Mistakes:
    """The names of a table, or in the braces of a setting, that are none of those `known`."""
    for name in names:
        if name in known:
            continue
        hint = f"nearest valid name: {nearest(name, known)}" if known else "there are none here"
        setting = f"{table}.{name}" if is_part else table
        yield setting, f"unknown name {name} ({hint})"
