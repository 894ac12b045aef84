"""Tests of the room that speaks HTTP and JSON."""
