"""Budget alerts: their fields, and how an `Alert` is built from a row of an answer.

Platforms (the remote services with AI agents that are watched) send two things as alerts: *events*
("80 % was reached") and *rules* ("notify me at 80 %"). A rule becomes an alert that is not open.

The severity is read only from words and flags. What an alert's figures mean for its severity is
decided in `live/insight.py`, which knows the figures of all budgets.

`Field(slot, names, reader)` declares the names that platforms use for one of our fields (a slot),
best first, and the function that reads the raw value (see `reading/schema.py`). A `Row` holds the
values of one object by slot. A budget's share is the spent part of its limit.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final

from agentco_tui.model import Alert, BudgetScope, Moment, Ref, Severity
from agentco_tui.model import format as fmt
from agentco_tui.reading.field_names import fold, phrase, word_set
from agentco_tui.reading.json_access import Json
from agentco_tui.reading.kinds.budget_owner import AGENT, BUDGET_OWNER_TYPES, OWNER, SCOPE_FIELDS
from agentco_tui.reading.kinds.common_fields import (
    content_id,
    make_record,
    ref_of,
    reference_fields,
)
from agentco_tui.reading.kinds.figures import (
    FIGURES,
    Figures,
    find_share_scales,
    read_figures,
    share_hints,
    unused_fields,
)
from agentco_tui.reading.name_index import Field

# Incomplete: a value that was read from a raw value that holds more.
from agentco_tui.reading.reader_result import Incomplete
from agentco_tui.reading.schema import DecodeContext, Kind, Row, UnreadableRecord, Values
from agentco_tui.reading.unknown_fields import as_extra
from agentco_tui.reading.values.reference import join_refs, to_id, to_ref_name, typed_ref
from agentco_tui.reading.values.scalar import to_decimal, to_flag, to_line, to_text_only, to_word
from agentco_tui.reading.values.status_word import alert_open, severity, snake_case
from agentco_tui.reading.values.time import to_moment
from agentco_tui.text import SafeText, clean_line, mark_safe


def _when_or_flag(raw: Json) -> Any:
    """Whether something happened, from a flag (`resolved`) or a time (`resolvedAt`).

    A time means True, a null or the year 1 False. None if it is neither.
    """
    from_flag = to_flag(raw)
    if from_flag is not None:
        return from_flag
    at = to_moment(raw)
    if at is None:
        return None
    return isinstance(at, Moment)


def _has_threshold(raw: Json) -> Any:
    """Incomplete(True) if there is a threshold, else None.

    Nothing uses its value, so it is kept with the other fields.
    """
    if raw in (None, "", [], {}):
        return None
    return Incomplete(True)


def _has_threshold_object(raw: Json) -> Any:
    """Incomplete(True) if a threshold is an object with fields, else None."""
    if type(raw) is not dict or not raw:
        return None
    return Incomplete(True)


def _is_object(raw: Json) -> bool | None:
    """True for an object, else None."""
    if type(raw) is not dict:
        return None
    return True


def _has_text(raw: Json) -> Any:
    """Incomplete(True) for a text, which is kept with the other fields; else None."""
    if type(raw) is not str:
        return None
    return Incomplete(True)


def _has_number(raw: Json) -> Any:
    """Incomplete(True) for a number of any meaning; it is kept with the other fields."""
    if to_decimal(raw) is None:
        return None
    return Incomplete(True)


_CREATED: Final = "created_at created date sys_created_on"
"""Names of the time when a record was created, which a rule has as well as an event."""
# In names, `{a,b}` means a or b, and a dot leads into an object. Case, `_` and `-` do not matter.
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
        """, to_line),
    Field("title", """
        title name subject headline label labels.alertname alarm_name
        entity_display_name              # VictorOps
        """, to_text_only),
    Field("severity", """
        {,alert_,incident_}severity {,alert_,risk_}level urgency priority {labels,tags}.severity
        """, to_word),
    Field("kind", "kind type {alert,event}_type threshold_type category rule code", to_word),
    Field("status", """
        {,alert_}status state state_value {status,properties.status}.state
        properties.status                # Azure
        {notification_state,customer_status}  # AWS Budgets, Metronome
        """, to_word),
    Field("acknowledged", "{is_,}acknowledged acked {acknowledged,acked}_at", _when_or_flag),
    Field("dismissed", "{is_,}dismissed dismissed_at", _when_or_flag),
    Field("resolved", "{is_,}resolved {resolved,closed,cleared}_at", _when_or_flag),
    Field("active", "{is_,}{active,open}", to_flag),
    Field("raised", """
        {is_,has_,}{triggered,fired} {is_,}{firing,alerting,breached} {is_,in_,}alarm
        """, to_flag),
    *reference_fields("agent", AGENT, id_names="{labels,tags}.agent_id"),
    *reference_fields("company", OWNER, id_names="labels.company_id"),
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
    Field("over", "{is_,}{over_budget,exceeded}", to_flag),
    Field("near", "is_warning warning near_limit", to_flag),
    Field("switch", "{is_,notify_,}enabled", to_flag),
    Field("rule", "usage_threshold  # Stripe", _is_object),
    Field("rule", """
        threshold_{amount,value} {amount,spend,cost,budget}_threshold  # OpenAI spend alerts
        thresholds threshold_rules       # Lago, Google Cloud Billing
        {condition,conditions,options}.{threshold,thresholds} notify_at
        {notify,alert,trigger}_{at_,}{percent,percentage,amount,threshold}
        """, _has_threshold),
    Field("rule", "threshold", _has_threshold_object),
    Field("observed", """
        {current,observed,actual,measured,evaluated}_{value,amount,usage,spend,percent,percentage}
        {current,observed,actual} value  # Prometheus
        """, _has_number),
    Field("of_sums", "comparison_operator metric{,_name}  # CloudWatch: a threshold of sums",
          _has_text),
)  # fmt: skip
"""The fields of an alert. `of_sums` says that a plain `threshold` is a sum, and no share."""


