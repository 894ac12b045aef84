"""Names for the embedded world: companies, agents, models and the things tasks are about.

All invented. The first three companies and the first two dozen agents form a fixed cast, so that
the opening of the demo tells the same story for every seed; beyond them names are combined.
"""

from __future__ import annotations

from dataclasses import dataclass

ROLES = (
    "engineer",
    "support",
    "writer",
    "analyst",
    "finance",
    "marketing",
    "security",
    "researcher",
    "sales",
    "operations",
)

MODELS = ("meridian-large", "meridian-mini", "corvid-2", "corvid-2-fast", "llama-3.3-70b")


@dataclass(frozen=True, slots=True)
class CompanySeed:
    """A company of the fixed cast; `share` is how much of its limit is spent at the start."""

    name: str
    template: str
    mission: str
    share: float


@dataclass(frozen=True, slots=True)
class AgentSeed:
    """An agent of the fixed cast; `limit` in whole dollars (None: no limit), `share` spent."""

    name: str
    role: str
    company: int
    trust: int
    limit: int | None
    share: float


COMPANIES = (
    CompanySeed(
        "Acme Robotics",
        "hardware",
        "Put a quiet, repairable robot arm on every workbench that wants one.",
        0.83,
    ),
    CompanySeed(
        "Globex",
        "retail",
        "Sell outdoor gear that lasts, and answer every customer within the hour.",
        0.29,
    ),
    CompanySeed(
        "Initech Content",
        "content",
        "Write the manuals, guides and newsletters that our clients have no time for.",
        0.81,
    ),
)

AGENTS = (
    AgentSeed("Ada", "engineer", 0, 72, 100, 1.188),
    AgentSeed("Linus", "support", 1, 38, 500, 0.824),
    AgentSeed("Grace", "writer", 0, 81, 150, 0.622),
    AgentSeed("Maya", "operations", 0, 64, 200, 0.871),
    AgentSeed("Tomas", "finance", 0, 90, 250, 0.431),
    AgentSeed("Ines", "security", 0, 88, 300, 0.7998),
    AgentSeed("Kofi", "engineer", 0, 77, 400, 0.918),
    AgentSeed("Yuki", "analyst", 0, 69, None, 0.0),
    AgentSeed("Omar", "support", 0, 55, 120, 0.346),
    AgentSeed("Priya", "marketing", 1, 74, 600, 0.215),
    AgentSeed("Bruno", "operations", 1, 61, 450, 0.127),
    AgentSeed("Lena", "sales", 1, 83, 800, 0.284),
    AgentSeed("Mateo", "support", 1, 47, 350, 0.193),
    AgentSeed("Sofia", "analyst", 1, 92, 300, 0.366),
    AgentSeed("Hana", "finance", 1, 86, 400, 0.158),
    AgentSeed("Felix", "engineer", 1, 58, 700, 0.271),
    AgentSeed("Nora", "writer", 2, 79, 100, 1.0064),
    AgentSeed("Sami", "writer", 2, 66, 120, 0.947),
    AgentSeed("Clara", "researcher", 2, 84, 200, 0.712),
    AgentSeed("Diego", "marketing", 2, 52, 160, 0.9962),
    AgentSeed("Ruth", "analyst", 2, 91, 140, 0.553),
    AgentSeed("Pavel", "support", 2, 44, 100, 0.618),
    AgentSeed("Amara", "sales", 2, 70, 180, 0.487),
    AgentSeed("Jonas", "researcher", 2, 0, None, 0.0),
)

_FIRST = (
    "Northwind", "Harbor", "Juniper", "Cobalt", "Maple", "Granite", "Lumen", "Orchard", "Tidal",
    "Summit", "Willow", "Copper", "Beacon", "Prairie", "Cedar", "Falcon", "Saffron", "Ember",
    "Quarry", "Meadow",
)  # fmt: skip
_SECOND = (
    "Freight", "Analytics", "Kitchens", "Insurance", "Media", "Outfitters", "Labs", "Energy",
    "Clinics", "Studios",
)  # fmt: skip
_TEMPLATE = {
    "Freight": "logistics",
    "Analytics": "software",
    "Kitchens": "retail",
    "Insurance": "finance",
    "Media": "content",
    "Outfitters": "retail",
    "Labs": "hardware",
    "Energy": "hardware",
    "Clinics": "support",
    "Studios": "content",
}
_MISSIONS = {
    "logistics": "Move every parcel once, on time, and tell the customer before they ask.",
    "software": "Turn messy records into answers that people act on the same day.",
    "retail": "Sell fewer, better things, and stand behind each of them.",
    "finance": "Settle honest claims within a day and keep the books clean.",
    "content": "Publish what readers finish, and keep it true.",
    "hardware": "Build machines that can be opened, repaired and trusted.",
    "support": "Answer every patient's question before the visit.",
}
_AGENT_FIRST = (
    "Alma", "Anton", "Aria", "Bela", "Carlo", "Chloe", "Dara", "Elif", "Emil", "Esra", "Fatima",
    "Gita", "Hugo", "Ida", "Ivan", "Jana", "Karim", "Laila", "Leo", "Lucia", "Marek", "Mina",
    "Nadia", "Nils", "Olga", "Otto", "Paula", "Quinn", "Rafa", "Rosa", "Sven", "Tara", "Uma",
    "Vera", "Wren", "Xenia", "Yara", "Zane", "Zoe", "Arne",
)  # fmt: skip
_AGENT_LAST = (
    "Okafor", "Lindqvist", "Moreau", "Tanaka", "Rossi", "Novak", "Haddad", "Silva", "Kowalski",
    "Ibarra", "Sato", "Petrov", "Nguyen", "Keller", "Mbeki", "Duarte", "Ferrari", "Holm", "Iyer",
    "Jansen", "Klein", "Lopez", "Marin", "Nagy", "Olsen", "Park", "Quist", "Rahman", "Sokol",
    "Toth", "Ueda", "Vargas", "Weber", "Yilmaz", "Zeman", "Bauer", "Costa", "Dubois", "Egan",
    "Farkas",
)  # fmt: skip
_SHARES = (0.34, 0.62, 0.84, 0.18, 0.47, 0.71, 1.03, 0.55, 0.27, 0.9)


def company(index: int) -> CompanySeed:
    """The company with this index: the cast first, then two hundred combined names and on."""
    if index < len(COMPANIES):
        return COMPANIES[index]
    turn = index - len(COMPANIES)
    second = _SECOND[turn % len(_SECOND)]
    # The second stride is shifted once a round, so that no pair repeats within 200.
    first = _FIRST[(turn + turn // len(_FIRST)) % len(_FIRST)]
    round_number = turn // (len(_FIRST) * len(_SECOND))
    name = f"{first} {second}" + (f" {round_number + 1}" if round_number else "")
    template = _TEMPLATE[second]
    return CompanySeed(name, template, _MISSIONS[template], _SHARES[turn % len(_SHARES)])


def agent_name(index: int) -> str:
    """A name for the agent with this index beyond the cast; unique for 64,000 agents."""
    first = _AGENT_FIRST[index % len(_AGENT_FIRST)]
    turn = index // len(_AGENT_FIRST)
    if turn == 0:
        return first
    last = _AGENT_LAST[(index + turn) % len(_AGENT_LAST)]
    middle = turn // len(_AGENT_LAST)
    initial = f" {chr(ord('A') + (middle - 1) % 26)}." if middle else ""
    return f"{first}{initial} {last}"
