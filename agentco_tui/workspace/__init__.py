"""One platform in memory, for the dashboard and for every command: see `Workspace`."""
