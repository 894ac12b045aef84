"""Readers of single values: a raw JSON value in, what it means out."""
