"""The two keys of the embedded platform, and whether they still hold."""

from __future__ import annotations

import hashlib
import hmac


class Keys:
    """A key that may do everything and one that may only read; each can be revoked.

    Generated from the seed unless given, with the prefix `ag_` (INTERFACE 5.3).
    """

    def __init__(self, seed: int, full: str | None = None, read: str | None = None) -> None:
        self.full = full or _generate(seed, "full")
        self.read = read or _generate(seed, "read")
        self._revoked: set[str] = set()

    def revoke(self, which: str) -> None:
        """Make the `full` or `read` key invalid from now on."""
        self._revoked.add(self._named(which))

    def restore(self, which: str) -> None:
        """Make a revoked key valid again."""
        self._revoked.discard(self._named(which))

    def permission(self, authorization: str | None) -> str | None:
        """`full`, `read`, or None if the header holds no valid key."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer":
            return None
        for which, key in (("full", self.full), ("read", self.read)):
            if hmac.compare_digest(token.encode(), key.encode()):
                return None if key in self._revoked else which
        return None

    def holds_full(self, authorization: str | None) -> bool:
        """Whether the full key was sent, revoked or not: the control path must stay open."""
        return hmac.compare_digest((authorization or "").encode(), f"Bearer {self.full}".encode())

    def _named(self, which: str) -> str:
        if which not in {"full", "read"}:
            raise ValueError("a key is named full or read")
        return self.full if which == "full" else self.read


def _generate(seed: int, which: str) -> str:
    digest = hashlib.sha256(f"agentco demo key {seed} {which}".encode()).hexdigest()
    return f"ag_{which}_{digest[:32]}"
