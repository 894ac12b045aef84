"""Normalizes the address of a platform (the remote service that is watched).

All spellings of one address compare equal then. The journal (of requests that were sent to change
something) and the history (of what was read) are stored under this name.
"""

from __future__ import annotations

import contextlib
import ipaddress
from urllib.parse import urlsplit

from agentco_tui.text.memoized import memoized


@memoized(256)
def platform_of(origin: str) -> str:
    """The normalized address of a platform, such as http://localhost:8000.

    `origin` is the address as configured; a path behind the port is kept.

    Case, a default port, a dot or slash at the end, and the spelling of an IP address or of the
    loopback make no difference. An address that cannot be parsed is returned unchanged.
    """
    try:
        parts = urlsplit(origin)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return origin
    host = fold_host((parts.hostname or "").removesuffix("."))
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def fold_host(host: str) -> str:
    """The normalized name of a host or IP address; "localhost" for all addresses of loopback."""
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        with contextlib.suppress(UnicodeError):
            return host.encode("idna").decode("ascii").lower()
        return host
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    if address.is_loopback or address.is_unspecified:
        return "localhost"
    return f"[{address}]" if address.version == 6 else str(address)
