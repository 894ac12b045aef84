"""The smallest Textual app that reads one list with httpx and shows it."""

import os

import httpx
from textual.app import App, ComposeResult
from textual.widgets import DataTable

NAMES = ("title", "status", "priority", "agent_name", "company_name", "created_at")


class Smallest(App[None]):
    """One request, one table."""

    def compose(self) -> ComposeResult:
        yield DataTable()

    def on_mount(self) -> None:
        self.run_worker(self.read())

    async def read(self) -> None:
        key = os.environ["AGENTCO_API_KEY"]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as client:
            answer = await client.get(
                os.environ["AGENTCO_BASE_URL"] + "/api/tasks", params={"status": "pending"}
            )
        table = self.query_one(DataTable)
        table.add_columns(*NAMES)
        for task in answer.json():
            table.add_row(*(str(task[name]) for name in NAMES), key=task["id"])


if __name__ == "__main__":
    Smallest().run()
