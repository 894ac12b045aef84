"""What a platform offers by its file: requests for our questions, writes and verbs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentco_tui.api.capabilities import Capabilities, OfferedVerb, Operation
from agentco_tui.keys.key_names import key_name
from agentco_tui.platforms.platform_file import kinds_with_verbs
from agentco_tui.platforms.platform_records import DeclaredWrite, PlatformFile, Sources
from agentco_tui.platforms.templates import names_in
from agentco_tui.text import clean_line

LIST_OF_OPERATION: Final[Mapping[Operation, str]] = {
    "companies": "companies", "agents": "agents", "tasks": "tasks", "activity": "activity",
    "company_budgets": "company_budgets", "agent_budgets": "agent_budgets",
    "budget_alerts": "alerts", "budget": "budget",
}  # fmt: skip
"""The list of the file that each operation reads."""


def capabilities_of(file: PlatformFile) -> Capabilities:
    """What a platform offers by its file: of a list with several sources, the first is named."""
    requests: dict[Operation, str] = {}
    for operation, list_name in LIST_OF_OPERATION.items():
        sources: Sources = getattr(file, list_name)
        for source in sources.values():
            requests.setdefault(operation, f"GET {source.get}")
    singles: tuple[tuple[Operation, Sources], ...] = (
        ("company", file.companies),
        ("agent", file.agents),
    )
    for operation, sources in singles:
        for source in sources.values():
            if source.one is not None:
                requests.setdefault(operation, f"GET {source.one}")
    for source in file.tasks.values():
        if source.trace:
            requests.setdefault("task_trace", f"GET {source.traces[0].get}")
        if source.approve is not None:
            requests.setdefault("approve_task", " ".join(source.approve.request))
    writes: tuple[tuple[Operation, DeclaredWrite | None], ...] = (
        ("create_company", file.create_company),
        ("clone_company", file.clone_company),
        ("create_task", file.create_task),
        ("set_agent_limit", file.set_limit),
    )
    for operation, write in writes:
        if write is not None:
            requests[operation] = " ".join(write.request)
    warnings = {
        operation: clean_line(write.warns) for operation, write in writes if write and write.warns
    }
    return Capabilities(clean_line(file.name), requests, verbs=_verbs_of(file), warnings=warnings)


def _verbs_of(file: PlatformFile) -> tuple[OfferedVerb, ...]:
    kinds = kinds_with_verbs(file)
    offered: list[OfferedVerb] = []
    for name, verb in file.verbs.items():
        named = names_in(verb.body)
        kind = next((kinds[source][0] for source in verb.on if source in kinds), None)
        if kind is None:
            continue
        offered.append(
            OfferedVerb(
                name=name,
                kind=kind,
                key=key_name(verb.key) or verb.key,
                label=clean_line(verb.label or name, 20),
                note=verb.note if "note" in named else "none",
                takes_amount="amount" in named,
                done=verb.done if verb.proof is None else (),
                proof_is_new=verb.proof is not None and verb.proof.new,
            )
        )
    return tuple(offered)
