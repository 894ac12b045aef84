"""Whose budget a row is: the whole platform's, a company's or an agent's.

The platform is the remote service with companies of AI agents. A row (one object of a list) of an
answer may name several records: itself, the budget, a company, an agent, a person who made it. Each
group of fields that may name the owner is a `_Claim`. The name of the list decides which claims
come first, and the best one that has an id is used. If it may be the id of something else, the
claim has an `IdDoubt` (see `reading.identity`), and no write, that is, no request that changes the
budget, names the row. A profile's mapping are the names that the user has declared.

A *slot* is our name of a field ("agent_id"); `Row.values` holds the values of a row by slot, and
`Row.source(slot).name` is the platform's name of the field. A `Ref` is an id, a name, or both.
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
from agentco_tui.reading.values.reference import COMPANY, join_refs, to_id, typed_ref
from agentco_tui.reading.values.scalar import to_name, to_text_only
from agentco_tui.reading.values.status_word import snake_case
from agentco_tui.text.memoized import memoized

WHOLE_ID: Final = "all"
"""The id of the whole platform's budget, which has no record of its own."""
AGENT: Final = "agent assistant worker bot employee member"
"""Names of an agent in a budget or an alert."""
AGENT_NAMES: Final = "agent ai_agent assistant bot"
"""Those names by which an id is surely an agent's; a worker may be a machine, a member a person."""
OWNER: Final = f"{COMPANY} team"
"""Names of the company that has a budget; LiteLLM has teams."""
BUDGET_OWNER_TYPES: Final = {
    **dict.fromkeys(OWNER.split(), BudgetScope.COMPANY),
    **dict.fromkeys((*AGENT.split(), "user"), BudgetScope.AGENT),
}
"""Whether a company or an agent owns a budget, by the word under a name such as `scope_type`."""
SCOPE_FIELDS: Final = (
    Field("scope_type", """
        {scope,entity,resource,target,subject,owner}_type {,budget_}scope  # paperclip, GitHub
        """, to_text_only),
    Field("scope_id", "{scope,entity,resource,target,subject}_id  # paperclip", to_id),
    Field("scope_name", "{scope,entity,resource,target,subject}_name  # paperclip", to_name),
)  # fmt: skip
"""The fields of a typed reference to the owner of a budget or the subject of an alert."""

NAMELESS: Final = "a budget without the id of what it is for"
"""The reason shown for a row that names no owner."""
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
"""Names of records that may hold several companies, so that their ids identify none of them."""


def scope_of(values: Values, scope: BudgetScope) -> BudgetScope:
    """Whether a budget is the whole platform's, a company's or an agent's.

    `scope` is what its list says. A record's own type takes precedence; a budget of the whole that
    names a company or an agent is theirs.
    """
    own_scope = BUDGET_OWNER_TYPES.get(snake_case(str(values.get("scope_type") or "")), scope)
    if own_scope is BudgetScope.ALL:
        for owner in (BudgetScope.AGENT, BudgetScope.COMPANY):
            if not values.keys().isdisjoint((f"{owner}_id", f"{owner}_name", owner.value)):
                return owner
    return own_scope


class _Claim(NamedTuple):
    """The owner of a budget according to one group of fields."""

    ref: Ref
    """Without an id and a name if the row has none of these fields."""
    slots: tuple[str, ...]
    """The slots of the group."""
    doubt: IdDoubt | None = None
    """Why the id in it may be that of something else; None if it is the owner's."""


_NO_CLAIM: Final = _Claim(Ref(), ())
_SCOPE_SLOTS: Final = ("scope_id", "scope_name")
_OF_OTHERS: Final = frozenset(
    ("scope_id", "owner", "owner_id", "owner_name", "person", "person_id", "person_name")
)
"""The slots of `_other_claims`."""


