"""Tests, a folder a room of the program."""
