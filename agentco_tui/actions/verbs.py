"""What can be done to the platform from here."""

from __future__ import annotations

from enum import StrEnum

from agentco_tui.text import SafeText, plain


class Verb(StrEnum):
    """Every write there is, by the word that stands in the journal."""

    APPROVE = "approve"
    CREATE_TASK = "create task"
    CREATE_COMPANY = "create company"
    CLONE_COMPANY = "clone company"
    SET_LIMIT = "set limit"

    @property
    def words(self) -> SafeText:
        """The verb within a sentence: "this key may not … "."""
        return plain(_WORDS[self])


_WORDS = {
    Verb.APPROVE: "approve tasks",
    Verb.CREATE_TASK: "create tasks",
    Verb.CREATE_COMPANY: "create companies",
    Verb.CLONE_COMPANY: "clone companies",
    Verb.SET_LIMIT: "set limits",
}