class Owner(NamedTuple):
    """Whose budget a row is."""

    ref: Ref
    company: Ref | None
    doubt: IdDoubt | None
    unused_slots: tuple[str, ...] = ()
    """Slots of others that the row names; their fields stay unread."""


def owner_of(row: Row, context: DecodeContext, scope: BudgetScope) -> Owner:
    """The owner of a budget, and the company it belongs to.

    Raises UnreadableRecord if no field says whose budget it is.

    `context.path` is the name of the list that the row is in, and `scope` what its budgets are for.
    In a list of owners ("agents") a row's own id is the owner's, in a list of budgets never. In
    other lists it is the owner's, too, but in doubt if another id may be. A person who made a
    budget or is responsible for it is never preferred to the row itself.
    """
    values = row.values
    if scope is BudgetScope.ALL:
        # Its own id is kept: it may be that of one company, whose budget this is then.
        return Owner(Ref(WHOLE_ID, values.get("name")), None, None, ("id",))
    company = ref_of(values, "company", context)
    list_name = fold(context.path)
    is_owner = list_name in _OF_OWNERS[scope]
    is_budget = not is_owner and (list_name in _OF_BUDGETS or _is_its_own_budget(values))
    explicit = _explicit_claim(row, context, scope)
    scoped = _scope_claim(row)
    own = _Claim(Ref(values.get("id"), values.get("name")), ("id",))
    # context.key: the key of the record if the answer has a map of records, not a list
    key = _Claim(Ref(context.key, values.get("name")), ())
    others: list[_Claim] = []
    if not _OF_OTHERS.isdisjoint(values):
        others = list(_other_claims(row, context, scope))
    claims: list[_Claim]
    mapped = [claim for claim in (own, explicit, *others) if _is_mapped(row, claim)]
    if mapped:
        claims = [mapped[0]._replace(doubt=None), own, explicit, scoped]
        others = [claim for claim in others if claim is not mapped[0]]
    elif is_owner and _subject(row, scope.value) == scope.value:
        claims = [explicit, own, key, scoped]
    elif is_owner:
        claims = [own, key, explicit, scoped]
    elif is_budget:
        claims = _claims_of_a_budget(row, _Claims(own, key, explicit, scoped, others))
    else:
        claims = _claims_of_a_row(row, scope, _Claims(own, key, explicit, scoped, others))
    claims += [claim for claim in others if claim not in claims]
    with_id = [claim for claim in claims if claim.ref.id is not None]
    if with_id:
        best = with_id[0]
        names = (claim.ref for claim in (explicit, scoped) if claim.ref.id is None)
        other_slots = [slot for claim in claims if claim is not best for slot in claim.slots]
        ref = join_refs(Ref(best.ref.id), *names, best.ref, Ref(None, values.get("name")))
        assert ref is not None
        ref = context.with_name(ref) or ref
        return Owner(ref, company, best.doubt, tuple(other_slots))
    sent_names = [claim.ref.name for claim in (explicit, scoped, *others) if claim.ref.name]
    name = next(iter(sent_names), None)
    if name is None and not is_budget:
        name = values.get("name")
    if name is None and "id" not in values:
        name = values.get("budget_name")
    if name is None:
        raise UnreadableRecord(NAMELESS)
    return Owner(Ref(None, name), company, doubt("it has a name, and no id"))


class _Claims(NamedTuple):
    """All the claims in one row."""

    own: _Claim
    """The row's own id."""
    key: _Claim
    """The row's key, if it came in a map."""
    explicit: _Claim
    """See `_explicit_claim`."""
    scoped: _Claim
    """See `_scope_claim`."""
    others: Sequence[_Claim]
    """See `_other_claims`."""


