"""Makes the TLS context, with the trusted CAs, and finds the proxy that the environment names."""

from __future__ import annotations

import ssl
from importlib.util import find_spec
from pathlib import Path
from urllib.request import getproxies, proxy_bypass

import httpcore
import httpx

from agentco_tui.api.credentials import CredentialError
from agentco_tui.text import clean_line


def proxy_of_environment(scheme: str, host: str) -> httpcore.Proxy | None:
    """Return the proxy that HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY name for an address.

    Raises ValueError, ImportError or httpx.InvalidURL for one that can't be used.
    """
    proxies = getproxies()
    address = proxies.get(scheme) or proxies.get("all")
    if not address or proxy_bypass(host):
        return None
    proxy = httpx.Proxy(address if "://" in address else f"http://{address}")
    if proxy.url.scheme.startswith("socks") and find_spec("socksio") is None:
        raise ImportError("socksio")
    return httpcore.Proxy(str(proxy.url), auth=proxy.raw_auth)


def tls_context(ca_file: Path | None = None, *, trust_env: bool = False) -> ssl.SSLContext:
    """Return a context that checks certificate and host name; takes 20 to 40 ms.

    With `ca_file` (PEM) only its CAs are believed; else those of the machine, or of certifi if it
    has none. SSL_CERT_FILE, SSL_CERT_DIR and SSLKEYLOGFILE count only with `trust_env`. Raises
    CredentialError for a `ca_file` that can't be used.
    """
    if ca_file is not None:
        context = _context_of_file(ca_file)
    elif trust_env:
        return ssl.create_default_context()
    else:
        context = _context_of_machine()
    if not trust_env:
        # Python has set it from SSLKEYLOGFILE, which writes the session keys to a file.
        context.keylog_filename = None  # type: ignore[assignment]
    return context


def _context_of_file(ca_file: Path) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=str(ca_file))
    except (OSError, ValueError):
        # SSLError is an OSError: a missing file and one without certificates alike.
        raise CredentialError(
            f"ca_file {clean_line(str(ca_file), 200)} cannot be used: "
            "it must be a readable file with certificates in PEM form"
        ) from None


def _context_of_machine() -> ssl.SSLContext:
    paths = ssl.get_default_verify_paths()
    file = Path(paths.openssl_cafile)
    folder = Path(paths.openssl_capath)
    cafile = str(file) if file.is_file() else None
    # OpenSSL finds certificates by the hash of their names, with a number after it.
    has_certificates = any(folder.glob("*.[0-9]"))
    capath = str(folder) if has_certificates else None
    if cafile is None and capath is None:
        return httpx.create_ssl_context(trust_env=False)
    return ssl.create_default_context(cafile=cafile, capath=capath)
