"""`agentco-tui doctor --fields`: which fields of the platform's records are read, and how.

The platform is the service that is watched. For fields that are not read it prints lines for the
config file, where a profile (the settings for one platform) can map a field of ours to the path of
one of the platform's. `reading.field_report` makes the report on one kind of record (company, AI
agent, task, …): a `FieldReport` has our fields that were read, and the platform's that were not,
each with the `similar` one of ours; it is `proposed` if that is likely to be the right one.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from agentco_tui.api.capabilities import LIST_OF_KIND, Read
from agentco_tui.api.errors import ApiError, KeyRejected, NotOffered, Unreachable, Unreadable
from agentco_tui.commands.command_context import connected_client
from agentco_tui.commands.command_output import Exit, error_json, print_json, print_lines
from agentco_tui.commands.doctor_platform import examine_platform
from agentco_tui.commands.held_lines import HeldLines
from agentco_tui.config import Settings
from agentco_tui.model import format as figures
from agentco_tui.reading.field_meanings import MEANINGS
from agentco_tui.reading.field_report import FieldReport, report_fields, report_unreadable
from agentco_tui.reading.kinds import mappable_kinds
from agentco_tui.reading.mapping import ProfileMapping
from agentco_tui.reading.schema import Kind
from agentco_tui.text import SafeText, fit, signs
from agentco_tui.workspace.named_records import company_id_or_words

if TYPE_CHECKING:
    from agentco_tui.api.platform import Platform


async def examine_fields(settings: Settings, *, as_json: bool) -> int:
    """Read one page of each kind of record, and print its fields.

    Returns 0 if every kind was read, else 3.
    """
    results: dict[str, tuple[FieldReport | None, ApiError | None]] = {}
    lines = HeldLines()
    async with connected_client(settings) as platform:
        company = await company_id_or_words(settings, platform)
        for name, kind in mappable_kinds().items():
            scope = company if name in ("agent", "task", "agent_budget") else None
            report, failure = await _read_fields(platform, name, kind, scope)
            results[name] = (report, failure)
            if not as_json:
                path = platform.capabilities.path(LIST_OF_KIND[name])
                title = f"{name} ({path})" if path else name
                lines_of_kind = partial(
                    _field_lines, name, title, settings.profile, report, failure
                )
                lines.add(failure, lines_of_kind)
            if isinstance(failure, Unreachable | KeyRejected):
                break  # the other kinds would fail for the same reason
    lines.print_all()
    failures = [failure for _, failure in results.values() if failure is not None]
    if as_json:
        print_json({"kinds": {name: _fields_as_json(*result) for name, result in results.items()}})
    else:
        _, platform_lines = await examine_platform(settings, failures)
        print_lines(
            *platform_lines,
            "Lines under [profiles.…] can be pasted into the config file. Those that begin with #"
            " name the most similar field; check them first.",
        )
    # What the platform does not offer is no failure.
    failed = any(not isinstance(failure, NotOffered | None) for _, failure in results.values())
    return Exit.NO_ANSWER if failed else Exit.OK


async def _read_fields(
    platform: Platform, name: str, kind: Kind[Any], company: str | None
) -> tuple[FieldReport | None, ApiError | None]:
    """The report on the fields of a kind, and the error if its page cannot be read.

    Both are returned for an answer in which no record was recognised.
    """
    read = Read(LIST_OF_KIND[name], {"company_id": company})
    bodies: list[Any] = []
    mapping = platform.mapping_of(read)
    report = partial(_report_of, kind, mapping, bodies)  # gets the body of the answer
    try:
        return await platform.read_body(read, report), None
    except Unreadable as error:
        if bodies:
            return report_unreadable(kind, bodies[0], mapping), error
        return None, error
    except ApiError as error:
        return None, error


def _report_of(
    kind: Kind[Any], mapping: ProfileMapping, bodies: list[Any], body: Any
) -> FieldReport:
    """The report on the fields of a body.

    The body is appended to `bodies`, so that the caller has it if this fails.
    """
    bodies.append(body)
    return report_fields(kind, body, mapping)


def _fields_as_json(report: FieldReport | None, failure: ApiError | None) -> dict[str, object]:
    """The report on a kind for scripts."""
    entries: dict[str, object] = {}
    if failure is not None:
        entries["error"] = error_json(failure)
    if report is not None:
        entries |= asdict(report)
        entries["read"] = {field.field: asdict(field) for field in report.read}
        entries["unread"] = [asdict(field) for field in report.unread]
        entries["unmatched"] = [asdict(field) for field in report.unmatched]
    return entries


def _field_lines(
    kind: str, title: str, profile: str, report: FieldReport | None, failure: ApiError | None
) -> list[str]:
    """Lines about the fields of a kind that are read, and config lines that map the others.

    The last one is empty. `title` is the kind, and how it is listed.
    """
    if report is None:
        sign = signs.unknown if isinstance(failure, NotOffered) else signs.warning
        return [f"{sign} {title}: {failure}", ""]
    lines: list[str] = []
    if failure is not None:
        lines.append(f"{signs.warning} {title}: {failure}")
    else:
        lines.append(f"{title}, {_records_words(report)}")
    for read in report.read:
        unit = f", {read.unit}" if read.unit else ""
        lines.append(f"  {fit(SafeText(read.field), 15)} {read.name}{unit}: {read.sample}")
    # What to check before anything is approved or changed; then paths of the profile that no
    # record has.
    for risk in report.risks:
        lines.append(f"  {signs.warning} {risk}")
    for wrong in report.unmatched:
        lines.append(f'  {signs.warning} {wrong.field} = "{wrong.path}": {wrong.reason}')
    if report.unread:
        lines += ["", f"  [profiles.{_toml_key(profile)}.fields.{kind}]"]
        lines += [f"  {line}" for line in _mapping_lines(kind, report)]
    if report.always_null:
        lines.append(f"  # null in every record: {', '.join(report.always_null)}")
    if report.missing and (report.records or report.unread):
        lines.append("  not read, and can be mapped:")
        for field in report.missing:
            # `MEANINGS` says what a field of ours is, for the user.
            lines.append(f"    {fit(SafeText(field), 15)} {MEANINGS[kind][field]}")
    lines.append("")
    return lines


def _records_words(report: FieldReport) -> str:
    records = "1 record" if report.records == 1 else f"{figures.count(report.records)} records"
    if not report.unread_records:
        return records
    words = f"{records}, {figures.count(report.unread_records)} could not be read"
    if report.unread_reasons:
        words = f"{words} ({'; '.join(report.unread_reasons)})"
    return words


def _mapping_lines(kind: str, report: FieldReport) -> list[str]:
    """A config line for each field that is not read: proposals first, then hints as comments."""
    lines: list[str] = []
    for unread in sorted(report.unread, key=lambda field: not field.proposed):
        if unread.similar is None:
            lines.append(f"# {_toml_text(unread.path)}: {unread.sample}")
            continue
        line = f"{unread.similar} = {_toml_text(unread.path)}"
        if not unread.proposed:
            line = f"# {line}"
        lines.append(f"{line}  # {unread.sample}: {MEANINGS[kind][unread.similar]}?")
    return lines


def _toml_text(text: str) -> str:
    """A TOML string, in single quotes if the text has double quotes or backslashes."""
    if "'" not in text and ('"' in text or "\\" in text):
        return f"'{text}'"
    return json.dumps(text, ensure_ascii=False)


def _toml_key(name: str) -> str:
    """A TOML key, quoted if it has to be."""
    can_be_bare = name != "" and all(
        char.isascii() and (char.isalnum() or char in "-_") for char in name
    )
    return name if can_be_bare else json.dumps(name, ensure_ascii=False)
