"""The commands for what one platform offers beside the rest, such as to reject a task.

Their keys are declared with the platform, so that they are not in `commands.COMMANDS`; footer, help
and palette show both.
"""

from __future__ import annotations

from agentco_tui.keys.commands import Command
from agentco_tui.keys.places import SCREEN_OF_KIND, Place

VERB_ID = "verb."
"""How the ids of these commands begin."""


def places_of_kind(kind: str) -> tuple[Place, ...]:
    """The screens that list records of a kind: its own, and the Overview; none if unknown."""
    screen = SCREEN_OF_KIND.get(kind)
    return () if screen is None else (screen, "overview")


def verb_command(name: str, key: str, label: str, kind: str) -> Command:
    """The command of a verb for records of a kind."""
    own, *others = places_of_kind(kind)
    return Command(
        id=f"{VERB_ID}{name}",
        keys=key,
        label=label,
        tooltip=f"{label} the {kind}, where the platform offers it.",
        where=own,
        run=f"command('verb', {name!r})",
        also=tuple(others),
        verb=name,
    )
