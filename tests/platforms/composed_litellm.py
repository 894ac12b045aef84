"""A server that answers as the source of LiteLLM's proxy says: litellm 1.110.2, as on PyPI.

Its bodies are composed, not recorded. `litellm_rows.json` has a team as `/v2/team/list` and a key
as `/key/list` send it, with every field that these are serialized with there (`TeamListItem`,
`UserAPIKeyAuth`) and its default; what differs for a row is written below. Statuses and sentences
of errors are those of the same source.

A key is needed. Lists come in pages of at most 100, and only whole pages are asked for. LiteLLM
ignores parameters and fields of a body that it does not know; here they are refused, because such a
request would not be understood as it was meant.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

from tests.platforms.seen import Seen

_ROWS: dict[str, Any] = json.loads(
    Path(__file__).with_name("litellm_rows.json").read_text(encoding="utf-8")
)
KEY = "sk-composed-1234"
NOW = 1_790_000_000.0
"""When all of this is so: 2026-09-21 14:13:20 UTC."""
GLOBEX = "4f0d7a6e-9a2b-4f1e-8a67-2b8a0c1d9e10"
ACME = "b1c2d3e4-0f1a-4b2c-9d3e-4f5a6b7c8d9e"
INITECH = "c0ffee00-1111-4222-8333-444455556666"
_CREATED = "2026-09-01T00:00:00Z"
_RESET = "2026-10-01T00:00:00Z"
_MONTH = {"budget_duration": "30d", "budget_reset_at": _RESET}

UI_CONFIG: dict[str, Any] = {
    "server_root_path": "",
    "proxy_base_url": None,
    "gateway_base_url": None,
    "auto_redirect_to_sso": False,
    "admin_ui_disabled": False,
    "sso_configured": False,
    "hide_default_credentials_hint": False,
    "is_control_plane": False,
    "mcp_stdio_enabled": False,
    "use_si_terminology": False,
    "claude_code_marketplace_auth_required": False,
    "workers": [],
}
"""The answer to `/.well-known/litellm-ui-config`, for which no key is needed."""
READINESS = {"status": "healthy", "db": "connected"}
"""The answer to `/health/readiness`, for which no key is needed either."""


def token_of(alias: str) -> str:
    """The hash by which LiteLLM keeps a key."""
    return sha256(alias.encode()).hexdigest()


def team(team_id: str, alias: str, **fields: Any) -> dict[str, Any]:
    own = {"team_id": team_id, "team_alias": alias, "created_at": _CREATED, "metadata": {}}
    return {**_ROWS["team"], "spend": 0.0, **own, **fields}


def key(alias: str, **fields: Any) -> dict[str, Any]:
    own = {"token": token_of(alias), "key_alias": alias, "key_name": f"sk-...{alias[-4:]}"}
    return {**_ROWS["key"], "created_at": _CREATED, **own, **fields}


SCOUT, QUILL, TIDY, RANGER, ANON = map(token_of, ("scout", "quill", "tidy", "ranger", "anonymous"))


def _teams() -> list[dict[str, Any]]:
    return [
        team(GLOBEX, "Globex", spend=96.5, max_budget=100.0, soft_budget=80.0, **_MONTH),
        team(ACME, "Acme", spend=12.3456789),  # without a limit
        team(INITECH, "Initech", spend=1.5, max_budget=40.0, organization_id="org-1", blocked=True,
             budget_duration="7d", budget_reset_at="2026-09-28T00:00:00Z"),
    ]  # fmt: skip


def _keys() -> list[dict[str, Any]]:
    of_table = {"budget_id": "tier-1", "max_budget": 10.0, "soft_budget": None, **_MONTH}
    return [
        # Ids of others beside its own: an agent of LiteLLM, a person, an organization.
        key("scout", team_id=GLOBEX, user_id="u-1", agent_id="agent-7", org_id="org-1", spend=49.5,
            total_spend=149.5, max_budget=50.0, last_active="2026-09-21T14:00:00Z", **_MONTH),
        key("quill", team_id=GLOBEX, spend=3.25, total_spend=3.25, max_budget=20.0, blocked=True,
            **_MONTH),
        key("tidy", team_id=ACME, spend=0.125, blocked=False),
        # Its limit is that of a budget which several keys have.
        key("ranger", team_id=INITECH, spend=9.75, budget_id="tier-1",
            litellm_budget_table=of_table),
        # Of no team, and without an alias. It may spend nothing any more.
        {**key("anonymous", spend=2.0, max_budget=0.0), "key_alias": None},
    ]  # fmt: skip


_TEAM_QUERY = {"page", "page_size", "sort_by", "sort_order", "team_id"}
_KEY_QUERY = {"page", "size", "team_id", "return_full_object", "sort_by", "sort_order"}
_BODY = {"key", "max_budget"}


class ComposedLiteLLM:
    """The server; use it with `with`."""

    def __init__(self) -> None:
        self.requests: list[Seen] = []
        self.teams = _teams()
        self.keys = _keys()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self) -> None:
                outer.answer(self)

            do_GET = do_POST = handle_any  # noqa: N815 - names of the base class

            def log_message(self, *args: object) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    full_key = KEY

    @property
    def world(self) -> Self:
        """Where the harness of the screens asks for the time."""
        return self

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def time(self) -> float:
        return NOW

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        length = int(handler.headers.get("Content-Length") or 0)
        sent = json.loads(handler.rfile.read(length)) if length else None
        parts = urlsplit(handler.path)
        query = dict(parse_qsl(parts.query))
        authorization = handler.headers.get("Authorization")
        status, body = self._answer(handler.command, parts.path, query, sent, authorization)
        data = json.dumps(body, ensure_ascii=False).encode()
        self.requests.append(Seen(handler.command, parts.path, query, sent, authorization, status))
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    def _answer(
        self, method: str, path: str, query: dict[str, str], sent: Any, authorization: str | None
    ) -> tuple[int, Any]:
        open_to_all = {
            "/.well-known/litellm-ui-config": UI_CONFIG,
            "/health/readiness": READINESS,
            "/health/liveliness": "I'm alive!",
        }
        if method == "GET" and path in open_to_all:
            return 200, open_to_all[path]
        if authorization != f"Bearer {KEY}":
            word = "No api key passed in." if authorization is None else "Invalid API key provided."
            return 401, _error(f"Authentication Error, {word}", "auth_error", 401)
        match method, path:
            case "GET", "/v2/team/list":
                return self._team_list(query)
            case "GET", "/key/list":
                return self._key_list(query)
            case "POST", "/key/update":
                return self._update_key(sent)
        return 404, {"detail": "Not Found"}

    def _team_list(self, query: dict[str, str]) -> tuple[int, Any]:
        if not query.keys() <= _TEAM_QUERY or query.get("sort_by") != "team_id":
            return 422, _not_valid("query", "not understood")
        bounds = _page_of(query, "page_size")
        if bounds is None:
            return 422, _not_valid("page_size", "Input should be less than or equal to 100")
        page, size = bounds
        rows = sorted(self.teams, key=lambda row: row["team_id"])
        counts = Counter(row["team_id"] for row in self.keys)
        rows = [{**row, "keys_count": counts[row["team_id"]]} for row in rows]
        shown = rows[(page - 1) * size : page * size]
        numbers = {"total": len(rows), "page": page, "page_size": size}
        return 200, {"teams": shown, **numbers, "total_pages": -(-len(rows) // size)}

    def _key_list(self, query: dict[str, str]) -> tuple[int, Any]:
        if not query.keys() <= _KEY_QUERY:
            return 422, _not_valid("query", "not understood")
        bounds = _page_of(query, "size")
        full = query.get("return_full_object", "false")
        if bounds is None or full not in ("true", "false"):
            return 422, _not_valid("size", "Input should be less than or equal to 100")
        page, size = bounds
        wanted = query.get("team_id")
        rows = [row for row in self.keys if wanted in (None, row["team_id"])]
        rows.sort(key=lambda row: (row["created_at"], row["token"]), reverse=True)
        shown: list[Any] = rows[(page - 1) * size : page * size]
        if full == "false":
            shown = [row["token"] for row in shown]
        numbers = {"total_count": len(rows), "current_page": page}
        return 200, {"keys": shown, **numbers, "total_pages": -(-len(rows) // size)}

    def _update_key(self, sent: Any) -> tuple[int, Any]:
        if not isinstance(sent, dict) or not sent.keys() <= _BODY:
            return 422, _not_valid("body", "not understood")
        if "key" not in sent:
            return 422, _not_valid("body", "Value error, either key or key_alias must be provided")
        limit: Any = sent.get("max_budget")
        if type(limit) not in (int, float):
            return 422, _not_valid("max_budget", "Input should be a valid number")
        if limit < 0:
            why = f"max_budget must be a non-negative finite number. Received: {limit}"
            return 400, _error(str({"error": why}), "invalid_request_error", 400)
        for row in self.keys:
            if row["token"] == sent["key"]:
                row["max_budget"] = float(limit)
                return 200, {"key": row["token"], **row}
        return 404, _error("Key not found.", "not_found_error", 404)


def _page_of(query: dict[str, str], size_name: str) -> tuple[int, int] | None:
    """The number of a page and its size; None for what FastAPI refuses."""
    page, size = query.get("page", "1"), query.get(size_name, "10")
    if not (page.isdigit() and size.isdigit()):
        return None
    if int(page) < 1 or not 1 <= int(size) <= 100:
        return None
    return int(page), int(size)


def _error(message: str, kind: str, code: int) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": str(code)}}


def _not_valid(where: str, why: str) -> Any:
    return {"detail": [{"type": "value_error", "loc": ["query", where], "msg": why}]}
