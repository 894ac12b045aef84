"""The commands for what one platform offers beside the rest, such as to reject a task.

Their keys are declared with the platform, so that they are not in `commands.COMMANDS`; footer, help
and palette show both.
"""

from __future__ import annotations

from agentco_tui.keys.commands import Command
from agentco_tui.keys.places import SCREEN_OF_KIND, Place
from agentco_tui.text import clean_line

VERB_ID = "verb."
"""How the ids of these commands begin."""


def places_of_kind(kind: str) -> tuple[Place, ...]:
    """The screens that list records of a kind: its own, and the Overview; none if unknown."""
    screen = SCREEN_OF_KIND.get(kind)
    return () if screen is None else (screen, "overview")


def verb_command(name: str, key: str, label: str, kind: str, platform: str) -> Command:
    """The command of a verb that a platform offers for records of a kind."""
    own, *others = places_of_kind(kind)
    words = clean_line(name, 40)
    return Command(
        id=f"{VERB_ID}{name}",
        keys=key,
        label=label,
        tooltip=f"{words[:1].upper()}{words[1:]}, if {platform} offers it for the {kind}.",
        where=own,
        run=f"command('verb', {name!r})",
        also=tuple(others),
        verb=name,
    )
