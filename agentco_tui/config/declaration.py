"""How a setting is declared: once, as the field of a record, with a `Setting` in its annotation.

    hold: Annotated[
        float,
        Setting("Seconds to take back a yes.", validators.hold, tables=("approve",)),
    ] = 2.0

Name, type and default are those of the field. What the config file may say, `config show`, `config
init`, the table in docs/settings.md, what a saved file changes in a running dashboard, and the
object that the program reads are all derived from it. `config/settings.py` has the declarations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from agentco_tui.config.validators import Validator, format_value

Table = Mapping[str, Any]
"""The settings of one table of the config file by name: each a `Validator`, or a `Table` again."""

EACH: Final = "NAME"
"""Stands in a table, and in the name of one, for any name that the user chooses."""
TOP: Final = ""
"""The part of the config file above its first table."""
PROFILE: Final = f"profiles.{EACH}"
FLAG_ONLY: Final[tuple[str, ...]] = ()
"""The tables of a setting that only the command line can give."""


class TakesEffect(StrEnum):
    """When a running dashboard takes over what was saved; the value is how the manual says it."""

    AT_ONCE = "at once"
    TRUE_AT_ONCE = "true at once, false at the next start"
    NEXT_START = "at the next start"


class Setting(NamedTuple):
    """What the annotation of a field says of the setting that it declares."""

    help: str
    """One line, at most 80 characters, for `config init` and the manual."""
    check: Validator[Any] | Table
    """What converts a value of the config file; of a setting that is a table, what it may hold."""
    tables: tuple[str, ...] | None = None
    """The tables that may hold it, each of which overrides the one before; None: its group's."""
    takes_effect: TakesEffect = TakesEffect.AT_ONCE
    example: str = ""
    """What `config init` shows: a TOML value, or of a table a line. Empty: the default."""
    flag: str = ""
    variable: str = ""
    """The environment variable that overrides the config file."""
    check_word: Callable[[str], Any] | None = None
    """What converts the text of a flag or variable; None: it is taken as it is."""


class Group(NamedTuple):
    """What the annotation of a field says that holds several settings: the fields of `record`."""

    record: type[msgspec.Struct]
    table: str
    """The table of the config file; with `EACH` in it, there can be one for each name."""
    name: str = ""
    """How messages name the whole group, if not like the field."""
    only_one: bool = False
    """True if no two of them can be set together."""


class DeclaredSetting(NamedTuple):
    """A setting as it was declared, with the name and the default of its field."""

    name: str
    setting: Setting
    default: Any
    """None also where there is no default."""
    tables: tuple[str, ...]
    field: str
    """The field of the outermost record that holds it, by itself or as one of a group."""
    group: Group | None

    @property
    def full_name(self) -> str:
        """The name with its table, unless that is the top or a profile: "alerts.runaway"."""
        table = self.tables[0] if self.tables else TOP
        prefix = table.removeprefix(PROFILE).removeprefix(".")
        return f"{prefix}.{self.name}" if prefix else self.name

    @property
    def is_table(self) -> bool:
        """True if it is a table of its own, whose names are not all known beforehand."""
        return isinstance(self.setting.check, Mapping)

    @property
    def example(self) -> str:
        """A TOML value to show: the example, or else the default; of a table, a line."""
        if self.setting.example or isinstance(self.setting.check, Mapping):
            return self.setting.example
        return self.setting.check.format_toml(self.default)

    def format(self, value: object) -> str | None:
        """A value as a user writes it, without quotation marks; None if nothing is set."""
        if value is None or value in ((), ""):
            return None
        if isinstance(self.setting.check, Mapping):
            return format_value(value)
        return self.setting.check.format(value)

    @property
    def is_repeated(self) -> bool:
        """True if the file may hold it many times under names of the user's, as of `[views.NAME]`;
        those of profiles don't count, because one profile is in use.
        """
        return any(EACH in table.removeprefix(PROFILE) for table in self.tables)


@cache
def declared_settings(record: type[msgspec.Struct]) -> tuple[DeclaredSetting, ...]:
    """The settings that a record declares, in order, with those of its groups."""
    return tuple(_declared(record, None, ""))


def _declared(
    record: type[msgspec.Struct], group: Group | None, outer_field: str
) -> Iterator[DeclaredSetting]:
    for field in msgspec.structs.fields(record):
        outermost = outer_field or field.name
        for mark in getattr(field.type, "__metadata__", ()):
            if isinstance(mark, Group):
                yield from _declared(mark.record, mark, outermost)
            if isinstance(mark, Setting):
                tables = mark.tables
                if tables is None:
                    assert group is not None, f"{field.name} needs tables: it is in no group"
                    tables = (group.table,)
                yield DeclaredSetting(
                    field.name, mark, _default_of(field), tables, outermost, group
                )


def _default_of(field: msgspec.structs.FieldInfo) -> Any:
    if field.default is not msgspec.NODEFAULT:
        return field.default
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return None


def table_parts(table: str) -> list[str]:
    """The names that lead to a table from the top of the file, for which there are none."""
    return [] if table == TOP else table.split(".")


def checks_of(settings: tuple[DeclaredSetting, ...]) -> Table:
    """All that the config file may hold, as nested tables of what checks it."""
    root: dict[str, Any] = {}
    for declared in settings:
        for table in declared.tables:
            branch = root
            for part in table_parts(table):
                branch = branch.setdefault(part, {})
            branch[declared.name] = declared.setting.check
    return root
