"""What platforms answer to an approve that was applied (SHAPES F)."""

from __future__ import annotations

from agentco_tui.demo.fields import Fields
from agentco_tui.demo.shape import Approved, Json, Out
from agentco_tui.demo.styles import Style, moment, rekey


def record(dressed: Json, _fields: Fields, _style: Style) -> Out:
    """200 and the whole record."""
    return Out(dressed, 200)


def below(name: str) -> Approved:
    """200 and the whole record below this name."""

    def approved(dressed: Json, _fields: Fields, _style: Style) -> Out:
        return Out({name: dressed}, 200)

    return approved


def brief(_dressed: Json, fields: Fields, style: Style) -> Out:
    """200 with id, status and when."""
    decided = moment(fields["decided_at"].at, style.times)
    key = rekey("decided_at", style.keys)
    return Out({"id": fields["id"], "status": "approved", key: decided}, 200)


def mutation(dressed: Json, _fields: Fields, _style: Style) -> Out:
    """200 and the record two layers below `data`, under the name of the mutation."""
    return Out({"data": {"approveTask": {"task": dressed}}}, 200)


def outcome(_dressed: Json, fields: Fields, _style: Style) -> Out:
    """200 where `status` is the outcome of the call (B12)."""
    return Out({"status": "approved", "task_id": fields["id"]}, 200)


def running(_dressed: Json, fields: Fields, _style: Style) -> Out:
    """200 with `ok`, and the task said to run already."""
    body = {"ok": True, "task_id": fields["id"], "status": "running", "approval_mode": "manual"}
    return Out(body, 200)


def created(_dressed: Json, fields: Fields, style: Style) -> Out:
    """201 with the state of the approval, not of the task."""
    approval = {
        "id": 501,
        "task_id": fields["id"],
        "approved": True,
        "approvals_left": 0,
        "approved_by": [{"user": {"name": fields["decided_by"]}}],
        "created_at": moment(fields["decided_at"].at, style.times),
    }
    return Out(approval, 201)


def accepted(_dressed: Json, fields: Fields, _style: Style) -> Out:
    """202: the work goes on later."""
    return Out({"taskId": fields["id"], "message": "accepted"}, 202)


def nothing(_dressed: Json, _fields: Fields, _style: Style) -> Out:
    """204 without a body."""
    return Out(None, 204)


def null(_dressed: Json, _fields: Fields, _style: Style) -> Out:
    """200 and null."""
    return Out(None, 200)


def approved_true(_dressed: Json, _fields: Fields, _style: Style) -> Out:
    """200 with nothing but the word."""
    return Out({"ok": True, "data": {"approved": True}}, 200)


def now_pending(dressed: Json, _fields: Fields, _style: Style) -> Out:
    """200 where "pending" after an approve means that it is queued: success all the same."""
    told = {**dressed, "status": "pending"} if isinstance(dressed, dict) else dressed
    return Out({"ok": True, "task": told}, 200)
