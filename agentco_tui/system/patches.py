"""Changes to other libraries: each one is declared, checked before it takes effect, and removable.

A `Patch` names the library, the version that was last seen to need it, and the reason. Before it
takes effect its self-test looks at the installed version: if that is not as expected, the library
is left unchanged, a warning is logged, and the program works without the patch, at the price that
its reason states. Textual's patches are listed in `textual_patches/registry.py`, those of the HTTP
libraries in `api/library_patches.py`; for each of them a test fails once it is no longer needed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

_log = logging.getLogger(__name__)


class Patch(msgspec.Struct, frozen=True):
    """One change to a library.

    `install` makes it; or, if it replaces no member, other code makes it after `fits` returned
    True.
    """

    name: str
    reason: str
    """What goes wrong without it. A number like #5625 is that of an issue of the library."""
    library: str = "textual"
    version: str = "8.2.8"
    """The version of the library that was last seen to need it."""
    replaced: list[tuple[Any, str, Any]] = msgspec.field(default_factory=list)
    """(owner, name, the library's own member) of what is replaced now; empty if not installed."""

    def fits(self, self_test: Callable[[], bool]) -> bool:
        """Whether the self-test finds the library as expected; an exception in it counts as no."""
        error: Exception | None = None
        try:
            if self_test():
                return True
        except Exception as raised:  # another version may have anything there
            error = raised
        _log.warning(
            "%s is not as %s expects: left unchanged", self.library, self.name, exc_info=error
        )
        return False

    def install(
        self, self_test: Callable[[], bool], members: Callable[[], Iterable[tuple[Any, str, Any]]]
    ) -> bool:
        """Replace members (owner, name, ours) for the whole process, unless that was done before.

        Returns False if the library is not as expected and was left unchanged.
        """
        if not self.replaced and self.fits(self_test):
            for owner, name, member in members():
                self.replaced.append((owner, name, vars(owner)[name]))
                setattr(owner, name, member)
        return bool(self.replaced)

    def uninstall(self) -> None:
        """Put the library's own members back."""
        while self.replaced:
            owner, name, member = self.replaced.pop()
            setattr(owner, name, member)
