"""No whole answer came: what the failure of the connection was, as an ApiError with a sentence.

Works on the exceptions of the standard library that lie under those of the HTTP layers. None of
their texts is shown: they repeat headers, addresses and bytes that the other side chose (SAFETY).
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Iterator, Mapping
from enum import Enum, auto
from typing import Final

from agentco_tui.api import errors
from agentco_tui.api.answered import Asked, tell
from agentco_tui.api.errors import ApiError, Sent


class Trouble(Enum):
    """At which step a request failed."""

    ADDRESS = auto()
    """The URL or a header cannot be put on the wire."""
    POOL_WAIT = auto()
    """No connection became free in time."""
    CONNECT = auto()
    """No connection came about."""
    CONNECT_WAIT = auto()
    WRITE_WAIT = auto()
    READ_WAIT = auto()
    TOTAL_WAIT = auto()
    """The time limit for the whole request passed."""
    PROXY = auto()
    PROTOCOL = auto()
    """What came is not HTTP, or breaks its rules: a wrong length, a close before the answer."""
    CUT = auto()
    """The connection broke."""
    DAMAGED = auto()
    """The packed body cannot be unpacked."""


_STEPS: Final[Mapping[str, Trouble]] = {
    "ConnectTimeout": Trouble.CONNECT_WAIT,
    "PoolTimeout": Trouble.POOL_WAIT,
    "WriteTimeout": Trouble.WRITE_WAIT,
    "TimeoutException": Trouble.READ_WAIT,
    "ConnectError": Trouble.CONNECT,
    "ProxyError": Trouble.PROXY,
    "UnsupportedProtocol": Trouble.ADDRESS,
    "LocalProtocolError": Trouble.ADDRESS,
    "ProtocolError": Trouble.PROTOCOL,
    "TooManyRedirects": Trouble.PROTOCOL,
    "CookieConflict": Trouble.PROTOCOL,
    "DecodingError": Trouble.DAMAGED,
    "DamagedBodyError": Trouble.DAMAGED,
    "InvalidURL": Trouble.ADDRESS,
    "UnicodeError": Trouble.ADDRESS,
}
"""By class name, most special first as the classes are derived: httpx and httpcore share these."""

_MOST_LAYERS: Final = 40
_EXPIRED: Final = 10
_NOT_YET_VALID: Final = 9
_SELF_SIGNED: Final = (18, 19)
_UNKNOWN_CA: Final = (2, 20, 21, 27)
_REVOKED: Final = 23
_WRONG_HOST: Final = (62, 63, 64)
"""X509_V_ERR_… of OpenSSL's x509_vfy.h."""

_NO_WAY: Final = frozenset({errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EHOSTDOWN})
_FORBIDDEN: Final = frozenset({errno.EACCES, errno.EPERM})
_NO_FILES: Final = frozenset({errno.EMFILE, errno.ENFILE})


def trouble_of(cause: BaseException) -> Trouble:
    """The step that an exception of httpx, httpcore, anyio or the standard library speaks of."""
    names = (kind.__name__ for kind in type(cause).__mro__)
    return next((_STEPS[name] for name in names if name in _STEPS), Trouble.CUT)


def unanswered(
    trouble: Trouble,
    cause: BaseException,
    asked: Asked,
    *,
    bytes_left: bool,
    seconds: float | None = None,
    answer_began: bool = False,
) -> ApiError:
    """The error for `cause`, which the transport met at the step `trouble`.

    `bytes_left` is True once a byte of the request may have left this machine: only without it is
    a write known not to have been applied. `seconds` is the time limit that passed, if one did.
    """
    if trouble is Trouble.CUT and not bytes_left:
        trouble = Trouble.CONNECT
    elif trouble is Trouble.ADDRESS and bytes_left:
        trouble = Trouble.CUT
    sent = Sent.UNKNOWN if bytes_left else Sent.NO
    kind, words = _told(trouble, cause, asked, seconds, answer_began)
    return tell(kind, words, asked, sent=sent)


def _told(
    trouble: Trouble, cause: BaseException, asked: Asked, seconds: float | None, began: bool
) -> tuple[type[ApiError], str]:
    host = asked.host
    limit = f"{seconds:g} s" if seconds is not None else "the time limit"
    match trouble:
        case Trouble.ADDRESS:
            return errors.NotSent, f"the request to {host} cannot be sent as it is: check base_url"
        case Trouble.POOL_WAIT:
            return errors.TimedOut, f"all connections to {host} stayed busy for {limit}: wait"
        case Trouble.CONNECT_WAIT:
            words = f"no connection to {host} within {limit}: check the network and base_url"
            return errors.TimedOut, words
        case Trouble.WRITE_WAIT:
            return errors.TimedOut, f"{host} took nothing in for {limit}: check the line"
        case Trouble.READ_WAIT:
            words = f"{host} sent nothing for {limit}: it or the line is slow, or hangs"
            return errors.TimedOut, words
        case Trouble.TOTAL_WAIT:
            words = f"no whole answer from {host} within {limit}: it or the line is too slow"
            return errors.TimedOut, words
        case Trouble.PROXY:
            words = (
                "the proxy of the environment did not let the request through: check HTTPS_PROXY"
            )
            return errors.Unreachable, words
        case Trouble.CONNECT:
            return _no_connection(cause, host)
        case Trouble.PROTOCOL | Trouble.CUT | Trouble.DAMAGED:
            return _broken(trouble, cause, host, began)


