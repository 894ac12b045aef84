"""What may be written from here, as far as is known."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from agentco_tui.actions.verbs import Verb
from agentco_tui.api.errors import NotAllowed
from agentco_tui.text import SafeText, plain


class Allowed(msgspec.Struct, frozen=True):
    """Nothing is known that speaks against it."""

    def __bool__(self) -> bool:
        return True


class Denied(msgspec.Struct, frozen=True):
    """It would be refused."""

    reason: SafeText
    """For the person, beside the dimmed key."""

    def __bool__(self) -> bool:
        return False


class Rights:
    """Remembers which writes the platform refused with 403, until the key changes.

    The interface names no permissions (INTERFACE 5), so each verb is its own. `read_only` is the
    reason why nothing may be written at all, None without one.
    """

    def __init__(self, read_only: SafeText | None = None) -> None:
        self._read_only = read_only
        self._missing: dict[Verb, SafeText] = {}
        self._listeners: list[Callable[[], None]] = []

    @property
    def off(self) -> SafeText | None:
        """Why nothing may be written at all; None if something may."""
        return self._read_only

    @property
    def lacks_any(self) -> bool:
        """Whether the platform refused a write for which another key is needed."""
        return bool(self._missing)

    def may(self, verb: Verb) -> Allowed | Denied:
        """Whether a write may be tried, and if not, why not."""
        if self._read_only is not None:
            return Denied(self._read_only)
        reason = self._missing.get(verb)
        return Allowed() if reason is None else Denied(reason)

    def refused(self, verb: Verb, error: NotAllowed) -> None:
        """The platform answered a write with 403."""
        words = f": {error.platform_message}" if error.platform_message else ""
        self._missing[verb] = plain(
            f"this key may not {verb.words} (403{words}); ask its owner for the permission"
        )
        self._tell()

    def key_changed(self) -> None:
        """Another key is used from now on: forget what the last one was refused."""
        if self._missing:
            self._missing.clear()
            self._tell()

    def subscribe(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Call `listener` when an answer of `may` may have changed; returns how to stop that."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def _tell(self) -> None:
        for listener in tuple(self._listeners):
            listener()
