"""The key is found in a body however the body is cut."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentco_tui.api.credentials import ApiKey

KEY = "ag_aab_aabag_"
"""Its beginnings occur inside it."""


def through(key: ApiKey, pieces: list[bytes]) -> bytes:
    redactor = key.redactor()
    return b"".join([*map(redactor.feed, pieces), redactor.rest()])


parts = st.lists(
    st.sampled_from([KEY, KEY[:4], KEY[:9], KEY[4:], "a", "ag", "_", '{"x": "', "\n"]), max_size=12
)


@given(parts, st.data())
def test_pieces_say_what_the_whole_says(said: list[str], data: st.DataObject) -> None:
    body = "".join(said).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(body)), max_size=8)))
    pieces = [body[start:end] for start, end in zip([0, *cuts], [*cuts, len(body)], strict=True)]
    told = through(ApiKey(KEY), pieces)
    assert KEY.encode() not in told
    assert told == ApiKey(KEY).redact_bytes(body)


def test_byte_by_byte() -> None:
    body = f"Bearer {KEY} and {KEY[:-1]}".encode()
    told = through(ApiKey(KEY), [body[at : at + 1] for at in range(len(body))])
    assert told == f"Bearer ag_**** and {KEY[:-1]}".encode()


def test_only_what_may_be_the_key_waits() -> None:
    redactor = ApiKey(KEY).redactor()
    assert redactor.feed(b"x" * 100_000 + b"ag_a") == b"x" * 100_000
    assert redactor.feed(b"!") == b"ag_a!"
    assert redactor.rest() == b""


def test_the_key_shows_in_no_description_of_it() -> None:
    redactor = ApiKey(KEY).redactor()
    redactor.feed(KEY[:-1].encode())
    assert KEY[:6] not in repr(redactor)
    assert not hasattr(redactor, "__dict__")
