"""Finds out whose budget `Platform.budget` has returned: that of all companies together, or of one.

The platform is the remote service that runs companies of AI agents. The budget that was returned is
called the whole here. Some platforms answer with the budget of one
company, for instance of the one that the key belongs to. It must not be shown as the total, nor a
second time next to the company's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Final

from agentco_tui.model import Budget, Company, Money, extra_fields

LEAST_SHARE_OF_TOTAL: Final = Decimal("0.9")
"""A budget of which less was spent than this share of what the companies spent is no total: more
can't have been spent between the answers."""
MOST_BETWEEN_ANSWERS: Final = Decimal("0.05")
"""The share by which two answers about one budget differ at most, for what was spent meanwhile."""


def company_of_whole(
    whole: Budget, companies: Mapping[str, Company], company_budgets: Mapping[str, Budget]
) -> str | None:
    """The id of the company whose budget `whole` is; None as long as it may be the total.

    It is a company's if it has the company's id or name; if there is only that company, and the
    limits are the same; or if it has a company's limit, or no limit and a company's spending, and
    lacks what the others have spent.
    """
    # An id that came with the whole is among the fields that the decoder did not understand.
    sent_id = extra_fields(whole.extra).get("id")
    if sent_id is not None and (str(sent_id) in companies or str(sent_id) in company_budgets):
        return str(sent_id)
    named = _company_with_name(whole, companies, company_budgets)
    if named is not None:
        return named
    if len(company_budgets) == 1 and len(companies) <= 1:
        [only] = company_budgets.values()
        return only.id if _is_same_limit(whole, only) else None
    for budget in company_budgets.values():
        others = [each for each in company_budgets.values() if each.id != budget.id]
        if _is_same_limit(whole, budget) and _lacks_others_spending(whole, budget, others):
            return budget.id
    is_without_limit = whole.limit is None
    for budget in company_budgets.values():
        others = [each for each in company_budgets.values() if each.id != budget.id]
        is_alike = is_without_limit and _is_about_the_same(whole.spent, budget.spent)
        if is_alike and _lacks_others_spending(whole, budget, others):
            return budget.id
    return None


def is_less_than_companies(whole: Budget, company_budgets: Iterable[Budget]) -> bool:
    """Whether less was spent of a budget than of those of the companies together, so that it is
    not the total. Budgets of another period are not compared.
    """
    comparable = [each for each in company_budgets if each.period == whole.period]
    if whole.spent is None or not comparable:
        return False
    return whole.spent.amount < spent_together(comparable) * LEAST_SHARE_OF_TOTAL


def has_figures(budget: Budget) -> bool:
    """Whether a budget says what was spent, what may be, or what is left."""
    figures = (budget.spent, budget.limit, budget.remaining, budget.share)
    return budget.unlimited or any(figure is not None for figure in figures)


def _company_with_name(
    whole: Budget, companies: Mapping[str, Company], company_budgets: Mapping[str, Budget]
) -> str | None:
    """The id of the only company that has the name which was sent with a budget."""
    if not whole.name:
        return None
    named: list[Company | Budget] = [*companies.values(), *company_budgets.values()]
    ids = {each.id for each in named if each.name and each.name.casefold() == whole.name.casefold()}
    return ids.pop() if len(ids) == 1 else None


def _lacks_others_spending(whole: Budget, budget: Budget, others: Iterable[Budget]) -> bool:
    """Whether a budget that is like a company's has only what that company has spent.

    The two figures come with two answers, so some spending lies between them.
    """
    if whole.spent is None:
        # Nothing shows that it has more than the company of the same limit.
        return True
    if budget.spent is None:
        return False
    margin = spent_together(others) / 2
    if margin == 0:
        # Whether it is the total or the company's makes no difference as long as they are equal.
        return _is_about_the_same(whole.spent, budget.spent)
    return whole.spent.amount < budget.spent.amount + margin


def spent_together(budgets: Iterable[Budget]) -> Decimal:
    return sum((each.spent.amount for each in budgets if each.spent is not None), Decimal(0))


def _is_same_limit(one: Budget, other: Budget) -> bool:
    # unlimited: the platform said that there is no limit; else a limit of None was not sent.
    if one.unlimited or other.unlimited:
        return one.unlimited and other.unlimited
    if one.limit is None or other.limit is None:
        is_spending_known = one.spent is not None and other.spent is not None
        return one.limit is other.limit and is_spending_known
    return one.limit.amount == other.limit.amount and _is_same_currency(one.limit, other.limit)


def _is_about_the_same(one: Money | None, other: Money | None) -> bool:
    if one is None or other is None or not _is_same_currency(one, other):
        return False
    return abs(one.amount - other.amount) <= MOST_BETWEEN_ANSWERS * max(one.amount, other.amount)


def _is_same_currency(one: Money, other: Money) -> bool:
    return one.currency is None or other.currency is None or one.currency == other.currency
