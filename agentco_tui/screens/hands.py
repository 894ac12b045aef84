"""Everything that changes the platform, made once for a dashboard."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from agentco_tui.actions.approve import Approver
from agentco_tui.actions.companies import CompanyWriter
from agentco_tui.actions.create_task import TaskCreator
from agentco_tui.actions.desk import Desk
from agentco_tui.actions.limit import LimitSetter
from agentco_tui.actions.rights import Rights


@dataclass(frozen=True, slots=True)
class Hands:
    """One action each."""

    desk: Desk
    approver: Approver
    tasks: TaskCreator
    companies: CompanyWriter
    limits: LimitSetter

    @classmethod
    def at(cls, desk: Desk) -> Self:
        """All actions on one desk."""
        return cls(desk, Approver(desk), TaskCreator(desk), CompanyWriter(desk), LimitSetter(desk))

    @property
    def rights(self) -> Rights:
        """What may be written."""
        return self.desk.rights
