"""Whose budget a row is: the whole platform's, a company's or an agent's.

A row may name several: itself, the budget, a company, an agent, a person who made it. Each group of
fields that may name the owner is a `_Claim`. The name of the list decides which claims come first,
and the best one that has an id is used. If it may be the id of something else, the claim carries an
`IdDoubt` (see `reading.identity`), and no write names the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from agentco_tui.model import BudgetScope, IdDoubt, Ref
from agentco_tui.reading.field_names import fold, word_set
from agentco_tui.reading.identity import (
    COMPANY_IDS,
    doubt,
    doubt_of_name,
    field_name,
    is_mapped,
    subject_of,
)
from agentco_tui.reading.kinds.common_fields import ref_of
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.schema import DecodeContext, Row, UnreadableRecord, Values
from agentco_tui.reading.values.reference import COMPANY, joined, to_id, typed_ref
from agentco_tui.reading.values.scalar import named, text_only
from agentco_tui.reading.values.status_word import fold_word
from agentco_tui.text.memoized import memoized

WHOLE_ID: Final = "all"
"""The id of the whole platform's budget, which has no record of its own."""
AGENT: Final = "agent assistant worker bot employee member"
AGENT_NAMES: Final = "agent ai_agent assistant bot"
"""Names that say of an id that it is an agent's; a worker may be a machine, a member a person."""
OWNER: Final = f"{COMPANY} team"
"""What the company that has a budget is called; LiteLLM has teams."""
SCOPES: Final = {
    **dict.fromkeys(OWNER.split(), BudgetScope.COMPANY),
    **dict.fromkeys((*AGENT.split(), "user"), BudgetScope.AGENT),
}
SCOPE_FIELDS: Final = (
    Field("scope_type", """
        {scope,entity,resource,target,subject,owner}_type {,budget_}scope  # paperclip, GitHub
        """, text_only),
    Field("scope_id", "{scope,entity,resource,target,subject}_id  # paperclip", to_id),
    Field("scope_name", "{scope,entity,resource,target,subject}_name  # paperclip", named),
)  # fmt: skip
"""Whom a budget, or an alert, is for."""

NAMELESS: Final = "a budget without the id of what it is for"
_OF_BUDGETS: Final = word_set("budgets budget policies limits rules caps controls")
"""Names of lists whose rows are budgets: an `id` in them is the budget's own."""
_OF_OWNERS: Final = {
    BudgetScope.AGENT: word_set(
        """agents agent byagent peragent aiagents assistants workers bots employees members staff
        workforce roster crew"""
    ),
    BudgetScope.COMPANY: word_set(
        """companies company bycompany percompany organizations organisations orgs workspaces
        tenants accounts teams"""
    ),
}
"""Names of lists whose rows are the agents or the companies themselves: an `id` is theirs."""
_AGENT_WORDS: Final = word_set(AGENT_NAMES)
_OUTER: Final = word_set("account tenant customer")
"""What may hold several companies: its id identifies none of them."""


def scope_of(values: Values, scope: BudgetScope) -> BudgetScope:
    """What a record says it is for; a whole that names a company or an agent is theirs."""
    told = SCOPES.get(fold_word(str(values.get("scope_type") or "")), scope)
    if told is BudgetScope.ALL:
        for owner in (BudgetScope.AGENT, BudgetScope.COMPANY):
            if not values.keys().isdisjoint((f"{owner}_id", f"{owner}_name", owner.value)):
                return owner
    return told


class _Claim(NamedTuple):
    """What one group of fields says a budget is for."""

    ref: Ref
    slots: tuple[str, ...]
    """The slots of the group."""
    doubt: IdDoubt | None = None
    """Why the id in it may be that of something else."""


_NO_CLAIM: Final = _Claim(Ref(), ())
_SCOPE_SLOTS: Final = ("scope_id", "scope_name")
_OF_OTHERS: Final = frozenset(
    ("scope_id", "owner", "owner_id", "owner_name", "person", "person_id", "person_name")
)


class Owner(NamedTuple):
    """Whose budget a row is."""

    ref: Ref
    company: Ref | None
    doubt: IdDoubt | None
    unused_slots: tuple[str, ...] = ()
    """Slots of others whom the row names; their fields stay unread."""


