"""Bodies of answers to records: each kind of record is one table of exact names; no guessing."""
