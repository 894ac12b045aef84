"""A naive dashboard: every two seconds the list is read and the DataTable filled anew."""

import os
import time

import httpx
from textual.app import App, ComposeResult
from textual.widgets import DataTable, Footer, Header

from tests.benchmarks.peers.smallest import NAMES


class Polling(App[None]):
    """What a first draft of a dashboard does."""

    def compose(self) -> ComposeResult:
        yield Header(show_clock=True)
        yield DataTable(cursor_type="row")
        yield Footer()

    def on_mount(self) -> None:
        key = os.environ["AGENTCO_API_KEY"]
        self.client = httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"})
        self.query_one(DataTable).add_columns(*NAMES)
        self.run_worker(self.read())
        self.set_interval(2.0, lambda: self.run_worker(self.read(), exclusive=True))

    async def read(self) -> None:
        answer = await self.client.get(
            os.environ["AGENTCO_BASE_URL"] + "/api/tasks", params={"status": "pending"}
        )
        table = self.query_one(DataTable)
        table.clear()
        for task in answer.json():
            table.add_row(*(str(task[name]) for name in NAMES), key=task["id"])
        self.sub_title = f"read at {time.strftime('%H:%M:%S')}"


if __name__ == "__main__":
    Polling().run()