def _claims_of_a_budget(row: Row, claims: _Claims) -> list[_Claim]:
    """The claims of a row in a list of budgets, best first; its own id is mostly the budget's."""
    own, key, explicit, scoped, others = claims
    certain = [claim for claim in (explicit, scoped) if claim.doubt is None]
    doubtful = [claim for claim in (explicit, *others) if claim.doubt is not None]
    if doubtful and own.ref.id is not None and own.ref.name is not None:
        # The row has a name, so it may be the owner itself, and the doubtful id someone else's.
        own = own._replace(doubt=_doubt_of_own_id(row, doubtful[0]))
        return [*certain, own, *doubtful, key]
    return [*certain, *doubtful, key]


def _claims_of_a_row(row: Row, scope: BudgetScope, claims: _Claims) -> list[_Claim]:
    """The claims of a row in a list whose name says nothing about its rows, best first.

    In a company's budget, an account, tenant or customer is what the company belongs to. A team or
    an organization may be the company itself, so the row's own id is in doubt beside it.
    """
    own, key, explicit, scoped, others = claims
    rivals = [each for each in others if _is_rival(each, own, key)]
    level = _subject(row, "company")
    is_of_another_level = (
        scope is BudgetScope.COMPANY and level != "company" and _is_rival(explicit, own, key)
    )
    if is_of_another_level and level not in _OUTER:
        rivals = [explicit]
    if rivals:
        why = _doubt_of_own_id(row, rivals[0])
        own = own._replace(doubt=why)
        key = key._replace(doubt=why)
    if is_of_another_level:
        return [scoped, own, key, explicit]
    return [explicit, scoped, own, key]


def _is_its_own_budget(values: Values) -> bool:
    """Whether a row has the id of a budget and none of its own that differs: it is that budget."""
    return "budget_id" in values and values.get("id", values["budget_id"]) == values["budget_id"]


def _is_mapped(row: Row, claim: _Claim) -> bool:
    """Whether the id of a claim is from a path in the profile's mapping, which then decides."""
    if claim.ref.id is None:
        return False
    return any(is_mapped(row, slot) for slot in claim.slots if not slot.endswith("_name"))


def _subject(row: Row, slot: str) -> str:
    """The kind of record that a reference is to, by the name of its field: "agent" of `agent_id`.

    `slot` is that of the reference; "" if the row has none.
    """
    for reference_slot in (f"{slot}_id", slot):
        if reference_slot in row.values:
            name = row.source(reference_slot).name.rpartition(".")[2]
            return subject_of(name) or fold(name)
    return ""


@memoized(16)
def _ref_slots(slot: str) -> tuple[str, ...]:
    """The slots of `common_fields.reference_fields`."""
    return (f"{slot}_id", slot, f"{slot}_name")


def _explicit_claim(row: Row, context: DecodeContext, scope: BudgetScope) -> _Claim:
    """The owner under a name that says what it identifies: `agent_id` in an agent's budget."""
    if scope is BudgetScope.AGENT:
        ref = ref_of(row.values, "agent", context) or Ref()
        return _Claim(ref, _ref_slots("agent"))
    slot = "company"
    if "inner_id" in row.values and _subject(row, slot) != slot:
        slot = "inner"
    ref = ref_of(row.values, slot, context) or Ref()
    id_doubt: IdDoubt | None = None
    if ref.id is not None and not is_mapped(row, f"{slot}_id"):
        subject = _subject(row, slot)
        if f"{slot}_id" in row.values:
            id_doubt = doubt_of_name(row, row.source(f"{slot}_id"), COMPANY_IDS, context.path)
        if subject in _OUTER and fold(context.path).removesuffix("s") != subject:
            id_doubt = doubt(f"its only id is that of its {subject}, which may hold several")
    return _Claim(ref, _ref_slots(slot), id_doubt)


