"""Decodes the body of an answer; if anything is wrong with it, the result is an ApiError.

`decode` makes records of parsed JSON: a `Kind` describes one kind of record, a `Page` has the
records of a list in one answer. `KnownRows` are the hashes of rows that were decoded before, with
their records. An error is returned, not raised: a raised one would hold on to the parser's
exception, and with it to the body.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeVar

from agentco_tui.api import errors
from agentco_tui.api.error_messages import RequestInfo, failure_in_body, unusable_answer
from agentco_tui.api.errors import ApiError
from agentco_tui.model import Record
from agentco_tui.reading.decode import Page, RefusedBody, UnexpectedShape, read_page
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.json_body import BodyError, OverfullBodyError, parse_json
from agentco_tui.reading.schema import Kind
from agentco_tui.reading.stream import Beginning, KnownRows, ListReader
from agentco_tui.text import mark_safe

R = TypeVar("R", bound=Record)
T = TypeVar("T")


def decode_body(
    body: bytes,
    info: RequestInfo,
    status: int,
    decode: Callable[[Json], T],
    parse: Callable[[bytes], Json] = parse_json,
) -> T | ApiError:
    """What `decode` returns for the JSON in a body, or the error for a body it cannot decode."""
    is_empty = not body or body.isspace()
    if is_empty and status == 200 and info.method == "GET":
        # A 204 says that there is nothing. A 200 without a body says nothing at all, and must not
        # be taken for "no task is waiting".
        return unusable_answer(errors.NotJson, info, status, mark_safe("the answer is empty"))
    try:
        return decode(parse(body))
    except OverfullBodyError:
        return unusable_answer(errors.TooLarge, info, status, "what fits into memory")
    except BodyError as error:
        error_class = errors.WebPage if error.is_html else errors.NotJson
        return unusable_answer(error_class, info, status, error.reason)
    except RefusedBody as error:
        return failure_in_body(info, status, error.refusal)
    except UnexpectedShape as error:
        return unusable_answer(errors.Unreadable, info, status, error.sentence)


def list_reader(
    kind: Kind[R], known: KnownRows[R] | None, beginning: Beginning[R] | None, info: RequestInfo
) -> ListReader[R]:
    """A reader for a long list that is decoded while it arrives.

    `known` is what the last reading of this list left; `beginning` gets the first rows.
    """

    def read(body: bytes) -> Page[R]:
        outcome = decode_body(body, info, 200, partial(read_page, kind))
        if isinstance(outcome, ApiError):
            raise outcome
        return outcome

    return ListReader(read, known, kind.max_rows, beginning)
