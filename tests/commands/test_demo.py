"""`agentco-tui demo`: the platform as a child that never outlives its parent."""

from __future__ import annotations

import urllib.request
from pathlib import Path

from agentco_tui.commands import demo
from agentco_tui.config import Settings


def _answers(address: str, key: str) -> bool:
    request = urllib.request.Request(
        f"{address}/api/companies", headers={"Authorization": f"Bearer {key}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def test_the_dashboard_gets_a_platform_that_ends_with_it(tmp_path: Path) -> None:
    seen: list[Settings] = []

    def dashboard(settings: Settings) -> int:
        seen.append(settings)
        assert settings.key is not None
        assert _answers(str(settings.base_url), settings.key.reveal())
        return 7

    env = {"XDG_CONFIG_HOME": str(tmp_path), "AGENTCO_BASE_URL": "https://prod.example"}
    given = {"seed": 3, "companies": 2, "speed": 0.0, "screen": "tasks", "read_only": True}
    assert demo.run(given, env, dashboard) == 7
    (settings,) = seen
    assert (settings.profile, settings.screen, settings.read_only) == ("demo", "tasks", True)
    assert settings.key is not None
    assert not _answers(str(settings.base_url), settings.key.reveal())
