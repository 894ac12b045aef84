from __future__ import annotations

import pytest
import wcwidth
from msgspec.structs import astuple
from rich.cells import cell_len

from agentco_tui.signs import ASCII, UNICODE, Signs, in_ascii
from agentco_tui.text import ascii_wanted, safe, signs, use_ascii


def each(which: Signs) -> list[str]:
    return [*which.bar_parts, *(sign for sign in astuple(which) if len(sign) == 1)]


@pytest.mark.parametrize("which", [UNICODE, ASCII])
def test_every_sign_is_one_safe_cell(which: Signs) -> None:
    for sign in each(which):
        assert wcwidth.wcwidth(sign) == cell_len(sign) == 1
        assert safe(sign) == sign
        assert sign.isascii() or which is not ASCII


def test_one_object_changes_for_all_who_imported_it() -> None:
    assert signs.warning == "▲"
    try:
        use_ascii()
        assert (signs.warning, signs.missing, in_ascii()) == ("!", "-", True)
    finally:
        use_ascii(False)
    assert (signs.warning, signs.missing, in_ascii()) == ("▲", "–", False)
    with pytest.raises(AttributeError):
        signs.warning = UNICODE.good  # type: ignore[misc]


@pytest.mark.parametrize(
    ("encoding", "environ", "expected"),
    [
        ("utf-8", {}, False),
        ("utf-8", {"LANG": "C"}, True),
        ("utf-8", {"LANG": "en_US.UTF-8", "LC_ALL": "C"}, True),
        ("utf-8", {"LANG": "C", "LC_CTYPE": "C.utf8"}, False),
        ("utf-8", {"LANG": "de_DE@euro"}, True),
        ("utf-8", {"LANG": "en_US.UTF-8", "TERM": "linux"}, True),
        ("utf-8", {"TERM": "vt220"}, True),
        ("ascii", {"LANG": "en_US.UTF-8"}, True),
        ("ANSI_X3.4-1968", {}, True),
        (None, {}, True),
    ],
)
def test_when_ascii_is_wanted(
    encoding: str | None, environ: dict[str, str], expected: bool
) -> None:
    assert ascii_wanted(encoding, environ) is expected
