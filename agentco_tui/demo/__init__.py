"""The embedded platform: a real server over a world that lives, for demos and tests.

It takes the place of the remote service that the program watches.
"""
