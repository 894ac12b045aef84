"""The texts of the embedded world, read from `stories.json`: its companies, agents and tasks.

The embedded world is what demos and tests show. A story is what a task is about, as templates for
its title, its trace (the steps that the AI agent did) and its log entries. The particulars that
fill the templates (how many, how much, for whom) are drawn from the number of the task, so that all
texts about one task agree. The cast are the companies and agents whose names and budgets are given
in the file; larger worlds get more of them, with combined names.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

Particulars = Mapping[str, int | float | str]
_T = TypeVar("_T")
_MASK = (1 << 64) - 1

PRIORITIES = {"u": "urgent", "h": "high", "m": "medium", "l": "low"}


class CompanySeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A company of the cast; `share` is how much of its limit is spent at the start."""

    name: str
    template: str
    mission: str
    share: float


class AgentSeed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An agent of the cast; `limit` in whole dollars (None: no limit), `share` spent.

    `trust` is a score out of 100 that the platform shows, and means nothing else here.
    """

    name: str
    role: str
    company: int
    trust: int
    limit: int | None
    share: float


class Opening(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pending task of the fixed opening; it has waited for `waits` seconds.

    `fixed_particulars` replace those that would be drawn.
    """

    agent: str
    title: str
    waits: float
    priority: str
    fixed_particulars: dict[str, int | float | str]


class StoryStep(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a story: a thought, a tool call with arguments, or what came out."""

    thought: str = ""
    output: str = ""
    tool: str = ""
    args: dict[str, str] = {}

    @property
    def kind(self) -> str:
        if self.tool:
            return "tool_call"
        return "thought" if self.thought else "output"

    def arguments(self, particulars: Particulars) -> dict[str, int | float | str]:
        """The arguments of a tool call; one that is a single particular keeps its type."""
        arguments: dict[str, int | float | str] = {}
        for key, template in self.args.items():
            value: int | float | str = fill(template, particulars)
            if template.startswith("{") and template.endswith("}"):
                value = particulars.get(template[1:-1], value)
            arguments[key.rstrip("_")] = value
        return arguments

    def as_log_message(self, particulars: Particulars) -> str:
        """The step as the message of a log entry."""
        if not self.tool:
            return fill(self.thought or self.output, particulars)
        arguments = [
            f"{key.rstrip('_')}={fill(text, particulars)}" for key, text in self.args.items()
        ]
        return f"{self.tool}({', '.join(arguments)})"


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What one sort of task is about, as templates."""

    roles: tuple[str, ...]
    title: str
    description: str
    priorities: str  # initials of urgent, high, medium and low, to draw from
    cost: tuple[int, int]  # the least and the greatest estimate, in cents
    prepare: tuple[StoryStep, ...]  # what was done before the agent asked for approval
    carry_out: tuple[StoryStep, ...]  # what is done after the approval
    done: str
    failed: str


class _Book(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file. `roles` are those of agents, `models` their language models."""

    companies: tuple[CompanySeed, ...]
    agents: tuple[AgentSeed, ...]
    opening: tuple[Opening, ...]
    colleagues: tuple[str, ...]  # people who decide about tasks besides the user
    models: tuple[str, ...]
    roles: tuple[str, ...]
    company_first: tuple[str, ...]  # first and second words of combined names
    company_second: tuple[str, ...]
    template_of: dict[str, str]  # what sort of company it is, by the second word of its name
    missions: dict[str, str]  # by template
    company_shares: tuple[float, ...]  # spent shares of the limits, for companies after the cast
    agent_first: tuple[str, ...]
    agent_last: tuple[str, ...]
    units: tuple[float, ...]  # prices, of which an amount of money is a multiple
    particulars: dict[str, tuple[str, ...]]
    """Words to draw from, for each particular that is a word; drawn in this order."""
    talk: tuple[tuple[str, str], ...]  # log lines of an agent between tasks: level and template
    runaway: tuple[str, str]  # what an agent logs that spends far too fast: level and template
    failing: tuple[str, str]  # the same of one whose tool calls fail again and again
    created: Story
    """The story of a task that was created over the REST API, of which only the title is known."""
    stories: tuple[Story, ...]


BOOK = msgspec.json.decode(Path(__file__).with_name("stories.json").read_bytes(), type=_Book)

FOR_ROLE: dict[str, tuple[Story, ...]] = {
    role: tuple(story for story in BOOK.stories if role in story.roles) for role in BOOK.roles
}


def stream(seed: int, *name: object) -> random.Random:
    """A random generator that depends on the seed and the name only."""
    return random.Random("/".join(map(str, (seed, *name))))  # noqa: S311 - a story, no secret


class _Draw:
    """A simple random generator: good enough for a story, and created a thousand times faster."""

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & _MASK

    def between(self, least: int, end: int) -> int:
        self._state = (self._state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) & _MASK
        mixed = self._state ^ (self._state >> 29)
        return least + (mixed >> 17) % (end - least)

    def choice(self, options: Sequence[_T]) -> _T:
        return options[self.between(0, len(options))]


@functools.lru_cache(maxsize=4096)
def draw_particulars(seed: int, number: int) -> Particulars:
    """The particulars of task `number` in the world of this seed; always the same."""
    draw = _Draw(seed * 1_000_003 + number)
    count = draw.between(9, 480)
    particulars: dict[str, int | float | str] = {"n": count}
    # The order of the draws decides what is drawn: it must not change.
    particulars["few"] = draw.between(2, 9)
    particulars["amount"] = round(count * draw.choice(BOOK.units), 2)
    particulars["percent"] = draw.between(3, 25)
    for name, words in BOOK.particulars.items():
        particulars[name] = draw.choice(words)
    particulars["quarter"] = f"Q{draw.between(1, 5)}"
    particulars["ticket"] = draw.between(10_200, 98_000)
    major = draw.between(1, 6)
    minor = draw.between(0, 20)
    patch = draw.between(0, 9)
    particulars["version"] = f"{major}.{minor}.{patch}"
    return particulars


def fill(template: str, particulars: Particulars) -> str:
    """The template with the particulars filled in; an amount is written as `18,240.00`."""
    if "{" not in template:
        return template
    if "{amount}" in template:
        return template.format_map({**particulars, "amount": f"{particulars['amount']:,.2f}"})
    return template.format_map(particulars)


def _combined(index: int, firsts: Sequence[str], seconds: Sequence[str]) -> tuple[str, str]:
    """The name with this index, and its second word.

    Every pair of words is used once; after that the names are numbered.
    """
    repetition, pair = divmod(index, len(firsts) * len(seconds))
    turn, first_index = divmod(pair, len(firsts))
    second = seconds[(turn + first_index) % len(seconds)]
    name = f"{firsts[first_index]} {second}"
    if repetition:
        name += f" {repetition + 1}"
    return name, second


def company_seed(index: int) -> CompanySeed:
    """The company with this index: the cast first, then combined names."""
    if index < len(BOOK.companies):
        return BOOK.companies[index]
    number = index - len(BOOK.companies)
    name, second = _combined(number, BOOK.company_first, BOOK.company_second)
    template = BOOK.template_of[second]
    share = BOOK.company_shares[number % len(BOOK.company_shares)]
    return CompanySeed(name, template, BOOK.missions[template], share)


def agent_name(index: int) -> str:
    """A unique name for the agent with this index after the cast."""
    firsts = BOOK.agent_first
    if index < len(firsts):
        return firsts[index]
    name, _ = _combined(index - len(firsts), firsts, BOOK.agent_last)
    return name
