"""Keys: the table of commands, the names of keys, and which keys were pressed alone.

Without Textual: the command line, the config file and the screens all use it.
"""