def _scope_claim(row: Row) -> _Claim:
    """The owner by a pair of fields for its type and its id, such as `scope_type` and `scope_id`.

    An id counts only if its own pair says the type, and this is an agent or a company:
    `entity_type` says nothing about `scope_id`.
    """
    values = row.values
    if "scope_id" not in values and "scope_name" not in values:
        return _NO_CLAIM
    name_only = _Claim(Ref(None, values.get("scope_name")), ("scope_name",))
    if "scope_id" not in values:
        return name_only
    if "scope_type" not in values:
        return _NO_CLAIM
    type_word = snake_case(str(values["scope_type"]))
    is_owner_type = (
        type_word in _AGENT_WORDS or BUDGET_OWNER_TYPES.get(type_word) is BudgetScope.COMPANY
    )
    stem = row.source("scope_type").name.removesuffix("_type").removeprefix("budget_")
    is_pair = row.source("scope_id").name == f"{stem}_id"
    if is_pair and is_owner_type:
        ref = Ref(values["scope_id"], values.get("scope_name"))
        return _Claim(ref, ("scope_id", "scope_name", "scope_type"))
    return _NO_CLAIM


def _other_claims(row: Row, context: DecodeContext, scope: BudgetScope) -> Iterator[_Claim]:
    """The claims of fields whose names do not say what they identify, best first.

    They may name the owner, a person who is responsible for it, or a parent. Each is in doubt
    unless something else in the row proves it.
    """
    values = row.values
    if _scope_claim(row).ref.id is None and "scope_id" in values:
        why = _doubt_of_unproven(row, "scope_id", scope)
        yield _Claim(Ref(values["scope_id"], values.get("scope_name")), _SCOPE_SLOTS, why)
    for slot in ("owner", "person"):
        ref = ref_of(values, slot, context)
        if ref is None or (slot == "person" and scope is not BudgetScope.AGENT):
            continue
        source = slot
        if f"{slot}_id" in values:
            source = f"{slot}_id"
        is_proven = source not in values or is_mapped(row, source)
        if slot == "owner":
            is_proven = is_proven or _is_typed_owner(row, scope)
        else:
            # In a list of workers or members, agents are called so.
            list_of_subjects = f"{_subject(row, slot)}s"
            is_list_of_agents = fold(context.path) == list_of_subjects != "users"
            is_proven = is_proven or is_list_of_agents
        id_doubt: IdDoubt | None = None
        if not is_proven:
            id_doubt = _doubt_of_unproven(row, source, scope)
        yield _Claim(ref, _ref_slots(slot), id_doubt)


def _is_typed_owner(row: Row, scope: BudgetScope) -> bool:
    """Whether the owner has a type, in `owner_type` or inside its object, that fits `scope`."""
    values = row.values
    words = word_set(OWNER)
    if scope is BudgetScope.AGENT:
        words = _AGENT_WORDS
    if "scope_type" in values and row.source("scope_type").name == "owner_type":
        return "owner_id" in values and snake_case(str(values["scope_type"])) in words
    if "owner" not in values or "owner_id" in values:
        return False
    raw = row.obj[row.source("owner").key]
    kind_and_ref = typed_ref(raw)
    if kind_and_ref is None:
        return False
    kind, _ = kind_and_ref
    return kind == scope.value and fold(str(raw.get("type", ""))) in words


def _doubt_of_unproven(row: Row, slot: str, scope: BudgetScope) -> IdDoubt:
    """The doubt about an id under a name that does not say what it identifies."""
    name = field_name(row.source(slot))
    return doubt(f"its only id is in {name}, which need not be the {scope.value}'s")


def _doubt_of_own_id(row: Row, rival: _Claim) -> IdDoubt:
    """The doubt about a row's own id if another one in the row may be the owner's."""
    slot = next(slot for slot in rival.slots if slot in row.values)
    name = field_name(row.source(slot))
    return doubt(f"whether its own id or {name} is whom the budget is for is not known")


def _is_rival(claim: _Claim, own: _Claim, key: _Claim) -> bool:
    """Whether this may be the owner's id, so that the row's own id may be that of the budget."""
    is_person = "person" in claim.slots
    row_id = own.ref.id or key.ref.id
    return not is_person and row_id is not None and claim.ref.id not in (None, row_id)
