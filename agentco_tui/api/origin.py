"""The one name of a platform, however its address is written."""

from __future__ import annotations

import contextlib
import ipaddress
from urllib.parse import urlsplit

from agentco_tui.text.memoized import memoized


@memoized(256)
def platform_of(origin: str) -> str:
    """One name for all ways to write an address, such as http://localhost:8000: with other case, a
    default port, a dot or slash at the end, another spelling of an IP address or of the loopback.
    """
    try:
        parts = urlsplit(origin)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return origin
    host = fold_host((parts.hostname or "").removesuffix("."))
    return f"{parts.scheme}://{host}:{port}{parts.path.rstrip('/')}"


def fold_host(host: str) -> str:
    """One name for all spellings of a host or IP address; this machine's own is localhost."""
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
