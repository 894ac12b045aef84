"""Programs run in real pseudo-terminals; `pty_session` is the harness for every room."""
