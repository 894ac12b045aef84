"""Bodies to records: each kind of record is one table of exact names, and nothing is guessed."""
