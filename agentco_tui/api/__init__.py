"""Speaks HTTP and JSON to the platform, the remote service; knows no screen and no Textual."""
