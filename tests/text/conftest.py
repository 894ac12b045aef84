from __future__ import annotations

from collections.abc import Iterator

import pytest

from agentco_tui.text.signs import use_ascii


@pytest.fixture
def ascii_mode() -> Iterator[None]:
    use_ascii()
    yield
    use_ascii(False)
