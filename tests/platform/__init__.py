"""The embedded platform as tests need it: every request is logged, and it can fail in more ways.

`EmbeddedPlatform` extends that of `agentco-tui demo` by a request log, a control path, keys that
can be revoked, the response shapes of other platforms, and more kinds of faults.
`python -m tests.platform` runs it as a process.
"""

from tests.platform.observed_platform import (
    EmbeddedPlatform,
    LoggedRequest,
    decide_elsewhere,
)

__all__ = ["EmbeddedPlatform", "LoggedRequest", "decide_elsewhere"]
