"""Readers of single values in answers: a raw JSON value in, what it means out."""