def owner_of(row: Row, context: DecodeContext, scope: BudgetScope) -> Owner:
    """The owner of a budget, and the company it belongs to.

    Raises UnreadableRecord if no field says whose budget it is.

    A row's own id is the owner's where its list is one of owners, and never where it is one of
    budgets. In other lists it is, too, and in doubt beside the id of somebody else who may be the
    owner. A person who made a budget or answers for it is never preferred to the row itself.
    """
    values = row.values
    if scope is BudgetScope.ALL:
        # Its own id is kept: it may be that of one company, whose budget this is then.
        return Owner(Ref(WHOLE_ID, values.get("name")), None, None, ("id",))
    company = ref_of(values, "company", context)
    list_name = fold(context.path)
    is_owner = list_name in _OF_OWNERS[scope]
    is_budget = not is_owner and (list_name in _OF_BUDGETS or _is_its_own_budget(values))
    named = _named(row, context, scope)
    scoped = _scoped(row)
    others = [] if _OF_OTHERS.isdisjoint(values) else [*_untyped(row, context, scope)]
    own = _Claim(Ref(values.get("id"), values.get("name")), ("id",))
    key = _Claim(Ref(context.key, values.get("name")), ())
    claims: list[_Claim] = []
    mapped = [each for each in (own, named, *others) if _is_mapped(row, each)]
    if mapped:
        claims = [mapped[0], own, named, scoped]
    elif is_owner:
        is_explicit = _subject(row, scope.value) == scope.value
        claims = [named, own, key, scoped] if is_explicit else [own, key, named, scoped]
    elif is_budget:
        claims = _claims_of_a_budget(row, _Claims(own, key, named, scoped, others))
    else:
        claims = _claims_of_a_row(row, scope, _Claims(own, key, named, scoped, others))
    claims += [each for each in others if each not in claims]
    if mapped:
        claims[0] = claims[0]._replace(doubt=None)
    found = next((each for each in claims if each.ref.id is not None), None)
    if found is not None:
        nameless = (each.ref for each in (named, scoped) if each.ref.id is None)
        other_slots = [slot for each in claims if each is not found for slot in each.slots]
        ref = joined(Ref(found.ref.id), *nameless, found.ref, Ref(None, values.get("name")))
        assert ref is not None
        ref = context.named(ref) or ref
        return Owner(ref, company, found.doubt, tuple(other_slots))
    others = [named, scoped, *others]
    name = next((each.ref.name for each in others if each.ref.name), None)
    if name is None and not is_budget:
        name = values.get("name")
    if name is None and "id" not in values:
        name = values.get("budget_name")
    if name is None:
        raise UnreadableRecord(NAMELESS)
    return Owner(Ref(None, name), company, doubt("it has a name, and no id"))


class _Claims(NamedTuple):
    """All that one row says of what it is for."""

    own: _Claim
    """Its own id."""
    key: _Claim
    """The key of the map that it stood in."""
    named: _Claim
    scoped: _Claim
    others: Sequence[_Claim]


def _claims_of_a_budget(row: Row, claims: _Claims) -> list[_Claim]:
    """Who may be the owner of a row in a list of budgets, best first; mostly not the row itself."""
    own, key, named, scoped, others = claims
    certain = [each for each in (named, scoped) if each.doubt is None]
    doubtful = [each for each in (named, *others) if each.doubt is not None]
    if doubtful and own.ref.id is not None and own.ref.name is not None:
        # Whom it names may be somebody else, and the row, which has a name, the owner itself.
        own = own._replace(doubt=_unclear(row, doubtful[0]))
        return [*certain, own, *doubtful, key]
    return [*certain, *doubtful, key]


def _claims_of_a_row(row: Row, scope: BudgetScope, claims: _Claims) -> list[_Claim]:
    """Who may be the owner of a row in a list whose name says nothing, best first.

    Of a company's row an account, tenant or customer is what it belongs to; whether a team or an
    organization is the company itself is not known.
    """
    own, key, named, scoped, others = claims
    rivals = [each for each in others if _is_rival(each, own, key)]
    level = _subject(row, "company")
    is_of_another_level = (
        scope is BudgetScope.COMPANY and level != "company" and _is_rival(named, own, key)
    )
    if is_of_another_level and level not in _OUTER:
        rivals = [named]
    if rivals:
        why = _unclear(row, rivals[0])
        own = own._replace(doubt=why)
        key = key._replace(doubt=why)
    return [scoped, own, key, named] if is_of_another_level else [named, scoped, own, key]


def _is_its_own_budget(values: Values) -> bool:
    """Whether a row has the id of a budget and none of its own that differs: it is that budget."""
    return "budget_id" in values and values.get("id", values["budget_id"]) == values["budget_id"]


def _is_mapped(row: Row, claim: _Claim) -> bool:
    """Whether a profile's mapping says where the id of a claim is; then it decides."""
    if claim.ref.id is None:
        return False
    return any(is_mapped(row, slot) for slot in claim.slots if not slot.endswith("_name"))


def _subject(row: Row, slot: str) -> str:
    """What the name of the field that a reference is from says it to be: "agent" of `agent_id`."""
    for each in (f"{slot}_id", slot):
        if each in row.values:
            name = row.source(each).name.rpartition(".")[2]
            return subject_of(name) or fold(name)
    return ""


