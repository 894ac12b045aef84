"""Budget alerts (SHAPES D "Alert …", "/api/budget/alerts in the wild")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final, NamedTuple

from agentco_tui.api import shares
from agentco_tui.api.budget_figures import Figures, read_figures
from agentco_tui.api.context import Context, Unread
from agentco_tui.api.drafts import Row, drafted
from agentco_tui.api.names import fold
from agentco_tui.api.plans import WRAPPERS, Meaning, Spec, Values
from agentco_tui.api.units import unit_of_values, unit_rule
from agentco_tui.model.records import Alert, Ref, Severity
from agentco_tui.reading import fallback as sentences
from agentco_tui.reading.fallback import content_id
from agentco_tui.reading.schema import Json
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.reference import (
    joined,
    to_id,
    to_ref,
    to_ref_id,
    to_ref_name,
    typed_ref,
)
from agentco_tui.reading.values.status import alert_open, fold_word, severity
from agentco_tui.reading.values.text import flag, line, named, text_only, word
from agentco_tui.reading.values.time import NONE, to_moment
from agentco_tui.text import SafeText, safe


def _when_or_flag(raw: Json) -> object:
    """`resolvedAt`: a time says yes, null says no; `resolved: true` is a plain flag."""
    told = flag(raw)
    if told is not None:
        return told
    at = to_moment(raw)
    return None if at is None else at is not NONE


_LABELS: Final = Spec(
    (
        Meaning("severity", "severity level priority", word),
        Meaning("text", "message description summary", line),
        Meaning("title", "alertname title name", text_only),
        Meaning("agent_id", "agent_id", to_ref_id),
        Meaning("agent_name", "agent_name", to_ref_name),
        Meaning("agent", "agent", to_ref),
        Meaning("company_id", "company_id", to_ref_id),
        Meaning("company", "company", to_ref),
    )
)

ALERT: Final = Spec(
    (
        Meaning("id", "id _id alert_id incident_id uuid guid document_id urn", to_id),
        Meaning(
            "text",
            "message text description summary detail details body title msg content headline "
            "alert_message reason_text",
            line,
        ),
        Meaning("title", "title name subject headline label", text_only),
        Meaning("severity", "severity level alert_level risk_level urgency priority sev lvl", word),
        Meaning("kind", "kind type alert_type threshold_type event_type category rule code", word),
        Meaning("threshold_type", "threshold_type", word),
        Meaning("status", "status state alert_status", word),
        Meaning("acknowledged", "acknowledged is_acknowledged acked seen is_read read", flag),
        Meaning("dismissed", "dismissed is_dismissed dismissed_at", _when_or_flag),
        Meaning(
            "resolved", "resolved is_resolved resolved_at closed_at cleared_at ended_at",
            _when_or_flag,
        ),
        Meaning("acknowledged_at", "acknowledged_at acked_at read_at", _when_or_flag),
        Meaning("active", "active is_active open is_open firing", flag),
        Meaning("agent", "agent agent_ref assistant worker bot ai_agent employee", to_ref),
        Meaning("agent_id", "agent_id agent_uuid assistant_id worker_id bot_id employee_id",
                to_ref_id),
        Meaning("agent_name", "agent_name assistant_name worker_name bot_name employee_name",
                to_ref_name),
        Meaning(
            "company", "company company_ref organization organisation org workspace tenant", to_ref
        ),
        Meaning(
            "company_id",
            "company_id organization_id organisation_id org_id workspace_id tenant_id account_id",
            to_ref_id,
        ),
        Meaning("company_name", "company_name organization_name org_name workspace_name "
                "tenant_name account_name", to_ref_name),
        Meaning("subject", "scope subject target resource entity affected source about", typed_ref),
        Meaning(
            "scope_type", "scope_type scope entity_type resource_type target_type subject_type",
            text_only,
        ),
        Meaning("scope_id", "scope_id entity_id resource_id target_id subject_id", to_id),
        Meaning(
            "scope_name", "scope_name entity_name resource_name target_name subject_name", named
        ),
        Meaning(
            "at",
            """triggered_at created_at fired_at occurred_at raised_at timestamp time at date
            created detected_at started_at alerted_at sent_at opened_at triggered last_triggered_at
            recorded_at notified_at active_at sys_created_on ts epoch unix_time updated_at""",
            to_moment,
        ),
        Meaning("over", "is_over_budget over_budget exceeded is_exceeded", flag),
        Meaning("near", "is_warning warning near_limit", flag),
        Meaning("enabled", "enabled is_enabled notify_enabled", flag),
    ),
    nested={"labels": _LABELS, "annotations": _LABELS, "tags": _LABELS},
    wrappers=f"alert incident data event {WRAPPERS}",
    rule=unit_rule,
    kind="alert incident",
    others="alarm notification",
)  # fmt: skip


class _Draft(NamedTuple):
    obj: Mapping[str, Json]
    values: Values
    left: dict[str, Json]
    figures: Figures


def read_alerts(rows: Sequence[Row]) -> list[Alert | Unread]:
    """All alerts of one answer: `rows` of (object, context, id from its key)."""
    first, drafts = drafted(rows, _draft)
    found: list[shares.RawShare] = []
    warns: list[shares.RawShare] = []
    for row in first:
        found.extend((row.figures.share,) if row.figures.share else ())
        warns.extend((row.figures.warn,) if row.figures.warn else ())
    scale = shares.proven_scale(found, warns)
    out: list[Alert | Unread] = []
    for row, (_, context, key) in zip(drafts, rows, strict=True):
        try:
            out.append(_finish(row, scale, context, key))
        except Unread as error:
            out.append(error)
    return out


def _draft(obj: Mapping[str, Json], context: Context) -> _Draft:
    values: Values = {}
    left = ALERT.read(obj, values)
    return _Draft(obj, values, left, read_figures(left, unit_of_values(values, context.unit)))


def _finish(row: _Draft, scale: shares.Scale, context: Context, key: str | None) -> Alert:
    values, left, figures = row.values, dict(row.left), row.figures
    agent, company = _whom(values, context)
    limit = None if figures.unlimited or figures.limit_is_zero else figures.limit
    spent = figures.spent
    taken = {"limit", "spent"}
    computed = shares.share_of(spent, limit)
    share = computed
    sent = shares.settled(figures.share, scale, computed)
    if sent is not None and (computed is None or shares.near(sent, computed)):
        share = sent if computed is None else computed
        taken.add("share")
    threshold = shares.threshold(figures.warn)
    if "abs" in str(values.get("threshold_type", "")).lower() and figures.warn is not None:
        threshold = figures.warn.value / limit.amount if limit and limit.amount > 0 else None
    if threshold is not None:
        taken.add("warn")
    for slot, path in figures.paths:
        if slot in taken and len(path) == 1:
            left.pop(path[0], None)
    if not values and not taken.intersection(slot for slot, _ in figures.paths):
        raise Unread("an alert of which no field is known")
    kind: SafeText | None = values.get("kind")
    is_rule = _is_rule(values, figures, threshold is not None)
    who = sentences.called(agent) or sentences.called(company) or values.get("scope_name")
    text: SafeText | None = values.get("text") or values.get("title")
    if text is None:
        text = sentences.alert(
            who, kind, share=share, threshold=threshold, spent=spent, limit=limit
        )
        text = safe(f"rule, not an event: {text}") if is_rule and text else text
    if text is None:
        text = safe("an alert without words")
    return Alert(
        id=values.get("id") or key or content_id("alert", row.obj),
        severity=_severity(values, share, threshold, is_rule),
        text=text,
        kind=kind,
        status=values.get("status"),
        open=False if is_rule else _open(values, row.obj),
        company=company,
        agent=agent,
        at=values.get("at"),
        limit=limit,
        spent=spent,
        share=share,
        threshold=threshold,
        extra=as_extra(left),
    )


def _whom(values: Values, context: Context) -> tuple[Ref | None, Ref | None]:
    agent = joined(values.get("agent_id"), values.get("agent"), values.get("agent_name"))
    company = joined(values.get("company_id"), values.get("company"), values.get("company_name"))
    scope = fold_word(str(values.get("scope_type") or ""))
    scoped = joined(Ref(values.get("scope_id"), values.get("scope_name")))
    if "subject" in values:
        told, subject = values["subject"]
        scope, scoped = scope or told, joined(scoped, subject)
    if scoped is not None and scope in ("agent", "assistant", "worker", "bot", "employee"):
        agent = joined(agent, scoped)
    elif scoped is not None and scope in (
        "company",
        "organization",
        "org",
        "workspace",
        "tenant",
        "account",
    ):
        company = joined(company, scoped)
    return context.named(agent), context.named(company)


def _is_rule(values: Values, figures: Figures, has_threshold: bool) -> bool:
    """True for "tell me at 80 %": a threshold without a time, an observed amount or words."""
    if not has_threshold or figures.spent is not None or figures.share is not None:
        return False
    return not values.keys() & {"at", "text", "status", "severity", "over", "near", "active"}


def _severity(
    values: Values, share: Decimal | None, threshold: Decimal | None, is_rule: bool
) -> Severity:
    """The platform's word first; then its flags and kind; then what the figures say."""
    told = values.get("severity")
    if told is not None and (found := severity(told)) is not Severity.UNKNOWN:
        return found
    if values.get("over") is True:
        return Severity.CRITICAL
    if values.get("near") is True:
        return Severity.WARNING
    for slot in ("threshold_type", "kind", "status"):
        told = values.get(slot)
        if told is not None:
            found = severity(told)
            if found in (Severity.WARNING, Severity.CRITICAL):
                return found
    if is_rule or share is None:
        return Severity.UNKNOWN
    if share >= 1:
        return Severity.CRITICAL
    if threshold is not None and share >= threshold:
        return Severity.WARNING
    return Severity.UNKNOWN


def _open(values: Values, obj: Mapping[str, Json]) -> bool | None:
    """Whether it still stands: False once resolved, dismissed or acknowledged."""
    for slot in ("resolved", "dismissed", "acknowledged", "acknowledged_at"):
        if values.get(slot) is True:
            return False
    status = values.get("status")
    if status is not None and (told := alert_open(status)) is not None:
        return told
    if values.get("active") is not None:
        return bool(values["active"])
    if any(values.get(slot) is False for slot in ("resolved", "dismissed", "acknowledged")):
        return True
    for key, raw in obj.items():
        # the field is there for alerts that were resolved, and this one was not
        if raw is None and fold(key) in ("resolvedat", "closedat", "dismissedat", "acknowledgedat"):
            return True
    return None
