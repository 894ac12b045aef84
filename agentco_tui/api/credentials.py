"""The address of the platform (the remote service that runs AI agents) and the API key, checked
before use.

`BaseUrl` and `ApiKey` come from text that a user typed or stored. Each refuses unusable text with a
sentence that says what to change; no sentence repeats the key. Answers of the platform and log
lines of the HTTP library may contain the key: `KeyInUse` and `KeyFilter` redact it there.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import re
from typing import Final, NoReturn, Self
from urllib.parse import urlsplit

import msgspec

from agentco_tui.api.arguments_check import check_type
from agentco_tui.api.errors import AgentcoError

__all__ = ["ApiKey", "BaseUrl", "CredentialError"]

_LONGEST_KEY: Final = 4096  # characters
_LONGEST_ADDRESS: Final = 2048  # characters
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST_LABEL: Final = re.compile(
    # As DNS has it, or one of another script, which httpx turns into IDNA.
    r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?|(?=.*[^\x00-\x7f])([^\W_]|-){1,63}"
)
_PATH: Final = re.compile(r"(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)*")
_BEARER: Final = re.compile(r"(?i)(bearer\s+)[^\s'\"]+")
_FORBIDDEN: Final = frozenset(' \\"<>^`{|}')
_EXAMPLE: Final = "it looks like https://agents.example.com"
_DOT_SEGMENT: Final = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


class CredentialError(AgentcoError, ValueError):
    """A key or an address that cannot be used; `str()` is a sentence for the user."""


class ApiKey:
    """An API key. Its text is never shown, copied, pickled or written to JSON."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        """Blanks and newlines around the text are removed. Raises CredentialError."""
        check_type(text, str, "the key", "a str")
        cleaned = text.strip(" \t\r\n")
        _require(cleaned, "the key is empty: put the API key there, and nothing else")
        _require(
            len(cleaned) <= _LONGEST_KEY,
            f"the key is longer than {_LONGEST_KEY:,} characters: is this the right file?",
        )
        _require(
            re.fullmatch("[!-~]+", cleaned),
            "the key holds a blank, a line break or a character that no key has: "
            "it must be one word of plain letters, digits and signs",
        )
        self.__text = cleaned

    @classmethod
    def parse(cls, text: str) -> Self:
        """The same as the constructor."""
        return cls(text)

    @property
    def masked(self) -> str:
        """What is shown in place of the key: at most the prefix that all keys share."""
        if self.__text.startswith("ag_") and len(self.__text) > 8:
            return "ag_****"
        return "****"

    def reveal(self) -> str:
        """The key itself, for the Authorization header and for nothing else."""
        return self.__text

    def __repr__(self) -> str:
        return f"ApiKey({self.masked})"

    def __str__(self) -> str:
        return self.masked

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ApiKey) and hmac.compare_digest(self.__text, other.reveal())

    def __hash__(self) -> int:
        return hash((ApiKey, self.__text))

    def __reduce__(self) -> NoReturn:
        raise TypeError("an ApiKey is not stored")


class KeyInUse:
    """The key that requests are sent with, and the keys that it has replaced.

    Replaced keys are redacted, too: they may still be valid elsewhere. Safe to use in any thread.
    """

    __slots__ = ("key", "secrets")

    def __init__(self, key: ApiKey) -> None:
        self.secrets: tuple[tuple[bytes, bytes], ...] = ()
        """Every key so far as bytes, the longest first, with what is shown in its place."""
        self.replace(key)

    def replace(self, key: ApiKey) -> None:
        """Use another key from the next request on; requests under way keep the old one."""
        # The longest first: if a short key begins a longer one, the rest of the longer one would
        # remain. The secrets change before the key, so that an answer to it is always redacted.
        secrets = {*self.secrets, (key.reveal().encode(), key.masked.encode())}
        self.secrets = tuple(sorted(secrets, key=lambda secret: len(secret[0]), reverse=True))
        self.key = key

    def redact(self, text: str) -> str:
        """Return the text with every key masked."""
        for key, mask in self.secrets:
            text = text.replace(key.decode(), mask.decode())
        return text

    def clean(self, data: bytes, *, is_last: bool = False) -> tuple[bytes, bytes]:
        """Redact one piece of a stream; return the redacted bytes and the held-back end.

        The end is held back if it may be the beginning of a key; the caller puts it before the next
        piece. Nothing is held back of the last piece. Takes linear time.
        """
        held_back = b""
        for key, mask in self.secrets:
            data = data.replace(key, mask)
            if is_last:
                continue
            start = _start_of_partial_key(data, key)
            if start is not None:
                held_back = data[start:] + held_back
                data = data[:start]
        return data, held_back

    def __repr__(self) -> str:
        return f"KeyInUse({self.key})"


def _start_of_partial_key(data: bytes, key: bytes) -> int | None:
    """Return the index at which `data` ends with the beginning of the key; None if it does not."""
    start = data.find(key[:1], max(0, len(data) - len(key) + 1))
    while start >= 0:
        if key.startswith(data[start:]):
            return start
        start = data.find(key[:1], start + 1)
    return None


class KeyFilter(logging.Filter):
    """Filter of a log handler: masks the keys, and anything that follows the word Bearer."""

    def __init__(self, key: KeyInUse | None) -> None:
        super().__init__()
        self._key = key

    def filter(self, record: logging.LogRecord) -> bool:
        """Redact the record in place (Python 3.11 accepts no copy); always keep it."""
        try:
            text = logging.Formatter().format(record)
        except (TypeError, ValueError, KeyError):
            # The caller's format string is wrong; its arguments may still contain the key.
            text = f"{record.msg} {record.args}"
        if self._key is not None:
            text = self._key.redact(text)
        record.words = record.msg
        record.msg = _BEARER.sub(r"\1****", text)
        record.args = ()
        # These texts are part of the message now.
        record.exc_info = None
        record.exc_text = None
        record.stack_info = None
        return True


class BaseUrl(msgspec.Struct, frozen=True):
    """The address of the platform: an origin and, behind a proxy, a path before `/api`."""

    scheme: str
    """http or https."""
    host: str
    """In lower case, without brackets; letters beyond ASCII are kept as they were given."""
    port: int
    """The default port of the scheme if none was given."""
    prefix: str = ""
    """Empty, or a path that begins with a slash and does not end with one."""

    @classmethod
    def parse(cls, text: str, allow_http: bool = False) -> Self:
        """Return the address in `text`, checked.

        Scheme and host are required; user info, query and fragment are refused, because httpx
        would send the user info instead of the key, and would join the others wrongly. Plain http
        is only accepted for loopback, unless `allow_http` is set. Raises CredentialError.
        """
        check_type(text, str, "the address", "a str")
        text = text.strip(" \t\r\n")
        scheme, colon, rest = text.partition("://")
        scheme = scheme.lower()
        _require(text, f"the address is empty: {_EXAMPLE}")
        is_usable = (
            len(text) <= _LONGEST_ADDRESS and text.isprintable() and not set(text) & _FORBIDDEN
        )
        _require(is_usable, f"the address holds a character that no address has: {_EXAMPLE}")
        _require(
            colon and scheme in _DEFAULT_PORTS,
            "the address must begin with https:// (or http:// for this machine)",
        )
        _require(
            "?" not in text and "#" not in text,
            "the address must not hold a ? or a #: leave out what follows it",
        )
        _require(
            "@" not in rest.partition("/")[0],
            "the address must not hold a user name or a password: "
            "the key comes from the profile or from AGENTCO_API_KEY",
        )
        try:
            parts = urlsplit(text)
            host = parts.hostname or ""
            port = parts.port
            if ":" in host:
                host = ipaddress.IPv6Address(host.partition("%")[0]).compressed
        except ValueError:
            words = f"the host or the port in the address cannot be read: {_EXAMPLE}:8443"
            raise CredentialError(f"{words} or http://[::1]:8000") from None
        _require(host, f"the address names no host: {_EXAMPLE}")
        labels = host.removesuffix(".").split(".")
        _require(
            ":" in host or (len(host) <= 253 and all(map(_HOST_LABEL.fullmatch, labels))),
            "the host in the address cannot be a host name: letters, digits, dots and hyphens only",
        )
        _require(
            port != 0 and not parts.netloc.endswith(":"),
            "the address names no port that answers: give a number from 1 to 65535 after the colon",
        )
        prefix = parts.path.rstrip("/")
        _require(
            _PATH.fullmatch(prefix) and not any(map(_DOT_SEGMENT.fullmatch, prefix.split("/"))),
            "the path in the address cannot be used: plain segments only, without . or .. in it",
        )
        base = cls(scheme, host, port or _DEFAULT_PORTS[scheme], prefix)
        _require(
            scheme == "https" or allow_http or base.is_loopback,
            "plain http would send the key in the open: use https://, "
            "or set allow_http = true in the profile",
        )
        return base

    @property
    def is_loopback(self) -> bool:
        """True if requests do not leave this machine: localhost, 127.0.0.0/8 or ::1."""
        host = self.host.removesuffix(".")
        if host == "localhost":
            return True
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return False

    @property
    def origin(self) -> str:
        """Scheme, host and port; the port only if it is not the default of the scheme."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.port == _DEFAULT_PORTS[self.scheme]:
            return f"{self.scheme}://{host}"
        return f"{self.scheme}://{host}:{self.port}"

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}"


def _require(condition: object, sentence: str) -> None:
    """Raise CredentialError with the sentence unless the condition is true."""
    if not condition:
        raise CredentialError(sentence)
