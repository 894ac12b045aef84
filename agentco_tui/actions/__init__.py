"""All that changes the platform: approve, create, clone, set a limit."""
