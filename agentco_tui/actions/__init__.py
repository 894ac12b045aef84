"""All that changes the platform, the remote service: approve, create, clone, set a limit."""
