"""Turns an exception that came in place of an answer into an ApiError with a sentence.

The other side is the platform, the remote service, or a proxy before it. A template is a sentence
with {names} for the facts of a request (`RequestInfo`, `Limits`). As `error_messages` explains, the
part in brackets is only shown while the address is in doubt.
"""

from __future__ import annotations

import errno
import socket
import ssl
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias

import httpx

from agentco_tui.api import errors
from agentco_tui.api.error_messages import RequestInfo, error_for, fill_template
from agentco_tui.api.errors import ApiError, Sent
from agentco_tui.api.limits import Limits
from agentco_tui.api.response_body import DamagedBodyError

PROVE_NOT_SENT: Final = (
    httpx.ConnectError,
    httpx.ConnectTimeout,
    httpx.PoolTimeout,
    httpx.UnsupportedProtocol,
)
"""Only these prove that no byte of a request has left this machine."""
LIBRARY_EXCEPTIONS: Final = (
    httpx.HTTPError,
    httpx.InvalidURL,
    httpx.StreamError,
    httpx.CookieConflict,
    DamagedBodyError,
    UnicodeError,
    OSError,
)
"""All that the layers below the transport may raise. Any other exception is a fault of this
program, and is raised unchanged."""

_ErrorTemplate: TypeAlias = tuple[type[ApiError], str]
"""The class of the error, and the template of its sentence."""

_BY_EXCEPTION: Final[Mapping[type[Exception], _ErrorTemplate]] = {
    httpx.PoolTimeout: (
        errors.TimedOut,
        "all connections to {host} stayed busy for {limits.pool:g} s: wait",
    ),
    httpx.ConnectTimeout: (
        errors.TimedOut,
        "no connection to {host} within {limits.connect:g} s: check the network[ and base_url]",
    ),
    httpx.WriteTimeout: (
        errors.TimedOut,
        "{host} accepted no data for {limits.write:g} s: check the network",
    ),
    httpx.TimeoutException: (
        errors.TimedOut,
        "{host} sent nothing for {limits.read:g} s: the server or the network is slow, or hangs",
    ),
    # Raised by asyncio when the request as a whole takes too long.
    TimeoutError: (
        errors.TimedOut,
        "no complete answer from {host} within {limits.total:g} s: the server or the network is "
        "too slow",
    ),
    httpx.ProxyError: (
        errors.Unreachable,
        "the proxy of the environment did not let the request through: check HTTPS_PROXY",
    ),
    httpx.UnsupportedProtocol: (
        errors.NotSent,
        "the request to {host} cannot be sent with this protocol: check base_url",
    ),
    DamagedBodyError: (
        errors.Broken,
        "the compressed answer is damaged or cut off: try again",
    ),
    # What came is not HTTP, or breaks its rules: a wrong length, a close before the answer.
    httpx.ProtocolError: (
        errors.Broken,
        "{host} closed the connection before the answer was complete"
        "[, or does not speak HTTP: check base_url|: try again]",
    ),
}
"""The entry of the most specific class counts."""
_CONNECTION_BROKE: Final = (
    errors.Broken,
    "the connection to {host} broke before the answer was complete: try again",
)

_NO_CONNECTION: Final = (
    errors.Unreachable,
    "no connection to {host}: check [base_url and ]the network",
)
_UNKNOWN_NAME: Final = (
    errors.NameNotFound,
    "the host name {host} cannot be found: check [base_url, ]the network and DNS",
)
_NO_HOST_NAME: Final = (
    errors.NameNotFound,
    "{host} cannot be a host name: check base_url",
)
_REFUSED: Final = (
    errors.Refused,
    "nothing answers at {host}: is the platform running[, and is the port right]?",
)
_NO_ROUTE: Final = (
    errors.Unreachable,
    "there is no route to {host} from here: check the network",
)
_NOT_PERMITTED: Final = (
    errors.Unreachable,
    "this machine does not allow a connection to {host}: check its firewall",
)
_NO_FILE_HANDLE: Final = (
    errors.Unreachable,
    "this machine has no file handle left for a connection",
)
_NO_REACTION: Final = (
    errors.TimedOut,
    "{host} did not react to the connection: check the network",
)
_CLOSED_AT_ONCE: Final = (
    errors.Unreachable,
    "{host} closed the connection before anything was sent[: is the port right?|]",
)
_BY_ERRNO: Final[Mapping[int, _ErrorTemplate]] = {
    errno.ECONNREFUSED: _REFUSED,
    errno.ENETUNREACH: _NO_ROUTE,
    errno.EHOSTUNREACH: _NO_ROUTE,
    errno.ENETDOWN: _NO_ROUTE,
    errno.EHOSTDOWN: _NO_ROUTE,
    errno.EACCES: _NOT_PERMITTED,
    errno.EPERM: _NOT_PERMITTED,
    errno.EMFILE: _NO_FILE_HANDLE,
    errno.ENFILE: _NO_FILE_HANDLE,
    errno.ETIMEDOUT: _NO_REACTION,
    errno.ECONNRESET: _CLOSED_AT_ONCE,
    errno.EPIPE: _CLOSED_AT_ONCE,
    errno.ECONNABORTED: _CLOSED_AT_ONCE,
}
"""Why no connection was made. A host may have several addresses, each with a different error: of
those, the one that comes first in this table counts."""

