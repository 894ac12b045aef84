"""The command line: its grammar, its parser, and the start of commands and dashboards."""
