"""`python -m agentco_tui` is the command `agentco-tui`."""

import sys

from agentco_tui.cli import main

if __name__ == "__main__":
    sys.exit(main())
