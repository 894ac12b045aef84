"""How a setting is declared: once, as the field of a record, with a `Setting` in its annotation.

    hold: Annotated[
        float,
        Setting("Seconds to take back an approval.", validators.hold, tables=("approve",)),
    ] = 2.0

Its name, type and default are those of the field. Everything else is derived from the declaration:
the check of the config file, `config show`, `config init`, the table in docs/settings.md, what a
running dashboard takes over from a changed file, and the object that the program reads. The
declarations are in `config/settings.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec

from agentco_tui.config.validators import Validator, format_value

Table = Mapping[str, Any]
"""The settings of a table of the config file by name: a `Validator`, or a `Table` within it."""

EACH: Final = "NAME"
"""Placeholder for a name that the user chooses, as in `[profiles.NAME]`."""
TOP: Final = ""
"""The name of the part of the config file above its first table."""
PROFILE: Final = f"profiles.{EACH}"
"""The table of a profile, which describes one platform (a remote service): its address, its key."""
FLAG_ONLY: Final[tuple[str, ...]] = ()
"""The `tables` of a setting that can only be given on the command line."""


class TakesEffect(StrEnum):
    """When a change of the config file takes effect; the value is the text for the manual."""

    AT_ONCE = "at once"
    TRUE_AT_ONCE = "true at once, false at the next start"
    NEXT_START = "at the next start"


class Setting(NamedTuple):
    """Declares the setting of a field, in the field's annotation."""

    help: str
    """One line, at most 80 characters, for `config init` and the manual."""
    check: Validator[Any] | Table
    """Checks and converts the value in the config file; for a table, the checks of its settings."""
    tables: tuple[str, ...] | None = None
    """The tables that it may be in; a later one overrides an earlier. None: that of its group."""
    takes_effect: TakesEffect = TakesEffect.AT_ONCE
    example: str = ""
    """A TOML value for `config init`, or a line of a table; empty for the default."""
    flag: str = ""
    variable: str = ""
    """The environment variable that overrides the config file."""
    check_word: Callable[[str], Any] | None = None
    """Converts the text of a flag or variable; None if it is used unchanged."""


class Group(NamedTuple):
    """Marks a field that has several settings: those that the fields of `record` declare."""

    record: type[msgspec.Struct]
    table: str
    """The table of the config file; with `EACH` in it, one for each name that the user chooses."""
    name: str = ""
    """The name of the group in messages; empty for that of the field."""
    only_one: bool = False
    """True if at most one of the settings can be set."""


class DeclaredSetting(NamedTuple):
    """A declared setting, with the name and the default of its field."""

    name: str
    setting: Setting
    default: Any
    """None if there is no default, too."""
    tables: tuple[str, ...]
    field: str
    """The field of the outermost record that the setting belongs to, directly or in a group."""
    group: Group | None

    @property
    def full_name(self) -> str:
        """The name with its table, "alerts.runaway"; without it for the top and profiles."""
        table = self.tables[0] if self.tables else TOP
        prefix = table.removeprefix(PROFILE).removeprefix(".")
        return f"{prefix}.{self.name}" if prefix else self.name

    @property
    def is_table(self) -> bool:
        """True if the setting is a table, with names that the user may choose."""
        return isinstance(self.setting.check, Mapping)

    @property
    def example(self) -> str:
        """The example as TOML: a value, the default if none was declared, or a line of a table."""
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
        """True if the file may have it several times, as in `[views.NAME]`.

        Profiles don't count, because only one of them is in use.
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
    """The parts of a table's name; none for the top of the file."""
    return [] if table == TOP else table.split(".")


def checks_of(settings: tuple[DeclaredSetting, ...]) -> Table:
    """The checks of the whole config file, as nested tables."""
    root: dict[str, Any] = {}
    for declared in settings:
        for table in declared.tables:
            branch = root
            for part in table_parts(table):
                branch = branch.setdefault(part, {})
            branch[declared.name] = declared.setting.check
    return root
