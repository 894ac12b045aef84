"""The smallest program that fetches what `get tasks --status all` needs, and drops it.

With `--pages` the platform sends pages, each with the cursor of the next one (`nextCursor`).
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from urllib.parse import quote

import httpx

_NEXT = re.compile(rb'"nextCursor":"([^"]+)"')
"""The cursor of the next page; in JSON it is written as it is, for it is base64."""
_MOST_PAGES = 10_000


def main(arguments: Sequence[str]) -> None:
    """Fetch the companies, the agents and all tasks."""
    headers = {"Authorization": f"Bearer {os.environ['AGENTCO_API_KEY']}"}
    base_url = os.environ["AGENTCO_BASE_URL"]
    with httpx.Client(base_url=base_url, headers=headers, timeout=60, trust_env=False) as client:
        for path in ("/api/companies", "/api/agents", "/api/tasks"):
            body = fetch(client, path)
            if "--pages" in arguments:
                fetch_further_pages(client, path, body)


def fetch(client: httpx.Client, path: str) -> bytes:
    """Return the body of an answer."""
    return client.get(path).raise_for_status().content


def fetch_further_pages(client: httpx.Client, path: str, body: bytes) -> None:
    """Fetch the pages that follow a first one."""
    for _ in range(_MOST_PAGES):
        # Either before or behind the rows: no row has a field of this name.
        following = _NEXT.search(body, max(0, len(body) - 1_000)) or _NEXT.search(body, 0, 1_000)
        if following is None:
            return
        body = fetch(client, f"{path}?cursor={quote(following[1].decode(), safe='')}")


if __name__ == "__main__":
    main(sys.argv[1:])
