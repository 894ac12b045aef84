"""httpx without the command line program that comes with it.

Where click is installed, importing httpx imports that program too, and with it rich's Markdown,
tables and highlighting: 45 of 75 ms. httpx copes with its absence, as it does where click is not
installed.
"""

import sys


def without_command() -> None:
    """Leave the program out, if httpx is not imported yet."""
    if "httpx" not in sys.modules:
        sys.modules["httpx._main"] = None  # type: ignore[assignment]
