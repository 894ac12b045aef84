"""Makes the text of a first config file: every setting with an example, commented out.

`DECLARED` has the declarations of all settings (`config/declaration.py`). Each names the tables of
the file that the setting may be in, among them `TOP`, the part above the first table, and
`PROFILE`, `[profiles.NAME]`, which describes one platform: a service that the dashboard can show.
`[views.NAME]` is a list with a filter of the user's, `[commands.NAME]` a command of the user's own.
`EACH` stands for a name that the user chooses. A group of settings is a struct (`group.record`)
with a field for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from agentco_tui.config.declaration import EACH, PROFILE, TOP, DeclaredSetting
from agentco_tui.config.settings import DECLARED

_HEAD: Final = (
    '## Take "# " off a line to set it; "agentco-tui config check" says what is wrong.\n'
    '## "agentco-tui help settings" explains each of them.\n'
)
_EXAMPLE_NAMES: Final = {"profiles": "prod", "views": "urgent", "commands": "ticket"}
"""The example name in the header of a table, instead of NAME: `[profiles.prod]`."""
_WIDTH: Final = 31
"""Column at which the explanations begin."""
_LONGEST_LINE: Final = 100
"""If a setting with its explanation is longer, each gets its own line."""


def commented_config(profile_lines: Sequence[str] = ()) -> str:
    """The text of a config file with all settings commented out.

    `profile_lines`, if any, replace the header, address and key of the example profile.
    """
    lines_by_table: dict[str, list[str]] = {TOP: []}
    for declared in DECLARED:
        if not declared.tables:
            continue
        header, prefix = _header_and_prefix(declared)
        lines = lines_by_table.setdefault(header, [])
        # The caller's lines for the profile have the address and the key already.
        if header == PROFILE and _names_the_platform(declared):
            if not profile_lines:
                lines.append(_line(declared, prefix))
        else:
            lines.append(_line(declared, prefix))
    text = _HEAD
    for header, lines in lines_by_table.items():
        text += "\n"
        if header == PROFILE and profile_lines:
            text += "".join(f"{line}\n" for line in profile_lines)
        elif header != TOP:
            text += f"# [{_with_example_name(header)}]\n"
        text += "".join(lines)
    return text


def _header_and_prefix(declared: DeclaredSetting) -> tuple[str, str]:
    """Return the header of the table for a setting, and the prefix of its name there."""
    table = declared.tables[0]
    if declared.is_table and table == TOP:
        return declared.name, ""
    if table.startswith(f"{PROFILE}."):
        # Within a profile, dotted names are used instead of more tables.
        return PROFILE, f"{table.removeprefix(f'{PROFILE}.')}."
    return table, ""


def _names_the_platform(declared: DeclaredSetting) -> bool:
    """Whether a setting is the address or a source of the API key."""
    is_key_source = declared.group is not None and declared.group.only_one
    return declared.name == "base_url" or is_key_source


def _line(declared: DeclaredSetting, prefix: str) -> str:
    """A setting with its explanation, commented out, with the end of the line."""
    name = f"{prefix}{declared.name}"
    if not declared.is_table:
        written = f"{name} = {declared.example}"
    elif declared.tables[0] == TOP:
        written = declared.example
    else:
        written = f"{name}.{declared.example}"
    # Of settings that exclude each other all but the first get "## or", so that removing every "# "
    # gives a valid file.
    is_alternative = (
        declared.group is not None
        and declared.group.only_one
        and declared.name != declared.group.record.__struct_fields__[0]
    )
    mark = "## or" if is_alternative else "#"
    commented = f"{mark} {written}"
    explanation = f"## {declared.setting.help}"
    line = f"{commented:<{_WIDTH}}  {explanation}"
    if len(line) > _LONGEST_LINE:
        return f"{explanation}\n{commented}\n"
    return f"{line}\n"


def _with_example_name(header: str) -> str:
    table, _, rest = header.partition(".")
    return f"{table}.{_EXAMPLE_NAMES[table]}" if rest == EACH else header
