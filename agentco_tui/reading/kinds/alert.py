"""Budget alerts: events ("80 % was reached") and the rules behind them ("tell me at 80 %").

How bad an alert is, is read only where the platform says it in words; what its figures mean is
decided where all levels are (`live/insight.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Alert, BudgetScope, Moment, Ref, Severity
from agentco_tui.model import format as fmt
from agentco_tui.reading.field_names import fold, phrase, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.budget_owner import AGENT, OWNER, SCOPE_FIELDS, SCOPES
from agentco_tui.reading.kinds.common_fields import content_id, record, ref_of, references
from agentco_tui.reading.kinds.figures import FIGURES, Figures, figures, survey, unused
from agentco_tui.reading.name_index import Field
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, UnreadableRecord, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.reference import joined, to_id, to_ref_name, typed_ref
from agentco_tui.reading.values.scalar import flag, line, text_only, to_decimal, word
from agentco_tui.reading.values.status_word import alert_open, fold_word, severity
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, plain, safe


def _when_or_flag(raw: Json) -> Any:
    """`resolvedAt`: a time says yes, null and the year 1 say no; `resolved: true` is a flag."""
    told = flag(raw)
    if told is not None:
        return told
    at = to_moment(raw)
    return None if at is None else isinstance(at, Moment)


def _threshold_of_a_rule(raw: Json) -> Any:
    """That there is a threshold; its value is kept with the other fields, since nothing uses it."""
    return None if raw in (None, "", [], {}) else Incomplete(True)


def _observed(raw: Json) -> Any:
    """That a value was observed, whatever it means; it is kept with the other fields."""
    return None if to_decimal(raw) is None else Incomplete(True)


_CREATED: Final = "created_at created date sys_created_on"
"""When a record was made, be it an event or a rule; ServiceNow."""
FIELDS: Final = (
    *FIGURES,
    Field("id", """
        id _id {alert,incident}_id uuid guid document_id urn
        event_id incident_number issue_id  # Zabbix, PagerDuty and VictorOps, New Relic
        fingerprint alarm_arn            # Alertmanager, CloudWatch
        """, to_id),
    Field("text", """
        message text description summary detail{s,} body msg content alert_message reason_text
        annotations.{description,summary}  # Alertmanager
        {properties,labels}.{description,message}  # Azure
        state_reason                     # CloudWatch
        """, line),
    Field("title", """
        title name subject headline label labels.alertname alarm_name
        entity_display_name              # VictorOps
        """, text_only),
    Field("severity", """
        {,alert_,incident_}severity {,alert_,risk_}level urgency priority {labels,tags}.severity
        """, word),
    Field("kind", "kind type {alert,event}_type threshold_type category rule code", word),
    Field("status", """
        {,alert_}status state state_value {status,properties.status}.state
        properties.status                # Azure
        {notification_state,customer_status}  # AWS Budgets, Metronome
        """, word),
    Field("acknowledged", "{is_,}acknowledged acked {acknowledged,acked}_at", _when_or_flag),
    Field("dismissed", "{is_,}dismissed dismissed_at", _when_or_flag),
    Field("resolved", "{is_,}resolved {resolved,closed,cleared}_at", _when_or_flag),
    Field("active", "{is_,}{active,open}", flag),
    Field("raised", """
        {is_,has_,}{triggered,fired} {is_,}{firing,alerting,breached} {is_,in_,}alarm
        """, flag),
    *references("agent", AGENT, id_names="{labels,tags}.agent_id"),
    *references("company", OWNER, id_names="labels.company_id"),
    Field("agent_name", "labels.agent_name", to_ref_name),
    Field("subject", "scope subject target resource entity source affected", typed_ref),
    *SCOPE_FIELDS,
    Field("at", """
        triggered_at {fired,occurred,raised,detected,started,alerted,opened}_at
        timestamp time at triggered last_triggered_at recorded_at ts
        starts_at active_at start_time   # Alertmanager, Prometheus, VictorOps
        clock                            # Zabbix
        state_updated_timestamp          # CloudWatch
        """, to_moment),
    Field("at", f"{_CREATED} properties.creation_time  # Azure", to_moment),
    Field("over", "{is_,}{over_budget,exceeded}", flag),
    Field("near", "is_warning warning near_limit", flag),
    Field("switch", "{is_,notify_,}enabled", flag),
    Field("rule", "usage_threshold  # Stripe", lambda raw: type(raw) is dict or None),
    Field("rule", """
        threshold_{amount,value} {amount,spend,cost,budget}_threshold  # OpenAI spend alerts
        thresholds threshold_rules       # Lago, Google Cloud Billing
        {condition,conditions,options}.{threshold,thresholds} notify_at
        {notify,alert,trigger}_{at_,}{percent,percentage,amount,threshold}
        """, _threshold_of_a_rule),
    Field("rule", "threshold", lambda raw: Incomplete(True) if type(raw) is dict and raw else None),
    Field("observed", """
        {current,observed,actual,measured,evaluated}_{value,amount,usage,spend,percent,percentage}
        {current,observed,actual} value  # Prometheus
        """, _observed),
    Field("of_sums", "comparison_operator metric{,_name}  # CloudWatch: a threshold of sums",
          lambda raw: Incomplete(True) if type(raw) is str else None),
)  # fmt: skip


def _build(row: Row, context: DecodeContext) -> Alert:
    values = row.values
    if not values:
        raise UnreadableRecord("an alert of which no field is known")
    agent, company = (ref_of(values, slot, context) for slot in ("agent", "company"))
    told, subject = values.get("subject", ("", None))
    scope = SCOPES.get(fold_word(values.get("scope_type") or told))
    scoped = context.named(joined(Ref(values.get("scope_id"), values.get("scope_name")), subject))
    if scope is BudgetScope.AGENT:
        agent = joined(agent, scoped)
    elif scope is BudgetScope.COMPANY:
        company = joined(company, scoped)
    found = figures(row, context)
    of_sums = {"of_sums", "warn"} <= values.keys() and row.source("warn").name == "threshold"
    threshold = None if of_sums else found.warn_at
    used = found.used - {"warn"} if of_sums else found.used
    is_rule = _is_rule(row)
    kind: SafeText | None = values.get("kind")
    who = _called(agent) or _called(company) or values.get("scope_name")
    sentence = _sentence(who, kind, found, threshold, is_rule=is_rule)
    return record(
        Alert, row, context,
        id=values.get("id") or context.key or content_id("alert", row.obj),
        severity=_severity(values),
        text=values.get("text") or values.get("title") or sentence,
        open=False if is_rule else _open(values, row.obj),
        company=company,
        agent=agent,
        limit=found.limit,
        spent=found.spent,
        share=found.share,
        threshold=threshold,
        extra=as_extra(unused(row, used)),
    )  # fmt: skip


def _called(ref: Ref | None) -> str | None:
    """What to call a record in a sentence: its name, else its id."""
    return None if ref is None else ref.name or (safe(ref.id, 60) if ref.id else None)


_OBSERVED: Final = frozenset(("spent", "share", "remaining", "observed"))
_HANDLED: Final = frozenset(("acknowledged", "dismissed", "resolved"))
_OF_CREATION: Final = frozenset(fold(name) for name in _CREATED.split())
_NOT_RAISED: Final = word_set("active on pending current true new")
"""Words of an open alert that a rule may have as well: it is switched on, waits, or is new."""


def _is_rule(row: Row) -> bool:
    """Whether this is "tell me at 80 %" and not "80 % was reached".

    A rule has a threshold and nothing that happened: no observed figure, no time but that of its
    creation, no state such as ALARM, no handling. A severity says how bad it would be. Of a rule
    that can be switched off no text says that something happened, either.
    """
    values = row.values
    slots = {slot.split(" ")[0] for slot in values}
    is_limit_only = "limit" in slots and slots.isdisjoint(("text", "title", "severity", "status"))
    if slots.isdisjoint(("warn", "rule", "switch")) and not is_limit_only:
        return False
    status = fold_word(values.get("status", ""))
    is_raised = alert_open(status) is True and status not in _NOT_RAISED
    is_flagged = any(values.get(slot) is True for slot in ("over", "near", "raised"))
    if is_raised or is_flagged or not slots.isdisjoint(_OBSERVED | _HANDLED):
        return False
    if "at" in values and fold(row.source("at").name) not in _OF_CREATION:
        return False
    if "switch" in values:
        return True
    return "text" not in values or fold(row.source("text").name) == "description"


def _sentence(
    who: str | None, kind: str | None, found: Figures, threshold: Decimal | None, *, is_rule: bool
) -> SafeText:
    """What an alert's fields tell, for one without words of its own."""
    sums = " of ".join(fmt.money(each) for each in (found.spent, found.limit) if each is not None)
    parts: list[str] = []
    if found.share is not None:
        beside = f" ({sums})" if found.spent is not None and found.limit is not None else ""
        parts.append(f"{fmt.percent(found.share)} of the budget used{beside}")
    elif found.spent is not None:
        parts.append(f"{sums} spent")
    if threshold is not None:
        parts.append(f"warning at {fmt.percent(threshold)}")
    told = ": ".join(filter(None, (who, phrase(kind or ""), ", ".join(parts))))
    if not told or not (kind or parts):
        return plain("a rule, not an event" if is_rule else "an alert without words")
    return safe(f"rule, not an event: {told}" if is_rule else told)


