"""Speaks HTTP and JSON to the platform; knows no screen and no Textual."""
