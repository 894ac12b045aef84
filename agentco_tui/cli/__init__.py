"""The command line: its grammar, its arguments, and what runs for them."""
