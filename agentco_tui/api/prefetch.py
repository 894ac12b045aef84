"""Sends the first request early, while Textual and the screens are still being imported.

The platform (the remote service) says which one that is; for most it is that for the tasks that
need the user's approval. `ListReader` decodes a long list while it arrives, and sets a `Beginning`,
a future, to its first rows.
"""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.error_messages import RequestInfo
from agentco_tui.api.errors import ApiError
from agentco_tui.api.reply_decoding import list_reader
from agentco_tui.model import Task
from agentco_tui.reading.stream import Beginning, ListReader

if TYPE_CHECKING:
    from agentco_tui.api.capabilities import FirstRequest
    from agentco_tui.api.reply import Reply
    from agentco_tui.api.request_builder import Pairs


class Prefetch:
    """One request for what every screen needs; its answer is used once."""

    def __init__(self, first: FirstRequest) -> None:
        """Does nothing yet: use `begin`."""
        self.first = first
        self._reply: Future[Reply | None] | None = Future()
        # A caller that stops waiting must not cancel the request.
        self._reply.set_running_or_notify_cancel()
        self._beginning: Beginning[Task] = Future()

    @classmethod
    def begin(
        cls, first: FirstRequest | None, base: BaseUrl, key: ApiKey | None, **settings: Any
    ) -> Prefetch | None:
        """Send the first request in a thread with its own connection.

        None without a key, or if no request is first. `settings` are those of the Transport.
        """
        if key is None or first is None:
            return None
        prefetch = cls(first)
        is_under_way = threading.Event()
        threading.Thread(
            target=prefetch._run,
            args=(base, key, settings, is_under_way),
            name="prefetch",
            daemon=True,
        ).start()
        # Two threads that import take turns: without this wait, the request would not be sent
        # before both have imported everything.
        is_under_way.wait()
        return prefetch

    async def take(
        self, path: str, params: Pairs, beginning: Beginning[Any] | None = None
    ) -> Reply | None:
        """The answer, if it is the one to this request and was not taken before, else None.

        `beginning` gets the first rows of a long list. Raises ApiError as the request would.
        """
        reply = self._reply
        if reply is None or (path, tuple(params)) != (self.first.path, self.first.params):
            return None
        # Released, so that the first list is not held as long as the program runs.
        self._reply = None
        if beginning is not None:
            self._beginning.add_done_callback(lambda first: beginning.set_result(first.result()))
        return await asyncio.wrap_future(reply)

    def _run(
        self, base: BaseUrl, key: ApiKey, settings: dict[str, Any], is_under_way: threading.Event
    ) -> None:
        reply = self._reply
        assert reply is not None
        try:
            reply.set_result(asyncio.run(self._request(base, key, settings, is_under_way)))
        except ApiError as error:
            reply.set_exception(error)
        except (CredentialError, OSError):
            # Reported when the transport itself is opened, or by its first request.
            reply.set_result(None)
        finally:
            is_under_way.set()

    async def _request(
        self, base: BaseUrl, key: ApiKey, settings: dict[str, Any], is_under_way: threading.Event
    ) -> Reply:
        from agentco_tui.api.transport import Transport  # noqa: PLC0415 (imports httpx)

        async with aclosing(Transport(base, key, attempts=1, **settings)) as transport:
            is_under_way.set()
            first = self.first
            stream = self._list_reader if first.has_tasks else None
            return await transport.request("GET", first.path, params=first.params, stream=stream)

    def _list_reader(self, info: RequestInfo) -> ListReader[Task]:
        from agentco_tui.reading.kinds.task import TASKS  # noqa: PLC0415 (for a long list only)

        return list_reader(TASKS, None, self._beginning, info)
