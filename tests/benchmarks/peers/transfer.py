"""The smallest program that fetches what `get tasks --status all` needs, and drops it."""

from __future__ import annotations

import os

import httpx


def main() -> None:
    """Fetch the companies, the agents and all tasks."""
    headers = {"Authorization": f"Bearer {os.environ['AGENTCO_API_KEY']}"}
    base_url = os.environ["AGENTCO_BASE_URL"]
    with httpx.Client(base_url=base_url, headers=headers, timeout=60, trust_env=False) as client:
        for path in ("/api/companies", "/api/agents", "/api/tasks"):
            client.get(path).raise_for_status()


if __name__ == "__main__":
    main()
