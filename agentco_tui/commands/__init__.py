"""The commands that run without the dashboard, such as `status`, `get` and `doctor`.

Each command is a module with a function `run(arguments, env)`, which returns the exit code.
`cli/dispatch.py` imports the module when the command is run.
"""
