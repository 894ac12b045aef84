"""The commands that run without the dashboard, such as `status`, `get` and `doctor`.

Each command is a module with a function `run(arguments, env)`, which returns the exit code;
`arguments` are those of the command line by name, and `env` is the environment. `cli/dispatch.py`
imports the module when the command is run.
"""
