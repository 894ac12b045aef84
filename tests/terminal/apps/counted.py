"""The program, noting into the file of the first argument how many dashboards are in memory before
each that begins.
"""

import gc
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from agentco_tui.cli import launch
from agentco_tui.cli.main import main
from agentco_tui.textual_patches import memo_caches

KEEPING = "counts-without-forgetting"
"""With this name of the file, the caches of Textual are left as they are."""

run = launch.launch_dashboard
counts = Path(sys.argv[1])


def counted(*about: Any, **shown: Any) -> Any:
    names = [type(each).__name__ for each in gc.get_objects()]
    with counts.open("a") as file:
        file.write(f"{names.count('DashboardApp')} ")
    return run(*about, **shown)


def forget_nothing() -> None:
    """Stands in for what empties the caches of Textual."""


if counts.name == KEEPING:
    patch.object(memo_caches, "forget_what_textual_remembers", forget_nothing).start()
with patch.object(launch, "launch_dashboard", counted):
    sys.exit(main(sys.argv[2:]))
