"""What a task is about: its title, its steps and the words its agent says on the way.

A story is a set of templates; `facts` draws the particulars (how many, how much, for whom) from
the task's own number, so that title, trace and log entries of one task agree with each other.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

Facts = Mapping[str, int | float | str]
_T = TypeVar("_T")
_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class Beat:
    """One step of a story: a thought, a tool call with arguments, or what came out."""

    kind: str
    text: str = ""
    tool: str = ""
    args: Mapping[str, str] = field(default_factory=dict)


def think(text: str) -> Beat:
    """The agent reasons."""
    return Beat("thought", text)


def call(tool: str, **args: str) -> Beat:
    """The agent uses a tool; an argument that is only `{n}` or `{amount}` stays a number."""
    return Beat("tool_call", tool=tool, args=args)


def out(text: str) -> Beat:
    """What a tool or the agent gave back."""
    return Beat("output", text)


@dataclass(frozen=True, slots=True)
class Story:
    """Templates for one sort of task; `cost` in cents, least and most."""

    roles: tuple[str, ...]
    title: str
    why: str
    prepare: tuple[Beat, ...]
    """What was done before the agent asked for a yes."""
    carry_out: tuple[Beat, ...]
    """What is done once a person has said yes."""
    done: str
    failed: str
    priorities: str = "mmhl"
    """Initials of urgent, high, medium and low, to draw from."""
    cost: tuple[int, int] = (8, 90)


PRIORITIES = {"u": "urgent", "h": "high", "m": "medium", "l": "low"}

_CUSTOMERS = (
    "Fairview Hotels", "Kestrel Logistics", "Oakline Schools", "Bright Dental", "Vantage Gyms",
    "Lakeside Hospital", "Nimbus Airlines", "Tallgrass Farms", "Corner Bakery Group", "Polar Labs",
)  # fmt: skip
_PEOPLE = (
    "M. Alvarez", "J. Whitfield", "S. Nakamura", "P. Oyelaran", "C. Lindgren", "R. Banerjee",
    "T. Kaminski", "D. Fraser",
)  # fmt: skip
_PRODUCTS = (
    "Trailhead tent", "Arm R2", "Gripper kit", "Starter plan", "Field jacket", "Team plan",
    "Safety cell", "Summit pack",
)  # fmt: skip
_REGIONS = ("Nordics", "Iberia", "Midwest", "DACH", "Benelux", "Pacific Northwest", "Ireland")
_SERVICES = ("billing", "checkout", "search", "inventory", "login", "telemetry", "webhooks")
_VENDORS = ("Stratus Hosting", "Paperlane", "Quickship", "Helio Print", "Cityline Telecom")
_DOMAINS = ("acme-arms.example", "globex.example", "initech-content.example", "fieldnotes.example")
_TOPICS = (
    "battery care", "returns in the EU", "cold-weather testing", "remote onboarding",
    "choosing a gripper", "carbon reporting", "first-week checklists", "cable management",
)  # fmt: skip
_MONTHS = ("January", "March", "April", "June", "August", "September", "October", "November")
_UNITS = (18.4, 42.5, 64.9, 85.25, 99.0, 129.0)


class _Draw:
    """A small source of chance: as good as needed for a story, and made a thousand times faster."""

    def __init__(self, seed: int) -> None:
        self._state = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) & _MASK

    def between(self, least: int, end: int) -> int:
        """A whole number, `end` not included."""
        self._state = (self._state * 6_364_136_223_846_793_005 + 1_442_695_040_888_963_407) & _MASK
        mixed = self._state ^ (self._state >> 29)
        return least + (mixed >> 17) % (end - least)

    def choice(self, options: Sequence[_T]) -> _T:
        """One of them."""
        return options[self.between(0, len(options))]


@functools.lru_cache(maxsize=4096)
def facts(seed: int, number: int) -> Facts:
    """The particulars of task `number` in the world of this seed; always the same."""
    draw = _Draw(seed * 1_000_003 + number)
    n = draw.between(9, 480)
    return {
        "n": n,
        "few": draw.between(2, 9),
        "amount": round(n * draw.choice(_UNITS), 2),
        "percent": draw.between(3, 25),
        "customer": draw.choice(_CUSTOMERS),
        "person": draw.choice(_PEOPLE),
        "product": draw.choice(_PRODUCTS),
        "region": draw.choice(_REGIONS),
        "service": draw.choice(_SERVICES),
        "vendor": draw.choice(_VENDORS),
        "domain": draw.choice(_DOMAINS),
        "topic": draw.choice(_TOPICS),
        "month": draw.choice(_MONTHS),
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


def fill_argument(template: str, particulars: Facts) -> int | float | str:
    """As `fill`, except that a template of nothing but one particular keeps its type."""
    key = template[1:-1]
    if template.startswith("{") and template.endswith("}") and key in particulars:
        return particulars[key]
    return fill(template, particulars)


GIVEN = Story(
    roles=(),
    title="{title}",
    why="Asked for by an operator.",
    prepare=(
        think("The request says: {title}. I will plan it and ask before anything changes."),
        call("planner.draft", goal="{title}", max_steps="{few}"),
        out("A plan with {few} steps is ready. Nothing has been changed yet."),
    ),
    carry_out=(
        call("planner.run", steps="{few}", dry_run="no"),
        out("All {few} steps are done."),
    ),
    done="Finished {title}: all {few} steps are done",
    failed="Gave up on {title}: step {few} was refused twice",
)
"""The story of a task that was created over the interface: its title is all that is known."""
