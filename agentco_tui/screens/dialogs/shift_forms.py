"""The forms of a shift: to put a need off."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, cast

from agentco_tui.config.validators import span
from agentco_tui.live.insight import Level
from agentco_tui.live.snooze import LONGEST_NOTE, Snooze, next_time
from agentco_tui.screens.dialogs.form_definitions import FormRequest
from agentco_tui.screens.dialogs.form_dialog import Form, FormError, FormField, FormPlan, Values
from agentco_tui.screens.targets import completed
from agentco_tui.screens.trail import name_of
from agentco_tui.text import SafeText, plain, signs

if TYPE_CHECKING:
    from agentco_tui.screens.overview_view import OverviewView

LONGEST = 30 * 86_400.0  # seconds
SPANS = ("1h", "15m", "4h", "08:00", "worse")


def snooze(ask: FormRequest) -> FormPlan | SafeText:
    """For how long a need of the Overview is put off, and what is promised."""
    view, session = cast("OverviewView", ask.frame.views["overview"]), ask.frame.session
    need = view.need()
    if need is None:
        return plain("put the cursor on a need to snooze it")

    what = name_of(need.record, session.names)
    if need.alike:
        what = plain(f"{what} ×{len(need.alike)}")

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
    what = (
        plain(f"{name_of(need.record, session.names)} ×{len(need.alike)}")
        if need.alike
        else name_of(need.record, session.names)
    )
    return FormPlan(ask.title("SNOOZE", what), fields, read, send)


SHIFT_FORMS: Mapping[str, Callable[[FormRequest], FormPlan | SafeText]] = {
    "overview.snooze": snooze,
}
"""By the command that opens each, as `form_definitions.FORMS`."""
