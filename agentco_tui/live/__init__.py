"""Keeps the current picture: which feeds are due, the records by id, how fresh each is."""
