"""Keys: the table of commands, the names of keys, and which keys were pressed alone."""
