"""Envelopes of lists and of single records, as real platforms have them (SHAPES A, B)."""

from __future__ import annotations

from agentco_tui.demo.shape import Ask, Json, Out, Page, Rows


def bare(_kind: str, rows: Rows, _page: Page, _ask: Ask) -> Out:
    """A1: an array and nothing else."""
    return Out(list(rows))


def plain_single(_kind: str, record: Json) -> Json:
    """B1: the record itself."""
    return record
