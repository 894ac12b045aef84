"""Where the platform is and the key to it, checked before anything is sent.

Both are read from what a person typed or stored, so both are refused with a sentence that says
what to change, and no sentence repeats the key. What comes back may quote it, and what a layer
below writes to a log, too: both are redacted.
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

_LONGEST_KEY: Final = 4096
_LONGEST_ADDRESS: Final = 2048
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
_HOST_LABEL: Final = re.compile(
    # As DNS has it, or one of another script, which httpx turns into IDNA.
    r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?|(?=.*[^\x00-\x7f])([^\W_]|-){1,63}"
)
_PREFIX: Final = re.compile(r"(/([A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})+)*")
_BEARER: Final = re.compile(r"(?i)(bearer\s+)[^\s'\"]+")
_NEVER: Final = frozenset(' \\"<>^`{|}')
_LIKE: Final = "it looks like https://agents.example.com"
_DOTS: Final = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)


class CredentialError(AgentcoError, ValueError):
    """A key or an address that cannot be used; `str()` is the sentence for the person."""


class ApiKey:
    """Shown nowhere: neither copied, pickled nor written to JSON."""

    __slots__ = ("__text",)

    def __init__(self, text: str) -> None:
        """Without the blanks and the newline around it. Raises CredentialError."""
        check_type(text, str, "the key", "a str")
        cleaned = text.strip(" \t\r\n")
        _check(cleaned, "the key is empty: put the API key there, and nothing else")
        _check(
            len(cleaned) <= _LONGEST_KEY,
            f"the key is longer than {_LONGEST_KEY:,} characters: is this the right file?",
        )
        _check(
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
        """At most the prefix all of them share."""
        return "ag_****" if self.__text.startswith("ag_") and len(self.__text) > 8 else "****"

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
    """The key that requests are sent with, and those that it took the place of.

    All of them stay secrets to the end, since one may still hold elsewhere. For any thread.
    """

    __slots__ = ("key", "secrets")

    def __init__(self, key: ApiKey) -> None:
        self.secrets: tuple[tuple[bytes, bytes], ...] = ()
        """Each of them with what is shown in its place."""
        self.replace(key)

    def replace(self, key: ApiKey) -> None:
        """Use another from the next request on; those under way keep theirs."""
        # The longest first: one that begins like another must not leave its end behind. And known
        # before it is used, so that no answer to it comes before it can be recognised.
        secrets = {*self.secrets, (key.reveal().encode(), key.masked.encode())}
        self.secrets = tuple(sorted(secrets, key=lambda secret: len(secret[0]), reverse=True))
        self.key = key

    def redact(self, text: str) -> str:
        for key, mask in self.secrets:
            text = text.replace(key.decode(), mask.decode())
        return text

    def clean(self, data: bytes, *, is_last: bool = False) -> tuple[bytes, bytes]:
        """Of bytes that come in pieces: what can be let through, without keys, and an end that may
        be the beginning of one, which belongs before the next piece. Takes linear time.
        """
        held = b""
        for key, mask in self.secrets:
            data = data.replace(key, mask)
            at = -1 if is_last else data.find(key[:1], max(0, len(data) - len(key) + 1))
            while at >= 0 and not key.startswith(data[at:]):
                at = data.find(key[:1], at + 1)
            if at >= 0:
                data, held = data[:at], data[at:] + held
        return data, held

    def __repr__(self) -> str:
        return f"KeyInUse({self.key})"


class KeyFilter(logging.Filter):
    """Put on a handler: masks the given key, if any, and anything that follows the word Bearer."""

    def __init__(self, key: KeyInUse | None) -> None:
        super().__init__()
        self._key = key

    def filter(self, record: logging.LogRecord) -> bool:
        """Clean the record where it stands (Python 3.11 takes no copy); it is always kept."""
        try:
            text = logging.Formatter().format(record)
        except (TypeError, ValueError, KeyError):
            # A wrong format string is the caller's slip; its arguments may still hold the key.
            text = f"{record.msg} {record.args}"
        text = text if self._key is None else self._key.redact(text)
        record.words = record.msg
        record.msg, record.args = _BEARER.sub(r"\1****", text), ()
        record.exc_info = record.exc_text = record.stack_info = None
        return True


class BaseUrl(msgspec.Struct, frozen=True):
    """The address of the platform: an origin and, behind a proxy, a path before `/api`."""

    scheme: str  # the word http or https
    host: str  # lower case, without brackets; letters beyond ASCII are kept as they were given
    port: int  # always a number: the scheme's own where none was given
    prefix: str = ""  # empty, or a path that begins with a slash and does not end with one

    @classmethod
    def parse(cls, text: str, allow_http: bool = False) -> Self:
        """The address in `text`, checked.

        Scheme and host are required; user info, query and fragment are refused, because httpx
        would send the first instead of the key and would join the others wrongly. Plain http is
        for loopback, unless `allow_http`. Raises CredentialError.
        """
        check_type(text, str, "the address", "a str")
        text = text.strip(" \t\r\n")
        scheme, colon, rest = text.partition("://")
        scheme = scheme.lower()
        _check(text, f"the address is empty: {_LIKE}")
        printable = len(text) <= _LONGEST_ADDRESS and text.isprintable() and not set(text) & _NEVER
        _check(printable, f"the address holds a character that no address has: {_LIKE}")
        _check(
            colon and scheme in _DEFAULT_PORTS,
            "the address must begin with https:// (or http:// for this machine)",
        )
        _check(
            "?" not in text and "#" not in text,
            "the address must not hold a ? or a #: leave out what follows it",
        )
        _check(
            "@" not in rest.partition("/")[0],
            "the address must not hold a user name or a password: "
            "the key comes from the profile or from AGENTCO_API_KEY",
        )
        try:
            parts = urlsplit(text)
            host, port = parts.hostname or "", parts.port
            if ":" in host:
                host = ipaddress.IPv6Address(host.partition("%")[0]).compressed
        except ValueError:
            words = f"the host or the port in the address cannot be read: {_LIKE}:8443"
            raise CredentialError(f"{words} or http://[::1]:8000") from None
        _check(host, f"the address names no host: {_LIKE}")
        labels = host.removesuffix(".").split(".")
        _check(
            ":" in host or (len(host) <= 253 and all(map(_HOST_LABEL.fullmatch, labels))),
            "the host in the address cannot be a host name: letters, digits, dots and hyphens only",
        )
        _check(
            port != 0 and not parts.netloc.endswith(":"),
            "the address names no port that answers: give a number from 1 to 65535 after the colon",
        )
        prefix = parts.path.rstrip("/")
        _check(
            _PREFIX.fullmatch(prefix) and not any(map(_DOTS.fullmatch, prefix.split("/"))),
            "the path in the address cannot be used: plain segments only, without . or .. in it",
        )
        base = cls(scheme, host, port or _DEFAULT_PORTS[scheme], prefix)
        _check(
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
        """Scheme, host and port, the port only where it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        port = "" if self.port == _DEFAULT_PORTS[self.scheme] else f":{self.port}"
        return f"{self.scheme}://{host}{port}"

    def __str__(self) -> str:
        return f"{self.origin}{self.prefix}"


def _check(holds: object, words: str) -> None:
    if not holds:
        raise CredentialError(words)
