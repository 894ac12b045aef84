"""Certificates that are to be believed, and those that are not, each with its own sentence."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest

from agentco_tui.api import errors
from agentco_tui.api.connection_errors import tls_template
from agentco_tui.api.credentials import CredentialError
from agentco_tui.api.errors import Sent
from agentco_tui.api.limits import Limits
from agentco_tui.api.tls import tls_context
from tests.api.canary import SHORT, failure, transport
from tests.api.wire_server import Exchange, answering, http

CERTIFICATES = Path(__file__).parent / "certificates"
CA = CERTIFICATES / "ca.pem"


def showing(name: str) -> ssl.SSLContext:
    """A server's context with the certificate of this name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATES / f"{name}.pem", CERTIFICATES / "server-key.pem")
    return context


async def test_a_private_ca_is_believed_when_it_is_named() -> None:
    async with (
        answering(http(b"1"), tls=showing("right")) as server,
        transport(server.base, ca_file=CA) as wire,
    ):
        assert (await wire.request("GET", "/api/tasks")).body == b"1"


@pytest.mark.parametrize(
    ("certificate", "ca_file", "told"),
    [
        ("right", None, "from a CA that this machine does not know: set ca_file"),
        ("expired", CA, "has expired"),
        ("future", CA, "is not valid yet: is the clock of this machine right?"),
        ("elsewhere", CA, "is not for 127.0.0.1"),
        ("selfsigned", None, "self-signed"),
        ("selfsigned", CA, "self-signed"),
    ],
)
async def test_certificates_refused(certificate: str, ca_file: Path | None, told: str) -> None:
    async with (
        answering(http(), tls=showing(certificate)) as server,
        transport(server.base, ca_file=ca_file, attempts=3) as wire,
    ):
        error = await failure(wire.request("GET", "/api/tasks"))
        written = await failure(wire.request("POST", "/api/tasks/t/approve"))
    assert type(error) is errors.TlsFailure
    assert told in error.sentence
    assert f"127.0.0.1:{server.port}" in error.sentence
    assert written.sent is Sent.NO
    assert server.requests == []


async def test_tls_spoken_to_a_plain_server() -> None:
    async def refuses(exchange: Exchange) -> None:
        await exchange.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")

    async with (
        answering(at_once=refuses) as server,
        transport(server.base.replace("http:", "https:")) as wire,
    ):
        error = await failure(wire.request("GET", "/api/tasks"))
    assert type(error) is errors.TlsFailure
    assert "does not speak TLS at this port" in error.sentence


@pytest.mark.parametrize("limits", [Limits(connect=0.1), Limits(total=0.1)])
async def test_a_handshake_that_hangs_ends_and_leaves_no_connection(limits: Limits) -> None:
    async with (
        answering(b"") as server,
        transport(server.base.replace("http:", "https:"), limits=limits) as wire,
    ):
        error = await failure(wire.request("POST", "/api/tasks/t/approve"))
        await server.empty()
    assert type(error) is errors.TimedOut
    # That the whole took too long proves nothing.
    assert error.sent is (Sent.NO if limits.connect < 1 else Sent.UNKNOWN)
    assert server.connections == 1


async def test_plain_http_spoken_to_a_tls_server() -> None:
    async with (
        answering(http(), tls=showing("right")) as server,
        transport(server.base.replace("https:", "http:"), limits=SHORT) as wire,
    ):
        error = await failure(wire.request("GET", "/api/tasks"))
    assert type(error) in (errors.Broken, errors.TimedOut)


async def test_a_server_that_wants_a_client_certificate() -> None:
    context = showing("right")
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(CA)
    async with (
        answering(http(), tls=context) as server,
        transport(server.base, ca_file=CA) as wire,
    ):
        error = await failure(wire.request("POST", "/api/tasks/t/approve"))
    assert type(error) in (errors.TlsFailure, errors.Broken)
    # With TLS 1.3 the refusal comes after the request has gone out.
    assert error.sent is Sent.UNKNOWN


@pytest.mark.parametrize("name", ["server-key.pem", "no-such-file.pem", "README.md", ""])
def test_a_ca_file_that_cannot_be_used_is_told_with_its_name(name: str) -> None:
    with pytest.raises(CredentialError, match=r"ca_file .* PEM") as caught:
        transport("https://h.example", ca_file=CERTIFICATES / name)
    assert name in str(caught.value)


def test_plain_http_costs_no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object, **__: object) -> ssl.SSLContext:
        raise AssertionError

    monkeypatch.setattr(ssl, "create_default_context", never)
    transport("http://127.0.0.1:1", ca_file=CA)


def test_session_keys_are_written_to_a_file_only_when_the_environment_counts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSLKEYLOGFILE", str(tmp_path / "keys"))
    own = tls_context(CA)
    assert own is not None
    assert not own.keylog_filename
    trusting = tls_context(CA, trust_env=True)
    assert trusting is not None
    assert str(trusting.keylog_filename) == str(tmp_path / "keys")


def test_every_context_checks_certificate_and_name() -> None:
    for context in (tls_context(), tls_context(CA), tls_context(trust_env=True)):
        if context is not None:
            assert context.verify_mode is ssl.CERT_REQUIRED
            assert context.check_hostname


@pytest.mark.parametrize(
    ("reason", "told"),
    [
        ("WRONG_VERSION_NUMBER", "does not speak TLS"),
        ("TLSV1_ALERT_PROTOCOL_VERSION", "TLS versions"),
        ("TLSV13_ALERT_CERTIFICATE_REQUIRED", "client certificate"),
        ("SSLV3_ALERT_HANDSHAKE_FAILURE", "handshake"),
    ],
)
def test_handshake_sentences(reason: str, told: str) -> None:
    failed = ssl.SSLError(1, "\x1b[31m")
    failed.reason = reason
    words = tls_template(failed)
    assert told in words
    assert words.isprintable()
