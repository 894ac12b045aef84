"""The terminal itself: whether it can show the dashboard, and that it is well when we leave.

`fitness` looks before the start, `guard` runs the app and ends it whatever happens, `crash`
writes the report of an error in the program.
"""
