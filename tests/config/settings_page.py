"""Writes the table of docs/settings.md: python -m tests.config.settings_page.

It is made from the declarations of the settings, and goes between two comments; the rest of the
page is written by hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentco_tui.config.declaration import PROFILE, TOP, DeclaredSetting
from agentco_tui.config.settings import DECLARED

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
BEGIN = "<!-- This table is generated: python -m tests.config.settings_page -->\n"
END = "<!-- End of the table. -->\n"
COLUMNS = ("table", "setting", "default", "values", "takes effect", "what it is")


def table() -> str:
    """The table of all settings that the config file can have, in the order of `config show`."""
    rows = [_row(*COLUMNS), _row(*("---" for _ in COLUMNS))]
    rows += [_row(*_cells(declared)) for declared in DECLARED if declared.tables]
    return "".join(rows)


def page() -> str:
    """The whole page, with the table as it must be now."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |\n"


def _cells(declared: DeclaredSetting) -> tuple[str, ...]:
    setting = declared.setting
    tables = ", ".join(_shown_table(name) for name in declared.tables)
    is_in_profile = declared.tables[-1].startswith(PROFILE)
    name = declared.full_name if is_in_profile else declared.name
    default = "–"
    values = "a table"
    if not isinstance(setting.check, Mapping):
        values = setting.check.values
        if declared.format(declared.default) is not None:
            default = f"`{setting.check.format_toml(declared.default)}`"
    return tables, f"`{name}`", default, values, setting.takes_effect.value, setting.help


def _shown_table(name: str) -> str:
    if name == TOP:
        return "top"
    return f"`[{PROFILE}]`" if name.startswith(PROFILE) else f"`[{name}]`"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