def _no_connection(cause: BaseException, host: str) -> tuple[type[ApiError], str]:
    layers = tuple(_layers(cause))
    for layer in layers:
        if isinstance(layer, ssl.SSLError):
            return errors.TlsFailure, tls_words(layer, host)
    for layer in layers:
        if isinstance(layer, socket.gaierror):
            words = f"the name {host} is not known here: check base_url, the network and DNS"
            return errors.NameNotFound, words
        if isinstance(layer, UnicodeError):
            return errors.NameNotFound, f"{host} cannot be a host name: check base_url"
    numbers = {layer.errno for layer in layers if isinstance(layer, OSError)}
    if errno.ECONNREFUSED in numbers:
        words = f"nothing answers at {host}: is the platform running, and is the port right?"
        return errors.Refused, words
    if numbers & _NO_WAY:
        return errors.Unreachable, f"there is no way to {host} from here: check the network"
    if numbers & _FORBIDDEN:
        return errors.Unreachable, f"this machine does not allow a connection to {host}: firewall?"
    if numbers & _NO_FILES:
        return errors.Unreachable, "this machine has no file handle left for a connection"
    if errno.ETIMEDOUT in numbers:
        return errors.TimedOut, f"{host} did not react to the connection: check the network"
    if numbers & {errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED}:
        words = f"{host} closed the connection before anything was sent: is the port right?"
        return errors.Unreachable, words
    return errors.Unreachable, f"no connection to {host}: check base_url and the network"


def _broken(
    trouble: Trouble, cause: BaseException, host: str, began: bool
) -> tuple[type[ApiError], str]:
    for layer in _layers(cause):
        if isinstance(layer, ssl.SSLError) and "CERTIFICATE_REQUIRED" in (layer.reason or ""):
            return errors.TlsFailure, tls_words(layer, host)
    if trouble is Trouble.DAMAGED:
        return errors.Broken, "the packed answer is damaged or cut off: try again"
    if began:
        return errors.Broken, f"the answer of {host} broke off before it was whole: try again"
    if trouble is Trouble.PROTOCOL:
        words = f"{host} closed without an answer, or does not speak HTTP: check base_url"
        return errors.Broken, words
    return errors.Broken, f"the connection to {host} broke before an answer came: try again"


def tls_words(failure: ssl.SSLError, host: str) -> str:
    """What was wrong with the certificate or the handshake, and what to do about it."""
    if isinstance(failure, ssl.SSLCertVerificationError):
        return _certificate_words(failure.verify_code, host)
    reason = failure.reason or ""
    if reason in ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"):
        return f"{host} does not speak TLS at this port: check the port, or use http:// if local"
    if "CERTIFICATE_REQUIRED" in reason:
        return f"{host} asks for a client certificate, which agentco-tui does not send"
    if "VERSION" in reason or "PROTOCOL" in reason:
        return f"{host} offers only TLS versions that are not accepted here: tell its operators"
    if isinstance(failure, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return f"{host} closed the connection in the TLS handshake: is the port right?"
    return f"the TLS handshake with {host} failed: check the port and the server's TLS settings"


def _certificate_words(code: int, host: str) -> str:
    if code == _EXPIRED:
        return f"the certificate of {host} has expired: tell its operators"
    if code == _NOT_YET_VALID:
        return f"the certificate of {host} is not valid yet: is the clock of this machine right?"
    if code in _SELF_SIGNED:
        words = "signed by itself or by a CA unknown here: set ca_file if it is your own"
        return f"the certificate of {host} is {words}"
    if code in _UNKNOWN_CA:
        return f"the certificate of {host} is from a CA unknown here: set ca_file if it is your own"
    if code in _WRONG_HOST:
        return f"the certificate is not for {host}: check the host in base_url"
    if code == _REVOKED:
        return f"the certificate of {host} was revoked: tell its operators"
    return f"the certificate of {host} was not accepted: tell its operators"


def _layers(cause: BaseException) -> Iterator[BaseException]:
    """`cause` and what lies under it: causes, contexts, group members; each once, bounded."""
    todo, seen = [cause], set[int]()
    while todo and len(seen) < _MOST_LAYERS:
        layer = todo.pop(0)
        if id(layer) in seen:
            continue
        seen.add(id(layer))
        yield layer
        todo += [below for below in (layer.__cause__, layer.__context__) if below is not None]
        if isinstance(layer, BaseExceptionGroup):
            todo += layer.exceptions
