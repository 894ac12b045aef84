"""The two keys of the embedded platform, and whether they still hold."""

from __future__ import annotations

import hashlib
import hmac


class Keys:
    """A key that may do everything and one that may only read; each can be revoked or replaced.

    Generated from the seed unless given, with the prefix `ag_` (INTERFACE 5.3).
    """

    def __init__(self, seed: int, full: str | None = None, read: str | None = None) -> None:
        self.full = full or _generate(seed, "full")
        self.read = read or _generate(seed, "read")
        self._revoked: set[str] = set()
        self._full_before: list[str] = []

    def replace(self, which: str, key: str) -> None:
        """Let `key` be the `full` or `read` key from now on, and the one before it none any more.

        Raises ValueError for what cannot stand in a header.
        """
        if not (key.isascii() and key.isprintable() and key.split() == [key]):
            raise ValueError("a key is one word of plain letters, digits and signs")
        before = self._named(which)
        if which == "full":
            self._full_before.append(before)
            self.full = key
        else:
            self.read = key

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
        """Whether a full key was sent, one that still holds or not: the control path stays open."""
        sent = (authorization or "").encode()
        each = (self.full, *self._full_before)
        return any(hmac.compare_digest(sent, f"Bearer {key}".encode()) for key in each)

    def _named(self, which: str) -> str:
        if which not in {"full", "read"}:
            raise ValueError("a key is named full or read")
        return self.full if which == "full" else self.read


def _generate(seed: int, which: str) -> str:
    digest = hashlib.sha256(f"agentco demo key {seed} {which}".encode()).hexdigest()
    return f"ag_{which}_{digest[:32]}"