def _build(row: Row, context: DecodeContext) -> Alert:
    """The alert in a row; raises UnreadableRecord if no field of it is known."""
    values = row.values
    if not values:
        raise UnreadableRecord("an alert of which no field is known")
    agent, company = _agent_and_company(values, context)
    figures = read_figures(row, context)
    threshold = figures.warn_at
    used = figures.used
    is_sum = {"of_sums", "warn"} <= values.keys() and row.source("warn").name == "threshold"
    if is_sum:
        threshold = None
        used -= {"warn"}
    is_rule = _is_rule(row)
    text = values.get("text") or values.get("title")
    if not text:
        subject = _subject_name(agent, company, values.get("scope_name"))
        text = _sentence(subject, values.get("kind"), figures, threshold, is_rule=is_rule)
    is_open: bool | None = False
    if not is_rule:
        is_open = _is_open(values, row.obj)
    return make_record(
        Alert, row, context,
        # context.key: the key of the record if the answer has a map of records, not a list
        id=values.get("id") or context.key or content_id("alert", row.obj),
        severity=_severity(values),
        text=text,
        open=is_open,
        company=company,
        agent=agent,
        limit=figures.limit,
        spent=figures.spent,
        share=figures.share,
        threshold=threshold,
        extra=as_extra(unused_fields(row, used)),
    )  # fmt: skip


def _agent_and_company(values: Values, context: DecodeContext) -> tuple[Ref | None, Ref | None]:
    """The agent and the company that an alert is about, also from a scope or subject."""
    agent = ref_of(values, "agent", context)
    company = ref_of(values, "company", context)
    subject_kind, subject = values.get("subject", ("", None))
    scope = BUDGET_OWNER_TYPES.get(snake_case(values.get("scope_type") or subject_kind))
    scope_ref = Ref(values.get("scope_id"), values.get("scope_name"))
    scoped = context.with_name(join_refs(scope_ref, subject))
    if scope is BudgetScope.AGENT:
        agent = join_refs(agent, scoped)
    elif scope is BudgetScope.COMPANY:
        company = join_refs(company, scoped)
    return agent, company


