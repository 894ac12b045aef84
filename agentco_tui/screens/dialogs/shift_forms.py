"""The forms of a shift: to snooze a need, and to hand over."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

from agentco_tui.actions.handover import markdown
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
from agentco_tui.screens.dialogs.form_definitions import HERE, FormRequest, new_file
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan, Values
from agentco_tui.screens.dialogs.since_dialog import gather
from agentco_tui.screens.overview_panels import staff
from agentco_tui.screens.overview_view import OverviewView
from agentco_tui.screens.targets import completed
from agentco_tui.text import SafeText, clipboard_text, joined, plain, safe, signs

LONGEST: Final = 30 * 86_400.0
"""Seconds of the longest snooze."""
CLIPBOARD: Final = "clipboard"
SPANS: Final = ("1h", "15m", "4h", "worse")
"""Completions for how long a need is snoozed; the first is the default."""


def snooze(ask: FormRequest) -> FormPlan | SafeText:
    """Return the form for how long the need under the cursor is snoozed, and why."""
    view = ask.frame.view
    assert isinstance(view, OverviewView)
    workspace = ask.frame.workspace
    need = view.need()
    if need is None:
        return plain("put the cursor on a need to snooze it")
    what = words_of(need, workspace.names, workspace.outlook, workspace.clock.now()).what

    def read(values: Values) -> Snooze:
        typed = values["for"].casefold() or SPANS[0]
        until = None
        if typed != "worse":
            seconds = parse_duration(typed) or 0.0
            if not 0 < seconds <= LONGEST:
                raise FormError({"for": plain("give 15m, 4h or 2d, or worse")})
            until = workspace.clock.now() + seconds
        elif need.level >= Level.CRITICAL:
            raise FormError({"for": plain("it can't get worse than critical: give a time")})
        return Snooze(need.level, until, values["note"][:LONGEST_NOTE])

    async def send(meant: Snooze, _: Form) -> None:
        view.snooze(need, meant)
        ask.frame.say(f"{signs.good} snoozed: {what}")

    hint = "1h if empty; 15m, 4h, 2d, worse (until it is)"
    fields = (
        FormField("for", "for", "", hint, lambda typed, _: completed(typed, SPANS)),
        FormField("note", "note", "", "what is promised to be looked at; may stay empty"),
    )
    title = ask.title("SNOOZE", what)
    return FormPlan(title, fields, read, send, verb="snooze", enter_submits=True)


def hand_over(ask: FormRequest) -> FormPlan:
    """Return the form for where the hand-over of the shift goes: a new file or the clipboard."""
    frame = ask.frame
    workspace = frame.workspace
    now = workspace.clock.now()
    since = frame.idle_tracker.shift_since

    async def send(to: str, _: Form) -> None:
        text = await handover_of(frame, since)
        text = "\n".join(map(clipboard_text, text.split("\n")))
        if to.casefold() == CLIPBOARD:
            await copy(frame, workspace.client.transport.key.redact(text))
            return
        path = await new_file(ask, to, [text], "to")
        frame.say(f"{signs.good} the hand-over was written to {path}")

    stamp = fmt.moment(Moment(now))[:16].replace(" ", "-").replace(":", "")
    name = f"handover-{stamp}.md"
    fields = [FormField("to", "to", name, f"{HERE}. Or: clipboard")]
    what = plain(f"what happened since {to_minute(since, now)}")
    title = ask.title("HAND OVER", what)
    return FormPlan(title, fields, lambda values: values["to"] or name, send)


async def handover_of(frame: BaseFrame, since: float) -> str:
    """Return the state, the open and snoozed needs and what happened since then, in Markdown."""
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
            promised.append(ChangeEvent(None, words, need.snooze.told(now)))
    sections = [
        Section(plain("State"), [ChangeEvent(None, words) for words in state_of(frame.dashboard)]),
        Section(plain("Open"), needs),
        Section(plain("Promised"), promised),
        *await gather(frame, since),
    ]
    scope = names.scope(workspace.poller.query.company)
    about = (
        f"{fmt.moment(Moment(now), full=True)}, of {safe(workspace.origin, 100)}; the shift since"
    )
    about += f" {fmt.moment(Moment(since))} ({fmt.duration(now - since)})"
    return markdown(joined([safe(workspace.profile, 60), scope], ", "), plain(about), sections, now)


def state_of(dashboard: DashboardContext) -> list[SafeText]:
    """Return how many needs there are, how many tasks wait, and who works."""
    workspace = dashboard.workspace
    needs = workspace.needs
    store = workspace.store
    critical = needs.levels[Level.CRITICAL]
    warning = needs.levels[Level.WARNING]
    oldest = ""
    if needs.queue.oldest:
        oldest = f", the oldest {dashboard.cell_context.wait(needs.queue.oldest)}"
    state = [
        f"{fmt.count(critical)} critical, {fmt.count(warning)} warnings, "
        f"{fmt.count(len(needs.snoozed))} snoozed",
        f"{fmt.count(needs.queue.count)} tasks wait{oldest}",
        staff(Counter(agent.state for agent in needs.of_scope(store.agents)))
        or "no agents are known",
    ]
    old = [feed for feed in FEEDS if store.freshness[feed].phase is not Phase.LIVE]
    if old:
        state.append(f"{signs.unknown} not as of now: {', '.join(old)}")
    return list(map(plain, state))


SHIFT_FORMS: Mapping[str, Callable[[FormRequest], FormPlan | SafeText]] = {
    "overview.snooze": snooze,
    "app.handover": hand_over,
}
"""The forms by the command that opens them, as in `form_definitions.FORMS`."""
