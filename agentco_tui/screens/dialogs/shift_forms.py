"""The forms of a shift: to snooze a need, and to hand over to the next operator.

The platform is the remote service whose AI agents the operators watch. A need is an item of the
"needs you" list on the Overview (what the user should look at), with a level of urgency. Snoozed,
it is put at the end of that list for some time, or until its level rises, with a note of what the
operator promised. The hand-over is a Markdown text with the state of the platform, the open and the
snoozed needs, and what has happened since the shift began (`idle_tracker.shift_since`): each line
is a `ChangeEvent` of a `Section`. A `FormPlan` has the fields of a form and the functions that
check and send it. The frame is the main screen, the workspace what is known of the platform in
memory.
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from agentco_tui.actions.handover import handover_markdown
from agentco_tui.attention.need_words import sentence_of, words_of
from agentco_tui.attention.needs_model import FEEDS
from agentco_tui.attention.snooze import LONGEST_NOTE, Snooze
from agentco_tui.config.validators import parse_duration
from agentco_tui.history.changes_since import ChangeEvent, Section, to_minute
from agentco_tui.live.feeds import Phase
from agentco_tui.live.insight import Level
from agentco_tui.model import Moment
from agentco_tui.model import format as fmt
from agentco_tui.screens.base_frame import BaseFrame
from agentco_tui.screens.copying import copy
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan, Values
from agentco_tui.screens.dialogs.form_request import FILE_HINT, FormRequest, write_new_file
from agentco_tui.screens.dialogs.since_dialog import read_changes
from agentco_tui.screens.overview_panels import staff
from agentco_tui.screens.overview_view import OverviewView
from agentco_tui.screens.targets import completed
from agentco_tui.text import SafeText, clean_line, clipboard_text, joined, mark_safe, signs

LONGEST_SNOOZE: Final = 30 * 86_400.0
"""Seconds."""
DURATIONS: Final = ("1h", "15m", "4h", "worse")
"""Completions for how long a need is snoozed; the first is the default."""
UNTIL_WORSE: Final = "worse"
"""What is typed to snooze a need until its level rises."""
CLIPBOARD: Final = "clipboard"
"""What is typed in place of a file name to copy the hand-over."""


def snooze(request: FormRequest) -> FormPlan | SafeText:
    """Return the form that snoozes the need under the cursor."""
    view = request.frame.view
    assert isinstance(view, OverviewView)
    workspace = request.frame.workspace
    need = view.need()
    if need is None:
        return mark_safe("put the cursor on a need to snooze it")
    # outlook: forecasts of spending, which the words of a budget may mention.
    subject = words_of(need, workspace.names, workspace.outlook, workspace.clock.now()).what

    def parse(values: Values) -> Snooze:
        duration = values["for"].casefold() or DURATIONS[0]
        until = None
        if duration != UNTIL_WORSE:
            seconds = parse_duration(duration) or 0.0
            if not 0 < seconds <= LONGEST_SNOOZE:
                raise FormError({"for": mark_safe("give 15m, 4h or 2d, or worse")})
            until = workspace.clock.now() + seconds
        elif need.level >= Level.CRITICAL:
            raise FormError({"for": mark_safe("it can't get worse than critical: give a time")})
        return Snooze(need.level, until, values["note"][:LONGEST_NOTE])

    async def send(parsed: Snooze, _: Form) -> None:
        view.snooze(need, parsed)
        request.frame.say(f"{signs.good} snoozed: {subject}")

    hint = "1h if empty; 15m, 4h, 2d, worse (until it is)"
    fields = (
        FormField("for", "for", "", hint, lambda typed, _: completed(typed, DURATIONS)),
        FormField("note", "note", "", "what is promised to be looked at; may stay empty"),
    )
    return FormPlan(
        title=request.title("SNOOZE", subject),
        fields=fields,
        parse=parse,
        send=send,
        yes_label="snooze",
        enter_submits=True,
    )


def hand_over(request: FormRequest) -> FormPlan:
    """Return the form that writes the hand-over of the shift to a new file or the clipboard."""
    frame = request.frame
    workspace = frame.workspace
    now = workspace.clock.now()
    since = frame.idle_tracker.shift_since

    async def send(target: str, _: Form) -> None:
        text = await handover_of(frame, since)
        lines = [clipboard_text(line) for line in text.split("\n")]
        text = "\n".join(lines)
        if target.casefold() == CLIPBOARD:
            await copy(frame, workspace.client.transport.key.redact(text))
            return
        path = await write_new_file(request, target, [text], "to")
        frame.say(f"{signs.good} the hand-over was written to {path}")

    stamp = fmt.moment(Moment(now))[:16].replace(" ", "-").replace(":", "")
    name = f"handover-{stamp}.md"
    what = mark_safe(f"what happened since {to_minute(since, now)}")
    return FormPlan(
        title=request.title("HAND OVER", what),
        fields=[FormField("to", "to", name, f"{FILE_HINT}. Or: {CLIPBOARD}")],
        parse=lambda values: values["to"] or name,
        send=send,
    )


async def handover_of(frame: BaseFrame, since: float) -> str:
    """Return the hand-over in Markdown: state, open and snoozed needs, and changes since a time.

    `since` is a time by the platform's clock, in seconds since the epoch.
    """
    workspace = frame.workspace
    names = workspace.names
    now = workspace.clock.now()
    needs: list[ChangeEvent] = []
    promised: list[ChangeEvent] = []
    for need in workspace.needs.shown:
        words = sentence_of(need, names, workspace.outlook, now)
        if need.snooze is None:
            needs.append(ChangeEvent(None, words, level=need.level))
        else:
            # return_words: when the need comes back, and the note
            promised.append(ChangeEvent(None, words, need.snooze.return_words(now)))
    sections = [
        Section(
            mark_safe("State"),
            [ChangeEvent(None, words) for words in _state_lines(frame.dashboard)],
        ),
        Section(mark_safe("Open"), needs),
        Section(mark_safe("Promised"), promised),
        *await read_changes(frame, since),
    ]
    # The name of the company that the dashboard is limited to, or of all.
    scope = names.scope(workspace.poller.query.company)
    subject = joined([clean_line(workspace.profile, 60), scope], ", ")
    written = f"{fmt.moment(Moment(now), full=True)}, of {clean_line(workspace.origin, 100)}"
    shift = f"the shift since {fmt.moment(Moment(since))} ({fmt.duration(now - since)})"
    return handover_markdown(subject, mark_safe(f"{written}; {shift}"), sections, now)


def _state_lines(dashboard: DashboardContext) -> list[SafeText]:
    """Return how many needs there are, how many tasks wait, and how many agents work."""
    workspace = dashboard.workspace
    needs = workspace.needs
    store = workspace.store
    critical = needs.levels[Level.CRITICAL]
    warning = needs.levels[Level.WARNING]
    oldest = ""
    # queue: the tasks that wait for an approval.
    if needs.queue.oldest:
        oldest = f", the oldest {dashboard.cell_context.wait(needs.queue.oldest)}"
    agent_states = Counter(agent.state for agent in needs.of_scope(store.agents))
    state = [
        f"{fmt.count(critical)} critical, {fmt.count(warning)} warnings, "
        f"{fmt.count(len(needs.snoozed))} snoozed",
        f"{fmt.count(needs.queue.count)} tasks wait{oldest}",
        staff(agent_states) or "no agents are known",
    ]
    stale = [feed for feed in FEEDS if store.freshness[feed].phase is not Phase.LIVE]
    if stale:
        state.append(f"{signs.unknown} not as of now: {', '.join(stale)}")
    return list(map(mark_safe, state))
