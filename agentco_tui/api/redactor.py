"""The key taken out of bytes that come in pieces, wherever a piece ends."""

from __future__ import annotations


class Redactor:
    """For one body: feed its pieces in order, then take the `rest`.

    A key that lies across pieces is found too: the end of a piece that could be the beginning of
    the key waits for the next one (SAFETY, "The key").
    """

    __slots__ = ("__key", "__mask", "__waiting")

    def __init__(self, key: bytes, mask: bytes) -> None:
        """`key` holds at least a byte; each place that holds it becomes `mask`."""
        self.__key = key
        self.__mask = mask
        self.__waiting = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be let through by now; takes time in proportion to the piece."""
        data = self.__waiting + piece if self.__waiting else piece
        if self.__key in data:
            data = data.replace(self.__key, self.__mask)
        first, key = self.__key[:1], self.__key
        at = data.find(first, max(0, len(data) - len(key) + 1))
        while at >= 0 and not key.startswith(data[at:]):
            at = data.find(first, at + 1)
        if at < 0:
            self.__waiting = b""
            return data
        self.__waiting = data[at:]
        return data[:at]

    def rest(self) -> bytes:
        """What waited for a piece that did not come."""
        rest, self.__waiting = self.__waiting, b""
        return rest


class OneByOne:
    """Several of them, each fed with what the one before it has let through."""

    __slots__ = ("__each",)

    def __init__(self, each: tuple[Redactor, ...]) -> None:
        self.__each = each

    def feed(self, piece: bytes) -> bytes:
        """What can be let through by now."""
        for redactor in self.__each:
            piece = redactor.feed(piece)
        return piece

    def rest(self) -> bytes:
        """What waited for a piece that did not come."""
        rest = b""
        for redactor in self.__each:
            rest = redactor.feed(rest) + redactor.rest()
        return rest
