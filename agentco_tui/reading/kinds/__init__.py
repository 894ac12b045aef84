"""One file for each kind of record: its table of names, and how a record is built of them."""
