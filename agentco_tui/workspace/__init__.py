"""One platform, a remote service, in memory, for the dashboard and every command: `Workspace`."""
