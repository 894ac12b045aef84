"""Whose budget `/api/budget` answered with: that of all companies, or of one.

Some platforms answer with the budget of one company, for instance of the one that the key belongs
to. It must not be shown as the total, nor a second time next to the company's own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal

from agentco_tui.model import Budget, Company, Money, extra_fields


def company_of_whole(
    whole: Budget, companies: Mapping[str, Company], company_budgets: Mapping[str, Budget]
) -> str | None:
    """The id of the company whose budget `whole` is; None as long as it may be the total.

    It is a company's if it has the company's id; if there is only that company, and the limits are
    the same; or if it has a company's limit and lacks what the others have spent. Spending itself
    is not compared for equality: the two figures come with two answers.
    """
    sent_id = extra_fields(whole.extra).get("id")
    if sent_id is not None and (str(sent_id) in companies or str(sent_id) in company_budgets):
        return str(sent_id)
    if len(company_budgets) == 1 and len(companies) <= 1:
        [only] = company_budgets.values()
        return only.id if _is_same_limit(whole, only) else None
    if whole.limit is None or whole.spent is None:
        return None
    for budget in company_budgets.values():
        if budget.spent is not None and _is_same_limit(whole, budget):
            others = spent_together(
                each for each in company_budgets.values() if each.id != budget.id
            )
            if others > 0 and whole.spent.amount < budget.spent.amount + others / 2:
                return budget.id
    return None


def spent_together(budgets: Iterable[Budget]) -> Decimal:
    return sum((each.spent.amount for each in budgets if each.spent is not None), Decimal(0))


def _is_same_limit(one: Budget, other: Budget) -> bool:
    if one.unlimited or other.unlimited:
        return one.unlimited and other.unlimited
    if one.limit is None or other.limit is None:
        is_spending_known = one.spent is not None and other.spent is not None
        return one.limit is other.limit and is_spending_known
    return one.limit.amount == other.limit.amount and _is_same_currency(one.limit, other.limit)


def _is_same_currency(one: Money, other: Money) -> bool:
    return one.currency is None or other.currency is None or one.currency == other.currency
