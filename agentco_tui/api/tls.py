"""Which certificates are believed."""

from __future__ import annotations

import re
import ssl
from pathlib import Path
from typing import Final

from agentco_tui.api.credentials import CredentialError
from agentco_tui.text import safe

_HASHED: Final = re.compile(r"[0-9a-f]{8}\.\d+")


def tls_context(ca_file: Path | None = None, *, trust_env: bool = False) -> ssl.SSLContext | None:
    """A context that checks certificate and host name; takes 20 to 40 ms.

    With `ca_file` (PEM) only its CAs are believed. Without, those of the machine are; None if the
    machine has none where its OpenSSL looks. SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE count
    only with `trust_env`. Raises CredentialError for a file that cannot be used.
    """
    if ca_file is not None:
        try:
            context = ssl.create_default_context(cafile=str(ca_file))
        except (OSError, ValueError):
            # SSLError is an OSError: a missing file and one without certificates alike.
            raise CredentialError(
                f"ca_file {safe(str(ca_file), 200)} cannot be used: "
                "it must be a readable file with certificates in PEM form"
            ) from None
    elif trust_env:
        return ssl.create_default_context()
    else:
        paths = ssl.get_default_verify_paths()
        file, folder = Path(paths.openssl_cafile), Path(paths.openssl_capath)
        cafile = str(file) if file.is_file() else None
        capath = str(folder) if _has_certificates(folder) else None
        if cafile is None and capath is None:
            return None
        context = ssl.create_default_context(cafile=cafile, capath=capath)
    if not trust_env:
        # Python has set it from SSLKEYLOGFILE, which writes the session keys to a file.
        context.keylog_filename = None  # type: ignore[assignment]
    return context


def no_tls_context() -> ssl.SSLContext:
    """A context that believes nobody, for plain http, where it is never asked: costs nothing."""
    return ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)


def _has_certificates(folder: Path) -> bool:
    """True if OpenSSL would find certificates in it, which go by the hash of their names."""
    try:
        return any(_HASHED.fullmatch(entry.name) for entry in folder.iterdir())
    except OSError:
        return False
