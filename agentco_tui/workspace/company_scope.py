"""The company in scope: whether it exists, which records belong to it, and how screens name it.

The user may limit the whole program to one company, by its id or its name. That company is the
scope; without one, the records of all companies are shown. A list of a company that does not exist
would be empty, and would look like good news: this file is asked before such an emptiness is shown.

A feed is one list that is polled, such as that of the companies. The store has the records that
feeds brought; its `freshness` has for each feed the `Phase`: LOADING before the first answer, LIVE,
STALE (data, but the last poll failed) or FAILED (no data). `Names` looks up the names of ids.
"""

from __future__ import annotations

from collections.abc import Callable

from agentco_tui.config import Settings
from agentco_tui.keys.commands import shown_key
from agentco_tui.live.feeds import FeedName, Phase
from agentco_tui.live.names import Names, records_named
from agentco_tui.live.store import Store
from agentco_tui.model import Agent, Budget, Record, Task
from agentco_tui.text import SafeText, clean_line, mark_safe


class CompanyScope:
    """The company that everything is shown of."""

    def __init__(
        self,
        store: Store,
        names: Names,
        company: Callable[[], str | None],
        settings: Callable[[], Settings],
    ) -> None:
        """`company` returns the id or name of the company in scope, None for all companies.

        `settings` returns the settings in effect.
        """
        self._store = store
        self._names = names
        self._company = company
        self._settings = settings

    def phase(self) -> Phase:
        """Return whether the company in scope exists.

        LIVE if it does, or if the scope is all companies; FAILED if it does not; LOADING until that
        is known; STALE if it cannot be known, as from an incomplete list of companies.
        """
        company = self._company()
        companies = self._store.companies
        if company is None or company in companies.records:
            return Phase.LIVE
        phase = self._store.freshness[FeedName.COMPANIES].phase
        if phase is Phase.LOADING or len(records_named(company, companies)) == 1:
            # One company has that name: the workspace is about to put its id in place of the name.
            return Phase.LOADING
        # A listing is whole if it has every company that exists, all pages of it.
        is_missing = phase is not Phase.FAILED and companies.listing.whole
        return Phase.FAILED if is_missing else Phase.STALE

    def allows_counts(self) -> bool:
        """Whether a count of zero can be believed: the company exists, or probably does."""
        return self.phase() in (Phase.LIVE, Phase.STALE)

    def includes(self, task: Task) -> bool:
        """Whether a task that waits must be in the lists shown.

        False if its company is unknown while one company is in scope.
        """
        scope = self._company()
        if scope is None:
            return True
        company = self._names.company_of(task)
        return company is not None and company.id == scope

    def error(self) -> SafeText | None:
        """Return the sentence that no such company exists, or several; None if all is well."""
        company = self._company()
        if company is None or self.phase() is not Phase.FAILED:
            return None
        settings = self._settings()
        shown = clean_line(company, 60)
        matches = len(records_named(company, self._store.companies))
        if matches:
            words = f"{matches} companies have the name {shown}: say which by its id"
        else:
            words = f"no company has the name or id {shown}"
        if company == settings.company:
            # Where the setting comes from, such as "config file, config.toml:6".
            source = settings.sources.get("company", "--company")
            words += f" ({source.partition(',')[0]})"
        key = shown_key("company.unscope", settings.keys)  # "0", or as the user has bound it
        if key:
            words += f"; {key} shows all companies"
        return mark_safe(words)

    def nothing(self, words: str) -> SafeText:
        """Return `words`, which say that a list is empty, with the name of the company in scope.

        For "no tasks wait" that is "no tasks wait in Acme".
        """
        company = self._company()
        if company is None:
            return mark_safe(words)
        phase = self.phase()
        if phase is Phase.FAILED:
            return mark_safe("there is no such company")
        doubt = "" if phase is Phase.LIVE else ", if there is such a company"
        return mark_safe(f"{words} in {self._names.scope(company)}{doubt}")

    def title_with_company(self, title: SafeText, record: Record | None) -> SafeText:
        """Return the title of a record, followed by its company if several companies are shown."""
        shows_several = self._company() is None and len(self._store.companies) > 1
        if not shows_several or not isinstance(record, Task | Agent | Budget):
            return title
        company = self._names.company_of(record)
        if not company:
            return title
        return mark_safe(f"{title} ({self._names.company(company)})")