@memoized(16)
def _ref_slots(slot: str) -> tuple[str, ...]:
    """The slots of `references`."""
    return (f"{slot}_id", slot, f"{slot}_name")


def _named(row: Row, context: DecodeContext, scope: BudgetScope) -> _Claim:
    """The owner under a name that says what it identifies: `agent_id` in an agent's budget."""
    if scope is BudgetScope.AGENT:
        ref = ref_of(row.values, "agent", context) or Ref()
        return _Claim(ref, _ref_slots("agent"))
    slot = "company"
    if "inner_id" in row.values and _subject(row, slot) != slot:
        slot = "inner"
    ref = ref_of(row.values, slot, context) or Ref()
    found = None
    if ref.id is not None and not is_mapped(row, f"{slot}_id"):
        subject = _subject(row, slot)
        if f"{slot}_id" in row.values:
            found = doubt_of_name(row, row.source(f"{slot}_id"), COMPANY_IDS, context.path)
        if subject in _OUTER and fold(context.path).removesuffix("s") != subject:
            found = doubt(f"its only id is that of its {subject}, which may hold several")
    return _Claim(ref, _ref_slots(slot), found)


def _scoped(row: Row) -> _Claim:
    """The owner by fields that tell its type and its id: `scope_type` and `scope_id`.

    Without an id where the type is not told by the field's twin, or is none of an agent or company.
    """
    values = row.values
    if "scope_id" not in values and "scope_name" not in values:
        return _NO_CLAIM
    name_only = _Claim(Ref(None, values.get("scope_name")), ("scope_name",))
    if "scope_id" not in values or "scope_type" not in values:
        return name_only if "scope_id" not in values else _NO_CLAIM
    told = fold_word(str(values["scope_type"]))
    named = row.source("scope_type").name.removesuffix("_type").removeprefix("budget_")
    is_twin = row.source("scope_id").name == f"{named}_id"
    if is_twin and (told in _AGENT_WORDS or SCOPES.get(told) is BudgetScope.COMPANY):
        ref = Ref(values["scope_id"], values.get("scope_name"))
        return _Claim(ref, ("scope_id", "scope_name", "scope_type"))
    return _NO_CLAIM


def _untyped(row: Row, context: DecodeContext, scope: BudgetScope) -> Iterator[_Claim]:
    """Those who may be the owner, or a person or a parent beside it, best first; each in doubt."""
    values = row.values
    if _scoped(row).ref.id is None and "scope_id" in values:
        why = _unproven(row, "scope_id", scope)
        yield _Claim(Ref(values["scope_id"], values.get("scope_name")), _SCOPE_SLOTS, why)
    for slot in ("owner", "person"):
        ref = ref_of(values, slot, context)
        if ref is None or (slot == "person" and scope is not BudgetScope.AGENT):
            continue
        source = f"{slot}_id" if f"{slot}_id" in values else slot
        is_proven = source not in values or is_mapped(row, source)
        if slot == "owner":
            is_proven = is_proven or _is_typed_owner(row, scope)
        else:
            # In a list of workers or members that is what agents are called.
            is_proven = is_proven or fold(context.path) == f"{_subject(row, slot)}s" != "users"
        yield _Claim(ref, _ref_slots(slot), None if is_proven else _unproven(row, source, scope))


def _is_typed_owner(row: Row, scope: BudgetScope) -> bool:
    """Whether the owner says itself that it is an agent: by `owner_type`, or by a type inside."""
    values = row.values
    words = _AGENT_WORDS if scope is BudgetScope.AGENT else word_set(OWNER)
    if "scope_type" in values and row.source("scope_type").name == "owner_type":
        return "owner_id" in values and fold_word(str(values["scope_type"])) in words
    if "owner" not in values or "owner_id" in values:
        return False
    raw = row.obj[row.source("owner").key]
    told = typed_ref(raw)
    return told is not None and told[0] == scope.value and fold(str(raw.get("type", ""))) in words


def _unproven(row: Row, slot: str, scope: BudgetScope) -> IdDoubt:
    """The doubt about an id under a name that does not say what it identifies."""
    name = field_name(row.source(slot))
    return doubt(f"its only id is in {name}, which need not be the {scope.value}'s")


def _unclear(row: Row, rival: _Claim) -> IdDoubt:
    """The doubt about a row's own id beside that of somebody who may be the owner."""
    slot = next(slot for slot in rival.slots if slot in row.values)
    name = field_name(row.source(slot))
    return doubt(f"whether its own id or {name} is whom the budget is for is not known")


def _is_rival(claim: _Claim, own: _Claim, key: _Claim) -> bool:
    """Whether this may be the owner, and the row's own id the budget's."""
    is_person = "person" in claim.slots
    row_id = own.ref.id or key.ref.id
    return not is_person and row_id is not None and claim.ref.id not in (None, row_id)
