"""What the headers of an answer say of its pages, beside links and tokens (SHAPES A32)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from agentco_tui.api.names import fold, some
from agentco_tui.reading.json_body import BodyError, parse_json
from agentco_tui.reading.schema import Json

_NAMES: Final = {
    "x-page": "page", "x-current-page": "page", "x-pagination-page": "page",
    "x-pagination-current-page": "page", "x-per-page": "perpage", "x-page-size": "perpage",
    "x-pagination-per-page": "perpage", "x-pagination-limit": "perpage",
    "x-total-pages": "totalpages", "x-page-count": "totalpages", "x-wp-totalpages": "totalpages",
    "x-pagination-total-pages": "totalpages", "x-pagination-page-count": "totalpages",
    "x-total": "total", "x-total-count": "total", "x-wp-total": "total",
    "x-pagination-total-count": "total", "x-pagination-total": "total",
}  # fmt: skip
_IN_JSON: Final = ("x-pagination", "pagination", "paging-headers")
PAGING_HEADERS: Final = ("link", "x-next-page", "x-next-cursor", *_NAMES, *_IN_JSON)
"""All headers that decide how the next page is asked for."""
_MOST: Final = 2_000


def meta_in(headers: Mapping[str, str]) -> dict[str, Json]:
    """Page, sizes and counts by the names that bodies have for them, folded."""
    found: dict[str, Json] = {
        name: headers[header].strip()
        for header, name in _NAMES.items()
        if headers.get(header, "").strip().isdigit() and len(headers[header]) < 16
    }
    for header in _IN_JSON:
        text = headers.get(header, "")
        if not text.startswith("{") or len(text) > _MOST:
            continue
        try:
            told = parse_json(text.encode("utf-8", "replace"))
        except BodyError:
            continue
        if type(told) is dict:
            found |= {fold(key): value for key, value in some(told, 50)}
    return found
