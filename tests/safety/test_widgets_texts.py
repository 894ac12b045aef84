"""Every widget that takes one text at a time × every payload, in a real pseudo-terminal."""

from __future__ import annotations

import base64
import os
import re
import sys
from pathlib import Path

import pytest

from tests.safety.apps.widgets import PLACES
from tests.safety.hostile_world import unclean
from tests.terminal.pty_session import PtySession
from tests.text.payloads import PAYLOADS

pytestmark = pytest.mark.timeout(400)

STRIDE = 1 if os.environ.get("AGENTCO_ALL_PAYLOADS") else 5
"""Every fifth payload in the normal run: one takes some tenths of a second."""
CLIPBOARD = re.compile(rb"\x1b\]52;c;([A-Za-z0-9+/=]*)\x07")
TITLE = re.compile(rb"\x1b\]2;([^\x00-\x1f\x7f]*)\x07")


def test_no_widget_lets_a_payload_through(tmp_path: Path) -> None:
    report = tmp_path / "pairs"
    command = [sys.executable, "-m", "tests.safety.apps.widgets", str(report), str(STRIDE)]
    with PtySession(command, size=(120, 60)) as session:
        assert session.wait_gone(300) == 0, session.after_screen()[-600:]
        assert session.after_screen() == ""
        raw = session.raw
    shown = len(list(PAYLOADS)[::STRIDE])
    pairs = int(report.read_text())
    sys.stdout.write(f"pairs: {pairs}\n")
    assert pairs == len(PLACES) * shown >= 500
    begins, ends = raw.index(b"\x1b[?7l") + 5, raw.rindex(b"\x1b[?1049l")
    painted = raw[begins:ends]
    copied, titles = CLIPBOARD.findall(painted), TITLE.findall(painted)
    assert len(copied) == len(titles) == shown
    for text in (*map(base64.b64decode, copied), *titles):
        assert not re.search(rb"[\x00-\x08\x0b-\x1f\x7f]", text)
        assert "\u202e" not in text.decode()
    painted = TITLE.sub(b"", CLIPBOARD.sub(b"", painted))
    # What the driver says at its start and at its end.
    painted = re.sub(rb"\x1b\[(?:\?\d+[hl]|[<>]\d*u|\?\d+\$p)", b"", painted)
    assert unclean(painted) == []
