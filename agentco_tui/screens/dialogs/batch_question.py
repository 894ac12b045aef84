"""The question whether to approve a set of tasks, which lists every one of them.

A task is what an AI agent wants to do on the platform, the remote service that is watched; a set is
several of them that are approved with one yes. For more than ten tasks, their number must be typed
before `y` counts; on a protected platform (`protected` in the settings), the name of the profile
(the user's name for this platform) must be typed whatever the number. Typed characters count only
if they were meant: `key_app.presses` and `key_app.arrivals` tell when a key came, and whether it
came together with others, as in pasted text. While the dialog is `hidden`, because the terminal is
too small for it, no key counts.

The list begins with the tasks that the user knows least (`Familiarity`: changed since they were
read, not read, read), and ends with those that were marked but can't be approved with the set
(`Excluded`). The workspace is what is known of the platform in memory.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from textual import events
from textual.app import ComposeResult

from agentco_tui.actions.batch_summary import (
    Excluded,
    Familiarity,
    ListedTask,
    list_for_review,
    total_costs,
)
from agentco_tui.live.insight import waiting_since
from agentco_tui.model import Ref, Task
from agentco_tui.model import format as fmt
from agentco_tui.screens.dashboard_context import DashboardContext
from agentco_tui.screens.detail_pane import warning
from agentco_tui.screens.dialogs.approve_dialog import TaskQuestion, count_in_words, task_labels
from agentco_tui.screens.header_footer import profile_name
from agentco_tui.screens.key_app import REPEAT
from agentco_tui.screens.sent_fields import sums_of
from agentco_tui.text import SafeText, clean_line, mark_safe, signs
from agentco_tui.widgets.status_line import StatusLine
from agentco_tui.widgets.text_pane import BlankLine, FieldLine, Heading, PaneItem, Paragraph
from agentco_tui.widgets.tones import Cell, Tone

TYPED_FROM: Final = 11
"""Tasks in a set at or above which their number must be typed."""
MOST_TYPED: Final = 9
"""Characters that are kept of what is typed, or as many as the text to type has, if more."""
MOST_NAMES: Final = 6
"""Companies, agents or priorities that are named; the others are counted."""
MOST_SUMS: Final = 4
"""Amounts of money that the line of a task shows; the others are counted."""
HEADINGS: Final = {
    Familiarity.CHANGED: f"{signs.warning} {{}} changed since you read them",
    Familiarity.UNREAD: f"{signs.warning} {{}} you have not read",
    Familiarity.READ: "{} you have read",
}
"""The headings of the list, in its order; `{}` is the number of tasks below."""
NEVER: Final = float("-inf")
"""The time of a key that was never pressed."""


class BatchQuestion(TaskQuestion):
    """The question whether to approve a set of tasks."""

    DEFAULT_CSS = """
    BatchQuestion .dialog--number { dock: bottom; height: 1; margin: 1 0 2 0; }
    BatchQuestion.-phone .dialog--number { margin: 1 0; }
    """

    def __init__(
        self,
        dashboard: DashboardContext,
        tasks: Sequence[Task],
        excluded: Sequence[Excluded],
        not_shown: Mapping[str, SafeText],
    ) -> None:
        """`not_shown` says of some tasks, by id, why the list behind the question hides them."""
        yes_label = f"approve all {fmt.count(len(tasks))}"
        super().__init__(dashboard, tasks, count_in_words(tasks), yes_label)
        self.excluded = excluded
        self.not_shown = not_shown
        self._labels = task_labels([*tasks, *(other.task for other in excluded)])
        self._types_name = dashboard.workspace.settings.protected
        self.text_to_type = ""
        """What must be typed before `y` counts; "" for nothing."""
        if self._types_name:
            self.text_to_type = profile_name(dashboard.workspace.settings)
        elif len(tasks) >= TYPED_FROM:
            self.text_to_type = str(len(tasks))
        self.typed = ""
        self.number_line = StatusLine(classes="dialog--number")
        # The following times are those of `key_app.presses`.
        self._ignored_at: dict[str, float] = {}
        """When characters last came that were ignored, because they came too soon."""
        self._digit_at = NEVER
        self._other_key_at = NEVER
        """When the last key came that is not a digit."""

    def compose_body(self) -> ComposeResult:
        yield self.pane
        if self.text_to_type:
            yield self.number_line

    def on_mount(self) -> None:
        self._show_number()

    # ---- the text of the question

    def items(self) -> Iterable[PaneItem]:
        yield from self.change_items()  # which tasks have changed since the question opened
        yield from self._hidden_items()
        yield from self._total_items()
        yield from self.facts.items()  # the budgets affected, and how similar tasks fared
        yield from self._listed_items()
        yield from self._excluded_items()

    def _hidden_items(self) -> Iterable[PaneItem]:
        """Yield how many tasks the list behind the question does not show, and why."""
        reasons = [why for task_id, why in self.not_shown.items() if task_id in self.tasks]
        counts = Counter(reasons)
        if self.excluded:
            counts[mark_safe("marked, but not in this set: see the end")] = len(self.excluded)
        for reason, count in counts.items():
            yield warning(f"{signs.warning} {fmt.count(count)} {reason}")

    def _total_items(self) -> Iterable[PaneItem]:
        """Yield what the tasks cost in all, whose they are, and which waits longest."""
        names = self.workspace.names
        tasks = list(self.tasks.values())
        yield FieldLine(mark_safe("costs"), mark_safe(_costs_in_words(tasks)))
        context = self.dashboard.cell_context
        companies = (context.company_words(names.company_of(task) or Ref()) for task in tasks)
        yield FieldLine(mark_safe("companies"), _counts_in_words(companies))
        agents = (context.agent_words(task.agent or Ref()) for task in tasks)
        yield FieldLine(mark_safe("agents"), _counts_in_words(agents))
        priorities = (task.priority or signs.missing for task in tasks)
        yield FieldLine(mark_safe("priority"), _counts_in_words(priorities))
        waiting = {task.id: waiting_since(task) for task in tasks}
        times = {task_id: since for task_id, since in waiting.items() if since is not None}
        if times:
            oldest = min(times, key=lambda task_id: times[task_id])
            age = self.dashboard.cell_context.wait(times[oldest])
            yield FieldLine(
                mark_safe("oldest"), mark_safe(f"{age}  {self.tasks[oldest].keyed_title}")
            )

    def _listed_items(self) -> Iterable[PaneItem]:
        """Yield every task of the set, those that the user knows least first."""
        workspace = self.workspace
        listed = list_for_review(
            list(self.tasks.values()), workspace.names, self.dashboard.read_digests
        )
        for familiarity, words in HEADINGS.items():
            group = [one for one in listed if one.familiarity is familiarity]
            if not group:
                continue
            heading = mark_safe(words.format(fmt.count(len(group))))
            yield BlankLine()
            yield Heading(heading) if familiarity is Familiarity.READ else warning(heading)
            for one in group:
                yield from self._task_items(one)

    def _task_items(self, listed: ListedTask) -> Iterable[PaneItem]:
        """Yield a task's title, a line with its company, agent and costs, and what is unusual."""
        task = listed.task
        names = self.workspace.names
        yield Paragraph(self._labels[task.id])
        cost = "unknown" if task.cost is None else fmt.money(task.cost)
        # Amounts among the task's further fields; the fields that hold no amount are not shown.
        other_sums, _ = sums_of(task)
        sums = [("cost", cost), *other_sums]
        context = self.dashboard.cell_context
        company = context.company_words(names.company_of(task) or Ref())
        parts: list[str] = [company, context.agent_words(task.agent or Ref())]
        parts += [f"{name} {value}" for name, value in sums[:MOST_SUMS]]
        if len(sums) > MOST_SUMS:
            parts.append(f"and {len(sums) - MOST_SUMS} more sums")
        yield Paragraph(mark_safe(f" {signs.separator} ".join(parts)), Tone.DIM, 2)
        remarks = [
            *listed.unusual,
            self.not_shown.get(task.id),
            self.earlier_attempt(task.id),  # the outcome of an earlier approval of this task
        ]
        words = "; ".join(filter(None, remarks))
        if words:
            yield warning(f"{signs.warning} {words}", 2)

    def _excluded_items(self) -> Iterable[PaneItem]:
        if not self.excluded:
            return
        yield BlankLine()
        yield warning(f"{signs.warning} {fmt.count(len(self.excluded))} not in this set")
        for other in self.excluded:
            yield Paragraph(self._labels[other.task.id])
            yield warning(f"{signs.warning} {other.reason}", 2)

    # ---- what must be typed

    @property
    def _is_typed(self) -> bool:
        return self.typed == self.text_to_type

    def switch_off(self, reason: SafeText) -> None:
        super().switch_off(reason)
        self._show_number()

    def _show_number(self) -> None:
        """Draw the line that says what to type, and what has been typed."""
        # While a name is being typed, `n` is one of its letters.
        self._no_keys = "esc" if self._types_name and not self._is_typed else "n, esc"
        if self._off_reason is not None:
            words = "nothing can be approved here any more"
            tone = Tone.DIM
        else:
            then = "press y to approve them" if self._is_typed else "then press y"
            typed = self.typed or signs.missing
            words = f"type {clean_line(self.text_to_type, 60)}, {then}:  {typed}"
            tone = Tone.STRONG if self._is_typed else Tone.ACCENT
        self.number_line.show([Cell(mark_safe(words), tone)])

    def on_key(self, event: events.Key) -> None:
        """Take a digit, a letter of the name, or backspace; leave every other key to bindings."""
        if not self.text_to_type or self.hidden or self._off_reason is not None:
            return
        character = event.character
        pressed_at = self.key_app.presses.at
        is_digit = character is not None and character in "0123456789"
        is_of_name = self._types_name and not self._is_typed and event.is_printable
        if not self._types_name and self._came_mixed(pressed_at, event.key, is_digit=is_digit):
            self.ignore_burst()
            if is_digit:
                event.stop()
            return
        if character is not None and (is_of_name or is_digit):
            self._type(character, pressed_at)
        elif event.key == "backspace":
            self.typed = self.typed[:-1]
        else:
            return
        event.stop()
        self._show_number()
        self.show_warning("")

    def _type(self, character: str, pressed_at: float) -> None:
        """Append a character, unless it was pressed before the question could be read.

        Neither do the repeats count that such a key sends for as long as it stays down.
        """
        since_ignored = pressed_at - self._ignored_at.get(character, NEVER)
        if self.is_early(pressed_at) or since_ignored < REPEAT:
            self._ignored_at[character] = pressed_at
            return
        most = max(MOST_TYPED, len(self.text_to_type))
        self.typed = (self.typed + character)[-most:]

    def _came_mixed(self, pressed_at: float, key: str, *, is_digit: bool) -> bool:
        """Whether a digit and another key came together, the later of them at that time.

        The digits of a number may come together, from quick fingers or over a slow line. Together
        with other keys they belong to text that was not typed here. The `y` of a user who has read
        the question comes alone.
        """
        if key == "backspace":
            return False
        arrivals = self.key_app.arrivals
        if is_digit:
            self._digit_at = pressed_at
            return arrivals.came_together(self._other_key_at, pressed_at)
        self._other_key_at = pressed_at
        return arrivals.came_together(self._digit_at, pressed_at)

    def ignore_burst(self) -> None:
        """Ignore the burst, and drop what was typed: it must be typed again."""
        super().ignore_burst()
        self.typed = ""
        self._show_number()

    def accept(self) -> None:
        """Close with the answer yes if the text was typed; else say what is to be typed."""
        if self._is_typed:
            super().accept()
            return
        if self.typed:
            self.show_warning(f"not {self.typed}")
        else:
            self.show_warning(f"type {self.text_to_type} first")
        self.typed = ""
        self._show_number()


def _costs_in_words(tasks: Sequence[Task]) -> str:
    """Return the costs by currency: "$3.00 + €2.00, and 2 of unknown cost"."""
    sums = " + ".join(map(fmt.money, total_costs(tasks)))
    unknown = sum(task.cost is None for task in tasks)
    if not unknown:
        return sums
    return f"{sums or signs.missing}, and {fmt.count(unknown)} of unknown cost"


def _counts_in_words(names: Iterable[SafeText]) -> SafeText:
    """Return how often each name occurs, the most frequent first: "Linus 3, Ruth 1"."""
    counts = Counter(names).most_common()
    words = [f"{name} {fmt.count(count)}" for name, count in counts[:MOST_NAMES]]
    if len(counts) > MOST_NAMES:
        words.append(f"and {fmt.count(len(counts) - MOST_NAMES)} more")
    return mark_safe(", ".join(words))
