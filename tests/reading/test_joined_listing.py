from __future__ import annotations

from agentco_tui.model import Activity, Listing, Moment
from agentco_tui.reading.joined_listing import join_logs
from agentco_tui.text import mark_safe


def log(company: str, *times: float, more: bool = False) -> Listing[Activity]:
    entries = [
        Activity(id=f"{company}{at:g}", at=Moment(at), text=mark_safe("it was done"))
        for at in times
    ]
    return Listing(records=tuple(entries), capped=more)


def ids(listing: Listing[Activity]) -> list[str]:
    return [entry.id for entry in listing.records]


def test_a_joined_log_ends_where_the_first_of_them_is_cut() -> None:
    """Else the entries that a busy company had before that would be missing between the others."""
    busy = log("b", 90, 80, 70, more=True)
    quiet = log("q", 85, 75, 65, 5)
    assert ids(join_logs([busy, quiet])) == ["b90", "q85", "b80", "q75", "b70"]
    assert join_logs([busy, quiet]).capped
    whole = log("b", 90, 80, 70)
    assert ids(join_logs([whole, quiet])) == ["b90", "q85", "b80", "q75", "b70", "q65", "q5"]
    assert ids(join_logs([log("b", more=True), quiet])) == ["q85", "q75", "q65", "q5"]
