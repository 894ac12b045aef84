"""Prints the results of several requests in order, none before it is known how to say it.

The first requests may fail although the address is right: it answers the later ones. Then an error
that was printed at once would have told the user to correct an address that needs no correction.
The platform is the service that is watched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from agentco_tui.api.errors import ApiError
from agentco_tui.commands.command_output import print_lines


class HeldLines:
    """Lines about requests; held back from the first error that doubts the address.

    They are printed as soon as the platform has answered another request, or by `print_all`.
    """

    def __init__(self) -> None:
        self._held: list[tuple[ApiError | None, Callable[[], Iterable[str]]]] = []

    def add(self, error: ApiError | None, lines: Callable[[], Iterable[str]]) -> None:
        """Print what `lines` returns when it is printed: what the error says may change by then."""
        self._held.append((error, lines))
        if not any(held is not None and held.doubts_address for held, _ in self._held):
            self.print_all()

    def print_all(self) -> None:
        """Print what is held; to be called after the last request."""
        for _, lines in self._held:
            print_lines(*lines())
        self._held.clear()
