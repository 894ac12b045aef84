"""The forms by the command that opens each, and those that create tasks and companies.

The platform is the remote service that has the tasks, AI agents and companies. Each form is a
function that takes a `FormRequest` (the main screen, and the record under its cursor as `subject`)
and returns a `FormPlan`: its fields, `parse`, which checks what was typed, and `send`, which sends
it after the user has confirmed the `question`. It returns a sentence instead if there is no form to
open, for example because the cursor is on no company to clone; "" is an action that needs no form
and shows its own result. `DialogRouter` opens the forms. The scope is the company that the
dashboard is limited to; `poller.query.company` has its id. The workspace is what is known of the
platform in memory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from agentco_tui.actions.creations import CompanyCreation, TaskCreation
from agentco_tui.live.insight import priority_rank
from agentco_tui.model import Company, Ref, Task
from agentco_tui.screens.detail_pane import warning
from agentco_tui.screens.dialogs.activity_forms import export_activity, filter_activity
from agentco_tui.screens.dialogs.form_dialog import FormField, FormPlan, Values
from agentco_tui.screens.dialogs.form_request import FormRequest, check_values
from agentco_tui.screens.dialogs.limit_form import set_limit
from agentco_tui.screens.dialogs.save_form import save_list, save_screenshot
from agentco_tui.screens.dialogs.shift_forms import hand_over, snooze
from agentco_tui.screens.targets import completed
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.text_pane import BlankLine, FieldLine, PaneItem

MISSION_HINT: Final = "what it is for, in a sentence; may stay empty"  # "it" is the company
NAME_HINT: Final = "a name or an id"


def new_task(request: FormRequest) -> FormPlan:
    """Return the form of a new task: company, agent, title and priority.

    Company and agent are those of the task under the cursor; the company in scope comes first.
    """
    services = request.frame.dashboard.services
    workspace = request.frame.workspace
    names = workspace.names
    company: Ref | None = None
    agent: Ref | None = None
    if isinstance(request.subject, Task):
        company = names.company_of(request.subject)
        agent = request.subject.agent
    if workspace.poller.query.company is not None:
        company = Ref(id=workspace.poller.query.company)
    # The REST API documents no priority except "high", so those of the tasks read so far are
    # offered.
    tasks = (*workspace.store.pending, *workspace.store.tasks)
    words = {task.priority for task in tasks if task.priority}
    priorities = sorted(words, key=lambda word: (priority_rank(word), word))
    priority_hint = "such as high"
    if priorities:
        priority_hint = "seen here: " + ", ".join(priorities)

    def parse(values: Values) -> Values:
        company_id, agent_id, errors = request.find_ids(values)
        check_values(values, errors)
        return {**values, "company_id": company_id or "", "agent_id": agent_id or ""}

    def question(parsed: Values) -> Sequence[PaneItem]:
        agent_id = parsed["agent_id"]
        items = _value_items(
            {
                "title": parsed["title"],
                "company": names.company(Ref(id=parsed["company_id"])),
                "agent": f"{names.agent(Ref(id=agent_id))}  {agent_id}",
                "priority": parsed["priority"],
            }
        )
        warns = workspace.client.capabilities.warnings.get("create_task")
        if warns is not None:
            items += [BlankLine(), warning(f"{signs.warning} {warns}")]
        return items

    fields = (
        *request.name_fields(company, agent, NAME_HINT, NAME_HINT),
        FormField("title", "title", "", "what is to be done"),
        FormField(
            "priority", "priority", "", priority_hint, lambda typed, _: completed(typed, priorities)
        ),
    )
    return FormPlan(
        title=request.title("Create a task", mark_safe("")),
        fields=fields,
        parse=parse,
        send=request.send_write(lambda parsed: TaskCreation(services, parsed)),
        question=question,
        yes_label="create it",
    )


def new_company(request: FormRequest) -> FormPlan:
    """Return the form of a new company: name, template and mission."""
    services = request.frame.dashboard.services
    workspace = request.frame.workspace
    templates = sorted({one.template for one in workspace.store.companies if one.template})
    hint = "a template of the platform"
    if templates:
        hint = "seen here: " + ", ".join(templates)
    fields = (
        FormField("name", "name"),
        FormField(
            "template",
            "template",
            "",
            f"{hint}; may stay empty",
            lambda typed, _: completed(typed, templates),
        ),
        FormField("mission", "mission", "", MISSION_HINT),
    )
    return FormPlan(
        title=request.title("Create a company", mark_safe("")),
        fields=fields,
        parse=check_values,
        send=request.send_write(lambda parsed: CompanyCreation(services, parsed, None)),
        question=_value_items,
        yes_label="create it",
    )


def clone_company(request: FormRequest) -> FormPlan | SafeText:
    """Return the form that clones a company: name and mission."""
    source = request.subject
    if not isinstance(source, Company):
        return mark_safe("put the cursor on a company to clone it")
    if source.unwritable is not None:
        return source.unwritable
    services = request.frame.dashboard.services
    name = source.name or clean_line(source.id)
    fields = (
        FormField("name", "new name", f"{name} 2"),
        FormField("mission", "mission", source.mission or "", MISSION_HINT),
    )
    return FormPlan(
        title=request.title("CLONE", name),
        fields=fields,
        parse=check_values,
        send=request.send_write(lambda parsed: CompanyCreation(services, parsed, source)),
        question=_value_items,
        yes_label="clone it",
    )


def _value_items(values: Mapping[str, str]) -> list[PaneItem]:
    """Return a line for each value; the sign for missing if it is empty, and so not sent."""
    return [
        FieldLine(mark_safe(name), clean_line(value, 200) or signs.missing)
        for name, value in values.items()
    ]


FORMS: Mapping[str, Callable[[FormRequest], FormPlan | SafeText]] = {
    "tasks.new": new_task,
    "companies.new": new_company,
    "companies.clone": clone_company,
    "agents.limit": set_limit,
    "budget.limit": set_limit,
    "activity.filters": filter_activity,
    "activity.export": export_activity,
    "overview.snooze": snooze,
    "app.handover": hand_over,
    "list.save": save_list,
    "list.screenshot": save_screenshot,
}
"""The forms by the id of the command that opens each (`keys/commands.py`)."""
