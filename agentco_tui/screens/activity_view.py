"""The live feed: what the agents do, the newest visible while it is followed."""

from __future__ import annotations

from textual import on

from agentco_tui import format as fmt
from agentco_tui.live.activity_window import is_gap
from agentco_tui.live.feeds import FeedName
from agentco_tui.live.store import Change
from agentco_tui.model import Activity, Ref
from agentco_tui.screens.cells import SEVERITY_LEVELS, TONES, age_column, level_column, text_column
from agentco_tui.screens.key_app import bindings_of
from agentco_tui.screens.list_view import ListView
from agentco_tui.text import SafeText, plain, signs
from agentco_tui.widgets.table.layout import Column
from agentco_tui.widgets.table.widget import RecordTable
from agentco_tui.widgets.tones import Cell, Tone


class ActivityView(ListView[Activity]):
    """Follows the newest entry, until it is paused or the cursor leaves the top."""

    place = "activity"
    sort = ("age", True)
    empty = "nothing happened yet"
    lists = (FeedName.ACTIVITY,)
    calm = False  # A feed is followed or paused; what is new belongs on top
    BINDINGS = bindings_of("activity")
    following = True
    _new = 0  # entries that came while it is paused

    def columns(self) -> list[Column[Activity]]:
        look = self.look

        def at(entry: Activity) -> float | None:
            return entry.at.at if entry.at else None

        def who(entry: Activity) -> SafeText:
            return plain("") if is_gap(entry) else look.names.agent(entry.agent or entry.actor)

        def company(entry: Activity) -> SafeText:
            if is_gap(entry):
                return plain("")
            agent = look.names.agent_of(entry.agent)
            return look.names.company(entry.company or (agent.company if agent else None))

        def tone(entry: Activity) -> Tone:
            return Tone.WARNING if is_gap(entry) else TONES[SEVERITY_LEVELS[entry.severity]]

        return [
            level_column(lambda entry: SEVERITY_LEVELS[entry.severity]),
            age_column(look, "age", "AGE", at, sort_key=at, descending_first=True),
            text_column("agent", "AGENT", (11, 6), who, Tone.ACCENT, aliases=("who",)),
            text_column(
                "what", "WHAT HAPPENED", (40, 38), lambda e: e.text, tone, grow=4, aliases=("text",)
            ),
            text_column("company", "COMPANY", (15, 8), company, Tone.DIM, priority=2),
        ]

    def search_text(self, record: Activity) -> str:
        names = self.session.names
        who, company = names.agent(record.agent or record.actor), names.company(record.company)
        return "\n".join((record.text, who, record.verb or "", company))

    def take(self, change: Change) -> None:
        """While paused the list stands still and what came is counted."""
        if change.feed is FeedName.ACTIVITY and not self.following:
            self._new += len(change.added)
            self.show_head()
            return
        super().take(change)
        if change.feed is FeedName.ACTIVITY:
            self._to_newest()

    def _to_newest(self) -> None:
        if self.following and self.table.sort == self.sort:
            self.table.action_first()

    def reload(self) -> None:
        self._new = 0
        super().reload()
        self._to_newest()

    @on(RecordTable.CursorMoved)
    def _leaves_the_top(self, message: RecordTable.CursorMoved) -> None:
        shown = self.table.rows.shown
        if self.table.has_focus and self.following and shown and message.row_id != shown[0]:
            self.action_follow()

    def action_follow(self) -> None:
        self.following = not self.following
        if self.following:
            self.reload()
        self.show_head()

    def title(self, *about: SafeText) -> tuple[list[Cell], list[Cell]]:
        chosen, names = self.session.poller.query.activity, self.session.names
        parts = {
            "company": chosen.company and names.company(Ref(chosen.company)),
            "agent": chosen.agent and names.agent(Ref(chosen.agent)),
            "from": chosen.from_date,
            "to": chosen.to_date,
            "limit": chosen.limit,
        }
        told = (plain(f"{name} {value}") for name, value in parts.items() if value)
        left, right = super().title(*told)
        waits = f", {fmt.count(self._new)} new" if self._new else ""
        says, tone = f"  {signs.warning} paused{waits}", Tone.WARNING
        if self.following:
            says, tone = f"  {signs.good} following", Tone.GOOD
        return [*left, Cell(plain(says), tone)], right
