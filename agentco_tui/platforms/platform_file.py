"""Reads and checks the file of a platform; every mistake is reported with its line.

The names that a file may have are those of the records in `platform_records`, of which the checks
are made. What a type cannot say is checked afterwards: that our fields and states exist, and that a
request can be filled in with what is known when it is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
from agentco_tui.keys.commands import COMMANDS
from agentco_tui.keys.key_names import key_names
from agentco_tui.keys.verb_commands import places_of_kind
from agentco_tui.model import AgentState, Severity, TaskState
from agentco_tui.platforms.platform_records import (
    DeclaredVerb,
    DeclaredWrite,
    PlatformFile,
    Source,
    Sources,
    TraceSource,
)
from agentco_tui.platforms.templates import TemplateError, names_in
from agentco_tui.reading.field_path import FieldPathError, parse_field_path
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.mapping import OPEN, field_names

LISTS: Final[Mapping[str, str]] = {
    "companies": "company", "agents": "agent", "tasks": "task", "activity": "activity",
    "company_budgets": "company_budget", "agent_budgets": "agent_budget", "alerts": "alert",
    "budget": "company_budget",
}  # fmt: skip
"""The lists of a file, and the kind of record that each has."""
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
        if not self.problems:
            try:
                declared = msgspec.convert(self.checked, PlatformFile)
            except msgspec.ValidationError as error:
                self._report(_place_in(str(error)), f"is not complete: {error}")
                return
            for setting, text in _mistakes(declared):
                self._report(setting, text)
            if not self.problems:
                self.declared = declared


def platform_paths(config: Path | None) -> dict[str, Path]:
    """The file of each platform by name; one beside the config file hides one of the program."""
    own = config.parent.glob("platforms/*.toml") if config is not None else ()
    return {path.stem: path for path in (*sorted(_FOLDER.glob("*.toml")), *sorted(own))}


def load_platform(name: str, config: Path | None) -> PlatformFile:
    """What the file of a platform says. Raises SettingsError with every mistake in it."""
    paths = platform_paths(config)
    if name not in paths:
        text = _no_such_platform(name, paths)
        raise SettingsError([Problem(text=text, setting="platform")])
    file = PlatformToml(paths[name], must_exist=True)
    if file.declared is None:
        raise SettingsError(file.problems)
    return file.declared


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


def _place_in(error: str) -> str:
    """The setting that an error of msgspec names: "… - at `$.tasks[...]`"."""
    return error.partition("`$.")[2].rstrip("`").replace("[...]", "")


# -- what a type cannot say -----------------------------------------------------------------------

_Mistakes = Iterator[tuple[str, str]]
"""Settings, each with what is wrong with it."""


def _mistakes(file: PlatformFile) -> _Mistakes:
    if not file.companies:
        yield "companies", "is missing: nothing can be asked without the companies"
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
            for slot, path in source.fields.items():
                try:
                    parse_field_path(path)
                except FieldPathError as error:
                    yield f"{place}.fields.{slot}", str(error)
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
    for name in ("pending", "approve", "trace", "says", "never"):
        if getattr(source, name) and not is_of_tasks:
            yield f"{place}.{name}", "only tasks have this"
    if source.takes and not place.startswith(("activity.", "agents.", "agent_budgets.")):
        yield f"{place}.takes", "only agents, agent_budgets and activity take parameters"
    for name, template in source.written.items():
        yield from _wrong_braces(f"{place}.written.{name}", template, (name,))
    if source.approve is not None:
        yield from _mistakes_in_write(file, f"{place}.approve", source.approve, None)
    for trace in source.traces:
        yield from _wrong_path(file, f"{place}.trace", trace.get, None)
    for name, path in source.names.items():
        if "{" in name or not path:
            yield f"{place}.names.{name}", "must be the path of a field"
    for row_type, titles in source.says.items():
        for title in titles:
            yield from _wrong_braces(f"{place}.says.{row_type}", title, None)
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
    if len({kinds[source] for source in verb.on if source in kinds}) != 1:
        yield f"{place}.on", "must name sources of one kind of records"
    if name in BUILT_IN_VERBS:
        yield place, "has the name of something that every platform offers: choose another"
    yield from _mistakes_in_write(file, place, verb, None)
    yield from _wrong_braces(f"{place}.asks", verb.asks, None)
    if "amount" in names_in(verb.body) and verb.unit is None:
        yield place, "needs a unit: the one in which the platform takes the amount"
    if not verb.done and verb.proof is None:
        yield place, 'needs "done" or "proof": what a read must show afterwards'
    if verb.proof is not None:
        yield from _wrong_path(file, f"{place}.proof.get", verb.proof.get, None)
        for setting, texts in (("query", verb.proof.query), ("rows", verb.proof.rows)):
            yield from _wrong_braces(f"{place}.proof.{setting}", texts, None)
    known, unknown = key_names(verb.key)
    if unknown or len(known) != 1:
        yield f"{place}.key", f"must be one key (nearest valid name: {nearest_key(verb.key)})"
        return
    for other in COMMANDS:
        is_same_place = not other.places.isdisjoint(places_of_kind(kinds.get(verb.on[0], "")))
        if is_same_place and known[0] in other.keys.split(","):
            yield f"{place}.key", f"is taken by {other.id} in the same place"
            return


def kinds_with_verbs(file: PlatformFile) -> dict[str, VerbKind]:
    """The sources whose records can have verbs, each with the kind of its records."""
    sources_of_kind: dict[VerbKind, Sources] = {
        "task": file.tasks, "agent": file.agents, "company": file.companies, "alert": file.alerts,
    }  # fmt: skip
    return {name: kind for kind, sources in sources_of_kind.items() for name in sources}


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


def _wrong_braces(setting: str, template: Any, known: Iterable[str] | None) -> _Mistakes:
    try:
        names = sorted(names_in(template))
    except TemplateError as error:
        yield setting, str(error)
        return
    if known is not None:
        yield from _unknown(setting, names, tuple(known), is_part=False)


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
