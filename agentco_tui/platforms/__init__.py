"""Platforms that are described by a file: which requests answer our questions, and how.

`declaration` has the records of a file, `file` reads and checks one, `templates` fills in what
stands in braces, and `declared_platform` asks the platform as the file says. The files of this
folder come with the program; others lie in the folder `platforms` beside the config file.
"""