def _subject_name(agent: Ref | None, company: Ref | None, scope_name: str | None) -> str | None:
    """What an alert is about: its agent, else whatever has a name, such as a project."""
    company_name = None if company is None else company.name
    return _name_or_id(agent) or company_name or scope_name or _name_or_id(company)


def _name_or_id(ref: Ref | None) -> str | None:
    """What to call a record in a sentence: its name, else its id."""
    if ref is None:
        return None
    if ref.name or not ref.id:
        return ref.name
    return clean_line(ref.id, 60)


_OBSERVED_SLOTS: Final = frozenset(("spent", "share", "remaining", "observed"))
"""Slots of figures that were measured: only an event has them."""
_HANDLED_SLOTS: Final = ("resolved", "dismissed", "acknowledged")
"""Slots that say what was done about an alert: only an event has them."""
_CREATION_NAMES: Final = frozenset(fold(name) for name in _CREATED.split())
_WORDS_OF_RULES: Final = word_set("active on pending current true new")
"""Words of an open alert that a rule may have as well: it is switched on, waits, or is new."""


def _is_rule(row: Row) -> bool:
    """Whether this is a rule ("notify me at 80 %") and no event ("80 % was reached").

    A rule has a threshold, and nothing that happened: no observed figure, no time except that of
    its creation, no state such as ALARM, no handling. A severity says how bad it would be. If the
    rule can be switched off, a text does not make it an event either.
    """
    values = row.values
    slots = {slot.split(" ")[0] for slot in values}
    is_limit_only = "limit" in slots and slots.isdisjoint(("text", "title", "severity", "status"))
    if slots.isdisjoint(("warn", "rule", "switch")) and not is_limit_only:
        return False
    status = snake_case(values.get("status", ""))
    has_event_status = alert_open(status) is True and status not in _WORDS_OF_RULES
    has_event_flag = any(values.get(slot) is True for slot in ("over", "near", "raised"))
    if has_event_status or has_event_flag:
        return False
    if not slots.isdisjoint(_OBSERVED_SLOTS) or not slots.isdisjoint(_HANDLED_SLOTS):
        return False
    if "at" in values and fold(row.source("at").name) not in _CREATION_NAMES:
        return False
    if "switch" in values:
        return True
    return "text" not in values or fold(row.source("text").name) == "description"


def _sentence(
    subject: str | None,
    kind: str | None,
    figures: Figures,
    threshold: Decimal | None,
    *,
    is_rule: bool,
) -> SafeText:
    """A sentence made of an alert's fields, for an alert without a text of its own."""
    parts: list[str] = []
    sums = " of ".join(
        fmt.money(each) for each in (figures.spent, figures.limit) if each is not None
    )
    if figures.share is not None:
        share = f"{fmt.percent(figures.share)} of the budget used"
        if figures.spent is not None and figures.limit is not None:
            share = f"{share} ({sums})"
        parts.append(share)
    elif figures.spent is not None:
        parts.append(f"{sums} spent")
    if threshold is not None:
        parts.append(f"warning at {fmt.percent(threshold)}")
    sentence = ""
    if kind or parts:
        sentence = ": ".join(filter(None, (subject, phrase(kind or ""), ", ".join(parts))))
    if is_rule and sentence:
        return clean_line(f"rule, not an event: {sentence}")
    if is_rule:
        return mark_safe("a rule, not an event")
    if sentence:
        return clean_line(sentence)
    return mark_safe("an alert without words")


def _severity(values: Values) -> Severity:
    """What the platform says in words and flags; UNKNOWN if it says nothing."""
    if "severity" in values:
        level = severity(values["severity"])
        if level is not Severity.UNKNOWN:
            return level
    if values.get("over"):
        return Severity.CRITICAL
    if values.get("near"):
        return Severity.WARNING
    for slot in ("threshold_type", "kind", "status"):
        if slot in values:
            level = severity(values[slot])
            if level in (Severity.WARNING, Severity.CRITICAL):
                return level
    return Severity.UNKNOWN


