"""The cast and the stories of the embedded world, read from `stories.json`, and what fills them.

A story is a set of templates; `facts` draws the particulars (how many, how much, for whom) from
the task's own number, so that title, trace and log entries of one task agree with each other.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

Facts = Mapping[str, int | float | str]
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
    """An agent of the cast; `limit` in whole dollars (None: no limit), `share` spent."""

    name: str
    role: str
    company: int
    trust: int
    limit: int | None
    share: float


class Opening(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A pending task of the fixed opening; it has waited for `waits` seconds."""

    agent: str
    title: str
    waits: float
    priority: str
    given: dict[str, int | float | str]


class Beat(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One step of a story: a thought, a tool call with arguments, or what came out."""

    thought: str = ""
    output: str = ""
    tool: str = ""
    args: dict[str, str] = {}

    @property
    def kind(self) -> str:
        return "tool_call" if self.tool else "thought" if self.thought else "output"

    def arguments(self, known: Facts) -> dict[str, int | float | str]:
        """The arguments of a tool call; what is nothing but one particular keeps its type."""
        return {
            key.rstrip("_"): known.get(text[1:-1], fill(text, known))
            if text.startswith("{") and text.endswith("}")
            else fill(text, known)
            for key, text in self.args.items()
        }

    def spoken(self, known: Facts) -> str:
        if not self.tool:
            return fill(self.thought or self.output, known)
        said = ", ".join(
            f"{key.rstrip('_')}={fill(text, known)}" for key, text in self.args.items()
        )
        return f"{self.tool}({said})"


class Story(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    roles: tuple[str, ...]
    title: str
    why: str
    priorities: str  # initials of urgent, high, medium and low, to draw from
    cost: tuple[int, int]
    prepare: tuple[Beat, ...]  # what was done before the agent asked for a yes
    carry_out: tuple[Beat, ...]  # what is done once a person has said yes
    done: str
    failed: str


class _Book(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    companies: tuple[CompanySeed, ...]
    agents: tuple[AgentSeed, ...]
    opening: tuple[Opening, ...]
    colleagues: tuple[str, ...]
    models: tuple[str, ...]
    roles: tuple[str, ...]
    company_first: tuple[str, ...]
    company_second: tuple[str, ...]
    template_of: dict[str, str]
    missions: dict[str, str]
    company_shares: tuple[float, ...]
    agent_first: tuple[str, ...]
    agent_last: tuple[str, ...]
    units: tuple[float, ...]  # prices, of which an amount of money is a multiple
    particulars: dict[str, tuple[str, ...]]
    """Words to draw from for each particular that is one; drawn in this order."""
    talk: tuple[tuple[str, str], ...]  # log lines of an agent between tasks: level and template
    runaway: tuple[str, str]  # what an agent logs that has run away, and one that only fails
    failing: tuple[str, str]
    given: Story
    """The story of a task that was created over the interface: its title is all that is known."""
    stories: tuple[Story, ...]


BOOK = msgspec.json.decode(Path(__file__).with_name("stories.json").read_bytes(), type=_Book)

FOR_ROLE: dict[str, tuple[Story, ...]] = {
    role: tuple(story for story in BOOK.stories if role in story.roles) for role in BOOK.roles
}


def stream(seed: int, *name: object) -> random.Random:
    """A source of chance that depends on the seed and the name only, for ever the same."""
    return random.Random("/".join(map(str, (seed, *name))))  # noqa: S311 - a story, no secret


class _Draw:
    """A small source of chance: as good as needed for a story, and made a thousand times faster."""

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & _MASK

    def between(self, least: int, end: int) -> int:
        self._state = (self._state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) & _MASK
        mixed = self._state ^ (self._state >> 29)
        return least + (mixed >> 17) % (end - least)

    def choice(self, options: Sequence[_T]) -> _T:
        return options[self.between(0, len(options))]


@functools.lru_cache(maxsize=4096)
def facts(seed: int, number: int) -> Facts:
    """The particulars of task `number` in the world of this seed; always the same."""
    draw = _Draw(seed * 1_000_003 + number)
    n = draw.between(9, 480)
    return {
        "n": n,
        "few": draw.between(2, 9),
        "amount": round(n * draw.choice(BOOK.units), 2),
        "percent": draw.between(3, 25),
        **{name: draw.choice(words) for name, words in BOOK.particulars.items()},
        "quarter": f"Q{draw.between(1, 5)}",
        "ticket": draw.between(10_200, 98_000),
        "version": f"{draw.between(1, 6)}.{draw.between(0, 20)}.{draw.between(0, 9)}",
    }


def fill(template: str, particulars: Facts) -> str:
    """The template with the particulars in it; sums as `18,240.00`."""
    if "{" not in template:
        return template
    if "{amount}" in template:
        return template.format_map({**particulars, "amount": f"{particulars['amount']:,.2f}"})
    return template.format_map(particulars)


def _combined(index: int, firsts: Sequence[str], seconds: Sequence[str]) -> tuple[str, str]:
    """The name with this index, and its second word: every pair once, then they are numbered."""
    number, pair = divmod(index, len(firsts) * len(seconds))
    turn, at = divmod(pair, len(firsts))
    second = seconds[(turn + at) % len(seconds)]
    return f"{firsts[at]} {second}" + (f" {number + 1}" if number else ""), second


def company_seed(index: int) -> CompanySeed:
    """The company with this index: the cast first, then combined names."""
    if index < len(BOOK.companies):
        return BOOK.companies[index]
    turn = index - len(BOOK.companies)
    name, second = _combined(turn, BOOK.company_first, BOOK.company_second)
    template, shares = BOOK.template_of[second], BOOK.company_shares
    return CompanySeed(name, template, BOOK.missions[template], shares[turn % len(shares)])


def agent_name(index: int) -> str:
    """A name of its own for the agent with this index beyond the cast."""
    firsts = BOOK.agent_first
    if index < len(firsts):
        return firsts[index]
    return _combined(index - len(firsts), firsts, BOOK.agent_last)[0]
