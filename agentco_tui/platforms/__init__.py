"""Platforms that are described by a file: which requests answer our questions, and how.

`platform_records` has the records of a file, `platform_file` reads and checks one, and `templates`
fills in what stands in braces. `declared_platform` asks the platform as the file says,
`declared_kind` reads the rows of the answers, and `declared_capabilities` says what is offered.
`opener` opens the platform of the settings, also one without a file, `recognition` finds the file
of the platform that answers at an address, and `declared_words` lists a file's words for a bug
report. The files of this folder come with the program; others lie in the folder `platforms` beside
the config file.
"""
