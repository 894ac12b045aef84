"""Everything that changes the platform, made once for a dashboard."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agentco_tui.actions.desk import Desk
from agentco_tui.actions.rights import Rights

if TYPE_CHECKING:
    from agentco_tui.actions.approve import Approver
    from agentco_tui.actions.companies import CompanyWriter
    from agentco_tui.actions.create_task import TaskCreator
    from agentco_tui.actions.limit import LimitSetter


class Hands:
    """One action each, all on one desk.

    Each is imported and made when it is first wanted: most starts want none of them.
    """

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    @property
    def rights(self) -> Rights:
        """What may be written."""
        return self.desk.rights

    @cached_property
    def approver(self) -> Approver:
        """Approves tasks."""
        from agentco_tui.actions.approve import Approver  # noqa: PLC0415

        return Approver(self.desk)

    @cached_property
    def tasks(self) -> TaskCreator:
        """Creates tasks."""
        from agentco_tui.actions.create_task import TaskCreator  # noqa: PLC0415

        return TaskCreator(self.desk)

    @cached_property
    def companies(self) -> CompanyWriter:
        """Creates and clones companies."""
        from agentco_tui.actions.companies import CompanyWriter  # noqa: PLC0415

        return CompanyWriter(self.desk)

    @cached_property
    def limits(self) -> LimitSetter:
        """Sets the agents' limits."""
        from agentco_tui.actions.limit import LimitSetter  # noqa: PLC0415

        return LimitSetter(self.desk)
