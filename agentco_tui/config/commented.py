"""The first config file: every setting with its default or an example, commented out."""

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
"""The name that stands for `NAME` in the header of a table, by the table."""
_WIDTH: Final = 31
"""Characters of a setting before its explanation begins."""
_LONGEST_LINE: Final = 100
"""Characters of a setting and its explanation; where they take more, they get a line each."""


def commented_config(profile_lines: Sequence[str] = ()) -> str:
    """The text of a config file with all settings commented out.

    `profile_lines`, if any, replace the head of the example profile: its header, address and key.
    """
    lines_by_table: dict[str, list[str]] = {TOP: []}
    for declared in DECLARED:
        if not declared.tables:
            continue
        header, prefix = _header_and_prefix(declared)
        lines = lines_by_table.setdefault(header, [])
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
    """Return the header of the table with a setting, and what goes before its name there."""
    table = declared.tables[0]
    if declared.is_table and table == TOP:
        return declared.name, ""
    if table.startswith(f"{PROFILE}."):
        # Within a profile, dotted names save the headers of further tables.
        return PROFILE, f"{table.removeprefix(f'{PROFILE}.')}."
    return table, ""


def _names_the_platform(declared: DeclaredSetting) -> bool:
    """Whether a setting is the address, or where the key comes from."""
    is_key_source = declared.group is not None and declared.group.only_one
    return declared.name == "base_url" or is_key_source


def _line(declared: DeclaredSetting, prefix: str) -> str:
    name = f"{prefix}{declared.name}"
    if not declared.is_table:
        written = f"{name} = {declared.example}"
    elif declared.tables[0] == TOP:
        written = declared.example
    else:
        written = f"{name}.{declared.example}"
    # Of settings that exclude each other, only the first can be uncommented with all the others.
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
