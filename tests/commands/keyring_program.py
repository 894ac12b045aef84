"""A program `keyring` that keeps what it is given in a file, and a backend of the real one."""

from __future__ import annotations

from pathlib import Path

_PROGRAM = """\
import json, os, pathlib, sys
action, service, name = sys.argv[1:]
file = pathlib.Path(os.environ["KEPT"])
kept = json.loads(file.read_text()) if file.exists() else {}
if service != "agentco-tui" or (name not in kept and action != "set"): sys.exit(1)
if action == "set": kept[name] = sys.stdin.read()
elif action == "get": print(kept[name])
else: del kept[name]
file.write_text(json.dumps(kept))
"""
_BACKEND = """\
import json, os, pathlib
from keyring.backend import KeyringBackend

class Keyring(KeyringBackend):
    priority = 1
    file = pathlib.Path(os.environ["KEPT"])

    def get_password(self, service, name):
        return json.loads(self.file.read_text()).get(name) if self.file.exists() else None

    def set_password(self, service, name, password):
        self.file.write_text(json.dumps({name: password}))

    def delete_password(self, service, name):
        self.file.unlink()
"""


def put_program(folder: Path) -> dict[str, str]:
    """The program in a folder that has to lead the search path; gives its environment."""
    folder.mkdir()
    (folder / "keyring.py").write_text(_PROGRAM)
    return {"KEPT": str(folder / "kept.json")}


def put_backend(folder: Path) -> dict[str, str]:
    """The same of a backend for the real package."""
    folder.mkdir()
    (folder / "kept_in_a_file.py").write_text(_BACKEND)
    backend = "kept_in_a_file.Keyring"
    return {"KEPT": str(folder / "kept.json"), "PYTHON_KEYRING_BACKEND": backend}
