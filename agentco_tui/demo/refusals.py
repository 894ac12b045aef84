"""Error bodies as real platforms have them (SHAPES C, I)."""

from __future__ import annotations

from http import HTTPStatus

from agentco_tui.demo.model import Refusal
from agentco_tui.demo.shape import Json, Out


def details(refusal: Refusal) -> Out:
    """C1 and C2: `error`, with a list of details where fields were refused."""
    body: dict[str, Json] = {"error": refusal.message}
    if refusal.fields:
        body["details"] = [
            {"path": [name], "message": message, "code": "invalid"}
            for name, message in refusal.fields
        ]
    return Out(body, refusal.status)


def openai(refusal: Refusal) -> Out:
    """C4: an object below `error`; `code` is text even where it is a number."""
    name, message = refusal.fields[0] if refusal.fields else (None, refusal.message)
    told = f"{name}: {message}" if name else message
    error = {
        "message": told,
        "type": "invalid_request_error" if refusal.status < 500 else "server_error",
        "param": name,
        "code": refusal.code,
    }
    return Out({"error": error}, refusal.status)


def code_and_message(refusal: Refusal) -> Out:
    """C5: `success` false, and code and message below `error`; field messages beside it."""
    error: dict[str, Json] = {"code": refusal.code.upper(), "message": refusal.message}
    if refusal.fields:
        error["fields"] = dict(refusal.fields)
    return Out({"success": False, "error": error}, refusal.status)


def message_and_code(refusal: Refusal) -> Out:
    """`message`, `code` and a request id, as gateways write it; fields as `errors[]`."""
    body: dict[str, Json] = {
        "message": refusal.message,
        "code": refusal.code,
        "requestId": "req_5f2c81",
    }
    if refusal.fields:
        body["errors"] = [{"field": name, "message": text} for name, text in refusal.fields]
    return Out(body, refusal.status)


def drf(refusal: Refusal) -> Out:
    """C7 and C10: `detail`, or nothing but the fields."""
    if refusal.fields:
        body: Json = {name: [f"This field {text}."] for name, text in refusal.fields}
        return Out(body, 400)
    return Out({"detail": refusal.message}, refusal.status)


def fastapi(refusal: Refusal) -> Out:
    """C7 and C8: `detail` as text or as a list; an already decided task is just not found."""
    if refusal.fields:
        places = [
            {"loc": ["body", name], "msg": text, "type": "value_error"}
            for name, text in refusal.fields
        ]
        return Out({"detail": places}, 422)
    status = 404 if refusal.code == "already_decided" else refusal.status
    return Out({"detail": refusal.message}, status)


def laravel(refusal: Refusal) -> Out:
    """C11: `message` and a dictionary of lists."""
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        return Out({"message": "Unauthenticated."}, 401)
    body: dict[str, Json] = {"message": refusal.message}
    if refusal.fields:
        name, text = refusal.fields[0]
        body["message"] = f"The {name} field {text}."
        body["errors"] = {name: [f"The {name} field {text}."] for name, text in refusal.fields}
    return Out(body, refusal.status)


def jsonapi(refusal: Refusal) -> Out:
    """C12: a list of errors, `status` as text."""
    status = str(refusal.status)
    errors: list[Json] = [
        {
            "status": status,
            "title": "Invalid attribute",
            "detail": text,
            "source": {"pointer": f"/data/attributes/{name}"},
        }
        for name, text in refusal.fields
    ]
    title = refusal.code.replace("_", " ").capitalize()
    errors = errors or [{"status": status, "title": title, "detail": refusal.message}]
    return Out({"errors": errors}, refusal.status, media="application/vnd.api+json")


def problem(refusal: Refusal) -> Out:
    """C14: RFC 9457."""
    body: dict[str, Json] = {
        "type": f"https://platform.example/problems/{refusal.code}",
        "title": _phrase(refusal.status),
        "status": refusal.status,
        "detail": refusal.message,
        "instance": refusal.path,
    }
    if refusal.fields:
        body["invalid-params"] = [{"name": n, "reason": text} for n, text in refusal.fields]
    return Out(body, refusal.status, media="application/problem+json")


