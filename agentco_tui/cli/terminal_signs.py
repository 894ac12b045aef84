"""Chooses the signs that the program draws (▲ ● …) by what standard output can show.

`needs_ascii` decides by the encoding and the locale; `use_ascii` changes `text.signs` for the
whole process.
"""

from __future__ import annotations

import os
import sys

from agentco_tui.text.signs import needs_ascii, use_ascii


def choose_signs() -> None:
    """Use ASCII signs in this process if Unicode ones would not be shown correctly."""
    use_ascii(needs_ascii(getattr(sys.stdout, "encoding", None), os.environ))
