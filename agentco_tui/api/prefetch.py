"""The first request, on its way while the rest of the program is still being read from disk.

Reading Textual and the screens takes longer than most platforms take to answer. So the dashboard
asks for what its first screen shows from a thread, with a connection of its own, before it imports
them; the client that is made later takes the answer over, once, for the very same request.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, Final

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.errors import ApiError

if TYPE_CHECKING:
    from agentco_tui.api.error_messages import Asked
    from agentco_tui.api.transport import Pairs, Reply
    from agentco_tui.model import Task
    from agentco_tui.reading.stream import Beginning, ListReader

_PATH: Final = "/api/tasks"
"""The tasks that wait: every screen needs them, the Overview and the queue before all else."""


class Prefetch:
    """One GET that was sent early; what came of it can be taken once."""

    def __init__(self, params: Pairs) -> None:
        self.params = params
        self._reply: Future[Reply | None] | None = Future()
        # So that a request that waited in vain can't cancel it.
        self._reply.set_running_or_notify_cancel()
        self._beginning: Beginning[Task] = Future()

    @classmethod
    def begin(
        cls, company: str | None, base: BaseUrl, key: ApiKey | None, **settings: Any
    ) -> Prefetch | None:
        """Ask for the tasks that wait, of a company or of all; None without a key.

        `settings` are those of the Transport.
        """
        if key is None:
            return None
        scope = () if company is None else (("company_id", company),)
        early = cls((*scope, ("status", "pending")))
        reply, under_way = early._reply, threading.Event()

        async def asked() -> Reply:
            from agentco_tui.api.transport import Transport  # noqa: PLC0415

            async with Transport(base, key, attempts=1, **settings) as transport:
                under_way.set()
                return await transport.request(
                    "GET", _PATH, params=early.params, stream=early._reader
                )

        def work() -> None:
            assert reply is not None
            try:
                reply.set_result(asyncio.run(asked()))
            except ApiError as error:
                reply.set_exception(error)
            except (CredentialError, OSError):
                # Told when the transport itself is made, or asks.
                reply.set_result(None)
            finally:
                under_way.set()

        threading.Thread(target=work, name="prefetch", daemon=True).start()
        # Two threads that import take turns: the request would be sent when both are through.
        under_way.wait()
        return early

    async def take(
        self, path: str, params: Pairs, beginning: Beginning[Any] | None = None
    ) -> Reply | None:
        """The answer, if this is the request that was sent and it was not taken before, else None.

        `beginning` gets the first rows of a long list. Raises ApiError as the request itself would.
        """
        reply = self._reply
        if reply is None or (path, tuple(params)) != (_PATH, self.params):
            return None
        # The first list must not be held for as long as the program runs.
        self._reply = None
        if beginning is not None:
            self._beginning.add_done_callback(lambda first: beginning.set_result(first.result()))
        return await asyncio.wrap_future(reply)

    def _reader(self, asked: Asked) -> ListReader[Task]:
        from agentco_tui.api.fetcher import list_reader  # noqa: PLC0415 - only a long list needs it
        from agentco_tui.reading.kinds.task import TASKS  # noqa: PLC0415

        return list_reader(TASKS, None, self._beginning, asked)