_NOT_TRUSTED: Final = (
    "is self-signed, or from a CA that this machine does not know: set ca_file if it is your own"
)
_WRONG_HOST: Final = "is not for {host}[: check the host in base_url|]"
_CERTIFICATE_FAULTS: Final[Mapping[int, str]] = {
    2: _NOT_TRUSTED,  # UNABLE_TO_GET_ISSUER_CERT
    9: "is not valid yet: is the clock of this machine right?",
    10: "has expired: tell its operators",
    18: _NOT_TRUSTED,  # DEPTH_ZERO_SELF_SIGNED_CERT
    19: _NOT_TRUSTED,  # SELF_SIGNED_CERT_IN_CHAIN
    20: _NOT_TRUSTED,  # UNABLE_TO_GET_ISSUER_CERT_LOCALLY
    21: _NOT_TRUSTED,  # UNABLE_TO_VERIFY_LEAF_SIGNATURE
    23: "was revoked: tell its operators",
    27: _NOT_TRUSTED,  # CERT_UNTRUSTED
    62: _WRONG_HOST,  # HOSTNAME_MISMATCH
    63: _WRONG_HOST,  # EMAIL_MISMATCH
    64: _WRONG_HOST,  # IP_ADDRESS_MISMATCH
}
"""By the X509_V_ERR_… of OpenSSL's x509_vfy.h."""

_CERTIFICATE_REQUIRED: Final = "CERTIFICATE_REQUIRED"
_NO_TLS: Final = (
    "{host} does not speak TLS at this port: check the port, or use http:// if it is local"
)
_OLD_TLS: Final = "{host} offers only TLS versions that are not accepted here: tell its operators"
_HANDSHAKE_FAULTS: Final[Mapping[str, str]] = {
    "WRONG_VERSION_NUMBER": _NO_TLS,
    "HTTP_REQUEST": _NO_TLS,
    "RECORD_LAYER_FAILURE": _NO_TLS,
    _CERTIFICATE_REQUIRED: "{host} asks for a client certificate, which agentco-tui does not send",
    "VERSION": _OLD_TLS,
    "PROTOCOL": _OLD_TLS,
}
"""By a part of OpenSSL's reason; the first that fits counts."""

_MOST_CAUSES: Final = 40
"""A chain of causes may be endless: no more exceptions than these are examined."""


def error_for_exception(exception: BaseException, info: RequestInfo, limits: Limits) -> ApiError:
    """The error for a request that brought no complete answer."""
    causes = _causes_of(exception)
    if isinstance(exception, httpx.ConnectError):
        error_class, template = _why_not_connected(causes)
    else:
        error_class, template = _entry_for(exception)
        if error_class is errors.Broken:
            # With TLS 1.3 a server may refuse the client after the handshake.
            refusal = _certificate_required(causes)
            if refusal is not None:
                error_class = errors.TlsFailure
                template = tls_template(refusal)
    sentence = fill_template(template, host=info.host, limits=limits)
    sent = Sent.NO if isinstance(exception, PROVE_NOT_SENT) else Sent.UNKNOWN
    return error_for(error_class, sentence, info, sent=sent)


def tls_template(failure: ssl.SSLError) -> str:
    """What was wrong with the certificate or the handshake of {host}, and what to do about it."""
    if isinstance(failure, ssl.SSLCertVerificationError):
        default = "was not accepted: tell its operators"
        fault = _CERTIFICATE_FAULTS.get(failure.verify_code, default)
        return f"the certificate of {{host}} {fault}"
    reason = failure.reason or ""
    for part, template in _HANDSHAKE_FAULTS.items():
        if part in reason:
            return template
    if isinstance(failure, ssl.SSLEOFError | ssl.SSLZeroReturnError):
        return "{host} closed the connection in the TLS handshake[: is the port right?|]"
    return "the TLS handshake with {host} failed: check the port and the server's TLS settings"


def _entry_for(exception: BaseException) -> _ErrorTemplate:
    for exception_class in type(exception).__mro__:
        if exception_class in _BY_EXCEPTION:
            return _BY_EXCEPTION[exception_class]
    return _CONNECTION_BROKE


def _causes_of(exception: BaseException) -> list[BaseException]:
    """The exception and everything under it: causes, contexts, members of exception groups."""
    causes = [exception]
    for cause in causes:  # grows while it is walked
        members = getattr(cause, "exceptions", ())
        for below in (cause.__cause__, cause.__context__, *members):
            if below is not None and below not in causes and len(causes) < _MOST_CAUSES:
                causes.append(below)
    return causes


def _why_not_connected(causes: Sequence[BaseException]) -> _ErrorTemplate:
    for cause in causes:
        if isinstance(cause, ssl.SSLError):
            return errors.TlsFailure, tls_template(cause)
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return _UNKNOWN_NAME
    if any(isinstance(cause, UnicodeError) for cause in causes):
        return _NO_HOST_NAME
    numbers = {cause.errno for cause in causes if isinstance(cause, OSError)}
    for number, entry in _BY_ERRNO.items():
        if number in numbers:
            return entry
    return _NO_CONNECTION


def _certificate_required(causes: Sequence[BaseException]) -> ssl.SSLError | None:
    for cause in reversed(causes):
        if isinstance(cause, ssl.SSLError) and _CERTIFICATE_REQUIRED in (cause.reason or ""):
            return cause
    return None
