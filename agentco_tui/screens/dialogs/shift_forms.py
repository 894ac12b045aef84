"""The forms of a shift: to put a need off, and to hand over."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentco_tui import format as fmt
from agentco_tui.actions.handover import Handover, OpenNeed, markdown, since_words
from agentco_tui.atomic_write import AtomicWriteError, atomic_write
from agentco_tui.config.validators import span
from agentco_tui.live.feeds import Phase
from agentco_tui.live.insight import Level
from agentco_tui.live.need_words import sentence_of, words_of
from agentco_tui.live.snooze import DAY, LONGEST_NOTE, Snooze, next_time
from agentco_tui.model import Moment
from agentco_tui.screens.cells import spent_text
from agentco_tui.screens.dialogs.form_definitions import FormRequest
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan, Values
from agentco_tui.screens.dialogs.since_dialog import gather
from agentco_tui.screens.found_needs import FEEDS
from agentco_tui.screens.overview_panels import money_of, staff
from agentco_tui.screens.session import Session
from agentco_tui.screens.targets import completed
from agentco_tui.text import SafeText, clipboard_text, joined, plain, safe, signs

if TYPE_CHECKING:
    from agentco_tui.screens.frame import MainScreen
    from agentco_tui.screens.overview_view import OverviewView

LONGEST = 30 * 86_400.0  # seconds
CLIPBOARD = "clipboard"
MOST_BUDGETS = 12
SPANS = ("1h", "15m", "4h", "08:00", "worse")


def snooze(ask: FormRequest) -> FormPlan | SafeText:
    """For how long a need of the Overview is put off, and what is promised."""
    view, session = cast("OverviewView", ask.frame.views["overview"]), ask.frame.session
    need = view.need()
    if need is None:
        return plain("put the cursor on a need to snooze it")

    what = words_of(need, session.names, session.outlook, session.clock.now()).what

    def read(values: Values) -> Snooze:
        now, typed = session.clock.now(), values["for"].casefold() or SPANS[0]
        seconds, at, until = span(typed), next_time(typed, now), None
        if typed == "worse" and need.level >= Level.CRITICAL:
            raise FormError({"for": plain("it can't get worse than critical: give a time")})
        if typed != "worse":
            until = at if seconds is None else now + seconds
            if until is None or not 0 < until - now <= LONGEST:
                raise FormError({"for": plain("give 15m, 4h or 2d, a time as 08:00, or worse")})
        return Snooze(now, need.level, until, values["note"][:LONGEST_NOTE])

    async def send(meant: Snooze, _: Form) -> None:
        view.snooze(need, meant)
        back = meant.back(session.clock.now())
        ask.frame.say(f"{signs.good} snoozed, {back}: {what}")

    hint = "1h if empty; 15m, 4h, 08:00 (when it is that next), worse (until it is)"
    fields = (
        FormField("for", "for", "", hint, lambda typed, _: completed(typed, SPANS)),
        FormField("note", "note", "", "what is promised to be looked at; may stay empty"),
    )
    return FormPlan(ask.title("SNOOZE", what), fields, read, send)


def state_of(session: Session) -> list[SafeText]:
    """How things are: what needs a person, what waits, who works, and the money."""
    needs, store, look = session.needs, session.store, session.look
    critical, warning = needs.levels[Level.CRITICAL], needs.levels[Level.WARNING]
    oldest = f", the oldest {look.wait(needs.queue.oldest)}" if needs.queue.oldest else ""
    state = [
        f"{fmt.count(critical)} critical, {fmt.count(warning)} warnings, "
        f"{fmt.count(needs.snoozed)} snoozed",
        f"{fmt.count(needs.queue.count)} tasks wait{oldest}",
        staff(session.needs.of_scope(store.agents)) or "no agents are known",
    ]
    for budget in money_of(session, MOST_BUDGETS):
        share = f" ({fmt.percent(budget.share)})" if budget.share is not None else ""
        state.append(f"{session.names.budget(budget)}: {spent_text(budget)}{share}")
    old = [feed for feed in FEEDS if store.freshness[feed].phase is not Phase.LIVE]
    if old:
        state.append(f"{signs.unknown} not as of now: {', '.join(old)}")
    return list(map(plain, state))


def hand_over(ask: FormRequest) -> FormPlan:
    """Since when the shift goes, and where its hand-over goes to: a new file, or the clipboard."""
    frame, session, now = ask.frame, ask.frame.session, ask.frame.session.clock.now()

    def read(values: Values) -> tuple[float, str]:
        typed = values["since"].casefold()
        seconds, at = span(typed), next_time(typed, now)
        since = None if at is None else at - DAY
        if typed == hint.casefold():
            since = frame.absence.shift_since
        elif seconds:
            since = now - seconds
        if since is None or now - since > LONGEST:
            raise FormError({"since": plain("give 8h or 3d, or a time as 22:00")})
        if not values["to"]:
            raise FormError({"to": plain("name a file, or say clipboard")})
        return since, values["to"]

    async def send(meant: tuple[float, str], _: Form) -> None:
        since, to = meant
        text = markdown(await handover_of(frame, since))
        text = session.client.transport.key.redact(text)
        text = "\n".join(map(clipboard_text, text.split("\n")))
        if to.casefold() == CLIPBOARD:
            frame.app.copy_to_clipboard(text)
            frame.say("the hand-over was sent to the terminal's clipboard")
            return
        try:
            path = await session.journaled(write_new, to, text)
        except (AtomicWriteError, RuntimeError, ValueError) as error:
            raise FormError({"to": plain(str(error))}) from error
        frame.say(f"{signs.good} the hand-over was written to {safe(str(path), 200)}")

    hint = since_words(frame.absence.shift_since, now)
    stamp = fmt.moment(Moment(now))[:16].replace(" ", "-").replace(":", "")
    told = "in the folder that the program was started in; must not exist yet. Or: clipboard"
    fields = (
        FormField("since", "since", hint, "when the shift began: 22:00, or 8h ago"),
        FormField("to", "to", f"handover-{stamp}.md", told),
    )
    return FormPlan(ask.title("HAND OVER", plain("the shift")), fields, read, send)


async def handover_of(frame: MainScreen, since: float) -> Handover:
    session = frame.session
    names, outlook, now = session.names, session.outlook, session.clock.now()
    scope = names.scope(session.poller.query.company)
    return Handover(
        made=now,
        title=joined([safe(session.profile, 60), scope], ", "),
        platform=safe(session.origin, 100),
        state=state_of(session),
        needs=[
            OpenNeed(need.level, sentence_of(need, names, outlook, now), need.snooze)
            for need in session.needs.shown
        ],
        happened=await gather(frame, since),
    )


def write_new(name: str, text: str) -> Path:
    """Write a file that there is none of yet; its path. Raises AtomicWriteError, and others for a
    name that names none.
    """
    path = Path(name).expanduser().resolve()
    with atomic_write(path) as file:
        file.write(text.encode())
    return path


SHIFT_FORMS: Mapping[str, Callable[[FormRequest], FormPlan | SafeText]] = {
    "overview.snooze": snooze,
    "app.handover": hand_over,
}
"""By the command that opens each, as `form_definitions.FORMS`."""