def gitlab(refusal: Refusal) -> Out:
    """C16, C17, C29: `message`, at times an object; a second approve is a 401."""
    if refusal.code == "already_decided":
        return Out({"message": "401 Unauthorized"}, 401)
    if refusal.fields:
        return Out({"message": {name: [text] for name, text in refusal.fields}}, 400)
    if refusal.status == HTTPStatus.UNAUTHORIZED:
        return Out({"message": "401 Unauthorized"}, 401)
    return Out({"message": refusal.message, "status": str(refusal.status)}, refusal.status)


_GRPC = {400: 3, 401: 16, 403: 7, 404: 5, 409: 9, 422: 3, 429: 8, 500: 13, 503: 14, 504: 4}


def grpc(refusal: Refusal) -> Out:
    """C19: `code` is a gRPC number; field violations in `details`."""
    found = [{"field": name, "description": text} for name, text in refusal.fields]
    kind = "type.googleapis.com/google.rpc.BadRequest"
    told = [{"@type": kind, "fieldViolations": found}] if found else []
    status = 400 if refusal.status in {409, 422} else refusal.status
    code = _GRPC.get(refusal.status, 2)
    return Out({"code": code, "message": refusal.message, "details": told}, status)


def aws(refusal: Refusal) -> Out:
    """C20: `__type` and `Message`."""
    names = {
        401: "UnrecognizedClientException",
        403: "AccessDeniedException",
        409: "ConflictException",
    }
    kind = names.get(refusal.status, "ValidationException")
    fields = "; ".join(f"{name} {text}" for name, text in refusal.fields)
    words = f"{refusal.message}: {fields}" if fields else refusal.message
    return Out({"__type": kind, "Message": words}, refusal.status)


def spring(refusal: Refusal) -> Out:
    """C22: the phrase only, no message; a second approve is a 400."""
    status = 400 if refusal.status in {409, 422} else refusal.status
    body: dict[str, Json] = {
        "timestamp": "2026-11-21T09:00:00.000+00:00",
        "status": status,
        "error": _phrase(status),
        "path": refusal.path,
    }
    if refusal.fields:
        body["errors"] = [{"field": n, "defaultMessage": text} for n, text in refusal.fields]
    return Out(body, status)


def graphql(refusal: Refusal) -> Out:
    """C24: `errors` with extensions, `data` null."""
    told = [f"{name}: {text}" for name, text in refusal.fields] or [refusal.message]
    extensions = {"code": refusal.code.upper(), "statusCode": refusal.status}
    errors = [{"message": words, "extensions": extensions} for words in told]
    return Out({"errors": errors, "data": None}, refusal.status)


def text(refusal: Refusal) -> Out:
    """C26: plain text."""
    fields = "".join(f"\n{name}: {words}" for name, words in refusal.fields)
    return Out(f"{refusal.message}{fields}\n".encode(), refusal.status, media="text/plain")


def empty(refusal: Refusal) -> Out:
    """C28: nothing but the status."""
    return Out(b"", refusal.status)


def reason(refusal: Refusal) -> Out:
    """C27c: `info` below `error`."""
    told = "; ".join(f"{name}: {words}" for name, words in refusal.fields) or refusal.message
    return Out({"error": {"code": refusal.code, "info": told}}, refusal.status)


def ok_false(refusal: Refusal) -> Out:
    """C6: status 200 with `ok` false; only a bad key keeps its status (INTERFACE 7)."""
    told = "; ".join(f"{name}: {words}" for name, words in refusal.fields) or refusal.message
    status = refusal.status if refusal.status in {401, 403} or refusal.status >= 429 else 200
    return Out({"ok": False, "error": told}, status)


def cloudflare(refusal: Refusal) -> Out:
    """A21 with `success` false."""
    told = [
        {"code": 1000 + refusal.status, "message": f"{name}: {words}"}
        for name, words in refusal.fields
    ] or [{"code": 1000 + refusal.status, "message": refusal.message}]
    body = {"success": False, "errors": told, "messages": [], "result": None}
    return Out(body, refusal.status)


def mixed(refusal: Refusal) -> Out:
    """Another body for each sort of refusal."""
    if refusal.fields:
        return laravel(refusal)
    return {404: text, 401: drf, 403: code_and_message}.get(refusal.status, details)(refusal)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Unknown"
