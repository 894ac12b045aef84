"""The first request, on its way while the rest of the program is still being read from disk.

Reading Textual and the screens takes longer than most platforms take to answer. So the dashboard
asks for what its first screen shows from a thread, with a connection of its own, before it imports
them; the transport that is made later takes the answer over, once, for the very same request.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from agentco_tui.api.answered import KEY_SOURCE
from agentco_tui.api.credentials import ApiKey, BaseUrl, CredentialError
from agentco_tui.api.errors import ApiError
from agentco_tui.api.lean_httpx import without_command

if TYPE_CHECKING:
    from agentco_tui.api.incoming import Reply
    from agentco_tui.api.intake import Intake
    from agentco_tui.api.outgoing import Pairs

_PATH: Final = "/api/tasks"
"""The tasks that wait: every screen needs them, the Overview and the queue before all else."""


class HeadStart:
    """One GET that was sent early; what came of it can be taken once."""

    def __init__(self, params: Pairs) -> None:
        self.params = params
        self._reply: Future[Reply | None] = Future()
        self._intake: Future[Intake] = Future()
        # So that a request that waited in vain can't cancel it.
        self._intake.set_running_or_notify_cancel()
        self._taken = False

    @classmethod
    def begin(
        cls,
        company: str | None,
        base: BaseUrl,
        key: ApiKey | None,
        *,
        ca_file: Path | None = None,
        trust_env: bool = False,
        key_source: str = "",
    ) -> HeadStart | None:
        """Ask for the tasks that wait, of a company or of all; None without a key."""
        if key is None:
            return None
        scope = () if company is None else (("company_id", company),)
        start = cls((*scope, ("status", "pending")))

        def ask() -> None:
            start._work(start._ask(base, key, ca_file, trust_env, key_source))

        threading.Thread(target=ask, name="head-start", daemon=True).start()
        return start

    async def take(self, path: str, params: Pairs, intake: Intake) -> Reply | None:
        """The answer, if this is the request that was sent and it was not taken before.

        A long body goes into `intake`. None for any other request. Raises ApiError as the request
        itself would.
        """
        if self._taken or (path, tuple(params)) != (_PATH, self.params):
            return None
        self._taken = True
        self._intake.set_result(intake)
        try:
            return await asyncio.wrap_future(self._reply)
        finally:
            # The first list must not be held for as long as the program runs.
            self._intake, self._reply = Future(), Future()

    def _work(self, asking: Coroutine[Any, Any, Reply]) -> None:
        try:
            self._reply.set_result(asyncio.run(asking))
        except ApiError as error:
            self._reply.set_exception(error)
        except (CredentialError, OSError):
            # Told when the transport itself is made, or asks.
            self._reply.set_result(None)

    async def _ask(
        self,
        base: BaseUrl,
        key: ApiKey,
        ca_file: Path | None,
        trust_env: bool,
        key_source: str,
    ) -> Reply:
        # In this thread, beside the import of the toolkit in the other.
        without_command()
        from agentco_tui.api.intake import Waiting  # noqa: PLC0415
        from agentco_tui.api.transport import Transport  # noqa: PLC0415

        transport = Transport(
            base, key, ca_file=ca_file, trust_env=trust_env, key_source=key_source or KEY_SOURCE
        )
        async with transport:
            intake = Waiting(self._intake)
            return await transport.request(
                "GET", _PATH, params=self.params, attempts=1, intake=intake
            )