def _severity(values: Values) -> Severity:
    """What the platform says in words and flags; UNKNOWN if it does not."""
    told = severity(values["severity"]) if "severity" in values else Severity.UNKNOWN
    if told is not Severity.UNKNOWN:
        return told
    if values.get("over") or values.get("near"):
        return Severity.CRITICAL if values.get("over") else Severity.WARNING
    slots = ("threshold_type", "kind", "status")
    words = (severity(values[slot]) for slot in slots if slot in values)
    bad = (Severity.WARNING, Severity.CRITICAL)
    return next((each for each in words if each in bad), Severity.UNKNOWN)


_ENDS: Final = word_set("resolvedat closedat dismissedat acknowledgedat")


def _open(values: Values, obj: Mapping[str, Json]) -> bool | None:
    """Whether it still stands: False once resolved, dismissed or acknowledged."""
    ended = [values.get(slot) for slot in ("resolved", "dismissed", "acknowledged")]
    if True in ended:
        return False
    if "status" in values and (told := alert_open(values["status"])) is not None:
        return told
    if "raised" in values:
        return bool(values["raised"])
    if "active" in values:
        return bool(values["active"])
    # The field is there for alerts that were resolved, and this one was not.
    never = any(raw is None and fold(key) in _ENDS for key, raw in obj.items())
    return True if False in ended or never else None