_END_KEYS: Final = word_set("resolvedat closedat dismissedat acknowledgedat")
"""Folded keys of the time when an alert ended; null while it is open."""


def _is_open(values: Values, obj: Mapping[str, Json]) -> bool | None:
    """Whether an alert is open; False once resolved, dismissed or acknowledged; None if unknown."""
    handled = [values.get(slot) for slot in _HANDLED_SLOTS]
    if True in handled:
        return False
    if "status" in values:
        is_open = alert_open(values["status"])
        if is_open is not None:
            return is_open
    if "raised" in values:
        return bool(values["raised"])
    if "active" in values:
        return bool(values["active"])
    # The platform has a field for the end of an alert, and this alert has not ended.
    has_no_end = any(raw is None and fold(key) in _END_KEYS for key, raw in obj.items())
    if False in handled or has_no_end:
        return True
    return None


# -- counts in place of a list --------------------------------------------------------------------

_COUNT_ENVELOPES: Final = word_set("data result response payload alerts summary counts")
"""Folded keys of the objects that may hold the counts."""
_LEVELS: Final = {
    **dict.fromkeys(("critical", "exceeded", "error", "high"), Severity.CRITICAL),
    **dict.fromkeys(("warning", "warnings", "medium"), Severity.WARNING),
    **dict.fromkeys(("info", "low"), Severity.INFO),
}
"""The severity that the folded name of a count means, worst first."""
_COUNTS: Final = word_set(
    "open active unread triggered resolved acknowledged alerts totalalerts openalerts activealerts"
)
"""Folded names of counts of alerts that do not give a severity."""


def read_counts(body: Json) -> Alert | None:
    """One alert that reports the counts of an answer without a list; None if all are 0.

    Without it, five alerts that the platform only counts would look like none. Raises
    UnreadableRecord if the answer holds no counts of alerts.
    """
    body = _innermost_counts(body)
    counts: dict[str, tuple[str, int]] = {}
    """(name as sent, count) by folded name."""
    if type(body) is dict:
        for key, value in body.items():
            if type(value) is int and value >= 0:
                counts[fold(key)] = (key, value)
    if counts.keys().isdisjoint((*_COUNTS, *_LEVELS)):
        raise UnreadableRecord("no counts of alerts")
    if any(type(value) in (list, dict) for value in body.values()):
        raise UnreadableRecord("no counts of alerts")
    if not any(count for _, count in counts.values()):
        return None
    in_words = ", ".join(f"{phrase(key)} {count}" for key, count in counts.values())
    levels = (level for name, level in _LEVELS.items() if name in counts and counts[name][1])
    return Alert(
        id="alerts-summary",
        severity=next(levels, Severity.UNKNOWN),
        text=clean_line(f"the platform only counts its alerts: {in_words}"),
        kind=mark_safe("summary"),
        extra=as_extra(dict(counts.values())),
    )


def _innermost_counts(body: Json) -> Json:
    """The object inside all envelopes; `body` itself if it is in none."""
    while type(body) is dict:
        inner = [
            value
            for key, value in body.items()
            if type(value) is dict and fold(key) in _COUNT_ENVELOPES
        ]
        if not inner:
            return body
        body = inner[0]
    return body


ALERTS: Final[Kind[Alert]] = Kind(
    "alert",
    noun="budget alerts",
    list_keys="alerts budget_alerts alert active_alerts active_incidents",
    fallback_list_keys="incidents notifications warnings budget_incidents triggered metric_alarms",
    fields=FIELDS,
    build=_build,
    unreadable_reason="an alert of which no field is known",
    max_rows=25_000,
    share_hints=share_hints,
    find_share_scales=find_share_scales,
    instead=read_counts,
)
