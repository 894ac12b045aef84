"""The embedded platform: a real server over a world that lives, for demos and tests."""