# -- counts in place of a list --------------------------------------------------------------------

_AROUND_COUNTS: Final = word_set("data result response payload alerts summary counts")
_LEVELS: Final = {
    **dict.fromkeys(("critical", "exceeded", "error", "high"), Severity.CRITICAL),
    **dict.fromkeys(("warning", "warnings", "medium"), Severity.WARNING),
    **dict.fromkeys(("info", "low"), Severity.INFO),
}
"""By name of a count, worst first."""
_COUNTS: Final = word_set(
    "open active unread triggered resolved acknowledged alerts totalalerts openalerts activealerts"
)


def read_counts(body: Json) -> Alert | None:
    """One alert that tells the counts which came where a list was due; None if all are 0.

    So five alerts that are only counted are never shown as none. Raises UnreadableRecord if these
    are no counts of alerts.
    """
    while type(body) is dict and (
        inner := [v for k, v in body.items() if fold(k) in _AROUND_COUNTS and type(v) is dict]
    ):
        body = inner[0]
    counts = {
        fold(key): (key, value)
        for key, value in (body.items() if type(body) is dict else ())
        if type(value) is int and value >= 0
    }
    if counts.keys().isdisjoint((*_COUNTS, *_LEVELS)) or any(
        type(value) in (list, dict) for value in body.values()
    ):
        raise UnreadableRecord("no counts of alerts")
    if not any(count for _, count in counts.values()):
        return None
    told = ", ".join(f"{phrase(key)} {count}" for key, count in counts.values())
    levels = (level for name, level in _LEVELS.items() if name in counts and counts[name][1])
    return Alert(
        id="alerts-summary",
        severity=next(levels, Severity.UNKNOWN),
        text=safe(f"the platform only counts its alerts: {told}"),
        kind=plain("summary"),
        extra=as_extra(dict(counts.values())),
    )


ALERTS: Final[Kind[Alert]] = Kind(
    "alert",
    noun="budget alerts",
    own="alerts budget_alerts alert active_alerts active_incidents",
    also="incidents notifications warnings budget_incidents triggered metric_alarms",
    fields=FIELDS,
    build=_build,
    nameless="an alert of which no field is known",
    most=25_000,
    survey=survey,
    instead=read_counts,
)
