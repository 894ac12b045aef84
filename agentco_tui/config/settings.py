"""Every setting, declared once, and the records that the program reads them from.

To add a setting, add a field with a `Setting` to one of these records (`config/declaration.py`).

Words: a *platform* is a remote service with companies of AI agents. A *profile*, a table
`[profiles.NAME]` of the config file, describes one. A *yes* is the user's approval of a task that
waits for it. A *list* is the records of one kind, as they are polled from the platform, and a
*view* is a list with a filter of the user's. What *needs you* are the items that need a decision.
"""

# No `from __future__ import annotations` here: the declarations are read from the annotations.
import shlex
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from agentco_tui.api.credentials import ApiKey, BaseUrl
from agentco_tui.config import validators
from agentco_tui.config.api_key import KeyLocation
from agentco_tui.config.declaration import (
    EACH,
    FLAG_ONLY,
    PROFILE,
    TOP,
    Group,
    Setting,
    Table,
    TakesEffect,
    declared_settings,
)
from agentco_tui.keys.commands import UNBOUND, Command
from agentco_tui.keys.places import SCREEN_OF_KIND
from agentco_tui.model import AgentState, Severity, TaskState
from agentco_tui.reading.mapping import AS_SENT, OPEN, ProfileMapping
from agentco_tui.text import clean_line

DEFAULT_PROFILE: Final = "default"
"""The name of the profile if the config file has none: then flags and variables describe it."""
MONEY: Final = f"{PROFILE}.money"
ALERTS: Final = "alerts"
NOTIFY: Final = "notify"
VIEWS: Final = f"views.{EACH}"
COMMANDS: Final = f"commands.{EACH}"
_TASK_STATUS: Table = validators.words_by_state("tasks", [state.value for state in TaskState])
_STATUS: Table = {
    **_TASK_STATUS,
    "task": _TASK_STATUS,
    "agent": validators.words_by_state("agents", [state.value for state in AgentState]),
    "alert": validators.words_by_state("alerts", OPEN),  # its states are "open" and "closed"
}
_SEVERITY: Table = {
    level.value: validators.word_list for level in Severity if level is not Severity.UNKNOWN
}


@validators.validator("a key in quotes, or several separated by commas")
def _keys_as_written(value: object) -> object:
    """The value itself: `config/key_bindings.py` checks the whole table."""
    return value


class KeySources(msgspec.Struct, frozen=True, kw_only=True):
    """Where a profile's API key comes from; the file never holds the key itself."""

    api_key_command: Annotated[
        tuple[str, ...] | None,
        Setting(
            "A command that prints the API key.",
            validators.command,
            takes_effect=TakesEffect.NEXT_START,
            example='"pass show agentco/prod"',
        ),
    ] = None
    api_key_env: Annotated[
        str | None,
        Setting(
            "The environment variable that holds the API key.",
            validators.variable,
            takes_effect=TakesEffect.NEXT_START,
            example='"PROD_KEY"',
        ),
    ] = None
    api_key_file: Annotated[
        Path | None,
        Setting(
            "A file that holds the API key and that only you can read.",
            validators.path,
            takes_effect=TakesEffect.NEXT_START,
            example='"keys/prod"',
        ),
    ] = None
    keyring: Annotated[
        bool | None,
        Setting(
            "true: the API key is in the system's keyring.",
            validators.boolean,
            takes_effect=TakesEffect.NEXT_START,
            example="true",
        ),
    ] = None


class MoneySettings(msgspec.Struct, frozen=True, kw_only=True):
    """The unit and the currency of a platform's sums of money, if its answers do not say them."""

    unit: Annotated[
        str | None,
        Setting(
            "The unit of sums where no answer says it.",
            validators.unit,
            takes_effect=TakesEffect.NEXT_START,
            example='"cents"',
        ),
    ] = None
    currency: Annotated[
        str | None,
        Setting(
            "The currency of sums where no answer says it.",
            validators.currency,
            takes_effect=TakesEffect.NEXT_START,
            example='"EUR"',
        ),
    ] = None


class MappingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A platform's own names of fields and states, if they are not those in docs/reading.md."""

    fields: Annotated[
        Mapping[str, Mapping[str, str]],
        Setting(
            'Our fields and their paths there: "agentco-tui doctor --fields".',
            {},  # by kind of record; the file adds them where a profile has any
            takes_effect=TakesEffect.NEXT_START,
            example='task.title = "headline"',
        ),
    ] = {}
    money: Annotated[MoneySettings, Group(MoneySettings, MONEY)] = MoneySettings()
    status: Annotated[
        Mapping[str, Any],
        Setting(
            "Words for each state of tasks, agents and alerts, and what null means.",
            _STATUS,
            takes_effect=TakesEffect.NEXT_START,
            example='task.pending = ["needs_ok"]',
        ),
    ] = {}
    severity: Annotated[
        Mapping[str, tuple[str, ...]],
        Setting(
            "Words for each severity of alerts and log entries.",
            _SEVERITY,
            takes_effect=TakesEffect.NEXT_START,
            example='critical = ["boom"]',
        ),
    ] = {}


class AlertLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The limits above which something is shown as a warning or as critical (`[alerts]`)."""

    warn_percent: Annotated[
        Decimal,
        Setting("Percentage of a limit whose spending is a warning.", validators.percent),
    ] = Decimal(80)
    critical_percent: Annotated[
        Decimal,
        Setting("Percentage of a limit whose spending is critical.", validators.percent),
    ] = Decimal(100)
    waiting_warning: Annotated[
        float,  # seconds
        Setting("Time after which a waiting task is a warning.", validators.duration),
    ] = 15 * 60.0
    waiting_critical: Annotated[
        float,  # seconds
        Setting("Time after which a waiting task is critical.", validators.duration),
    ] = 60 * 60.0
    burn_1h: Annotated[
        float,
        Setting(
            "Factor by which a budget was spent too fast over the last hour.",
            validators.factor,
        ),
    ] = 14.4
    burn_6h: Annotated[
        float,
        Setting("The same over the last 6 hours.", validators.factor),
    ] = 6.0
    burn_24h: Annotated[
        float,
        Setting("The same over the last 24 hours.", validators.factor),
    ] = 3.0
    runaway: Annotated[
        float,
        Setting(
            "Factor above the highest rate of an agent's own last two weeks.", validators.factor
        ),
    ] = 2.0
    forecast_on: Annotated[
        Decimal,
        Setting(
            "Probability in per cent from which the date of reaching a limit is shown.",
            validators.probability,
        ),
    ] = Decimal(90)
    forecast_off: Annotated[
        Decimal,
        Setting(
            "Probability in per cent below which that date is no longer shown.",
            validators.probability,
        ),
    ] = Decimal(75)


class Notify(msgspec.Struct, frozen=True, kw_only=True):
    """How a user who is not looking at the dashboard is notified (`[notify]`)."""

    bell: Annotated[
        bool,
        Setting("Ring the terminal's bell.", validators.boolean),
    ] = True
    desktop: Annotated[
        bool | None,
        Setting(
            "Show desktop notifications; unset: if the terminal is known to show them.",
            validators.boolean,
            example="true",
        ),
    ] = None
    title: Annotated[
        bool,
        Setting(
            "Put the profile and what needs you into the terminal's title.", validators.boolean
        ),
    ] = True
    priority: Annotated[
        str | None,
        Setting(
            "Notify of each new waiting task of this priority or above.",
            validators.priority,
            example='"urgent"',
        ),
    ] = None
    outage: Annotated[
        float,  # seconds
        Setting("Notify of a list that failed for so long.", validators.duration),
    ] = 300.0
    quiet: Annotated[
        tuple[tuple[int, int], ...],  # minutes since midnight; may pass midnight
        Setting(
            "Local hours without notifications.", validators.quiet_hours, example='"22:00-06:30"'
        ),
    ] = ()
    on_critical: Annotated[
        tuple[str, ...],
        Setting(
            "A command to run, with what became critical in its environment.",
            validators.arguments,
            example='["notify-send", "agentco"]',
        ),
    ] = ()

    @property
    def is_on(self) -> bool:
        """Whether anything reaches a user who is looking elsewhere."""
        return self.bell or self.title or self.desktop is not False or bool(self.on_critical)


class ViewSettings(msgspec.Struct, frozen=True, kw_only=True):
    """A list with a filter, an order and columns, and a tab of its own (`[views.NAME]`)."""

    name: str
    screen: Annotated[
        str,
        Setting("The screen whose list the view shows.", validators.screen, example='"tasks"'),
    ]
    filter: Annotated[
        str,
        Setting("The filter, as typed after /.", validators.text, example='"priority>=high"'),
    ] = ""
    sort: Annotated[
        str | None,
        Setting(
            "The column to sort by; with - in the other direction.",
            validators.text,
            example='"-waiting"',
        ),
    ] = None
    columns: Annotated[
        tuple[str, ...],
        Setting(
            "The columns after the level; unset: the usual ones.",
            validators.word_list,
            example='["task", "waiting"]',
        ),
    ] = ()

    @property
    def tab(self) -> str:
        """The id of the view's tab."""
        return f"{self.screen}:{self.name}"


class OwnCommand(msgspec.Struct, frozen=True, kw_only=True):
    """A program of the user's for the record under the cursor (`[commands.NAME]`)."""

    name: str
    run: Annotated[
        tuple[str, ...],
        Setting(
            "The program and its arguments; no shell runs it.",
            validators.arguments,
            example='["open-ticket"]',
        ),
    ]
    scope: Annotated[
        tuple[str, ...],
        Setting(
            "The kinds of record it is for.", validators.record_kinds, example='["task", "alert"]'
        ),
    ]
    key: Annotated[
        str,  # in Textual's names, separated by commas
        Setting("Its keys; unset: only the palette has it.", validators.key_list, example='"N"'),
    ] = ""
    confirm: Annotated[
        bool,
        Setting("Ask before it runs.", validators.boolean),
    ] = False
    writes: Annotated[
        bool,
        Setting("It changes something, and is refused in read-only.", validators.boolean),
    ] = False
    background: Annotated[
        bool,
        Setting("Run it without a terminal and show its output in a pane.", validators.boolean),
    ] = False

    @property
    def command(self) -> Command:
        """The entry of the command table, with the screens that can show such a record."""
        place, *more_places = dict.fromkeys(SCREEN_OF_KIND[kind] for kind in self.scope)
        if self.scope != ("company",):
            more_places.append("overview")
        return Command(
            id=f"commands.{self.name}",
            keys=self.key or UNBOUND,
            label=clean_line(self.name),
            tooltip=clean_line(shlex.join(self.run), 200),
            where=place,
            run="",
            also=tuple(more_places),
        )


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """Every effective setting. Fields without a `Setting` or `Group` are derived from others."""

    profile: Annotated[
        str,
        Setting(
            "The profile to use without --profile.",
            validators.text,
            tables=(TOP,),
            takes_effect=TakesEffect.NEXT_START,
            example='"prod"',
            flag="--profile",
            variable="AGENTCO_PROFILE",
        ),
    ] = DEFAULT_PROFILE
    base_url: Annotated[
        BaseUrl,
        Setting(
            "The address of the platform; the API key is sent to no other.",
            validators.address,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
            example='"https://platform.example"',
            flag="--base-url",
            variable="AGENTCO_BASE_URL",
        ),
    ]
    key: ApiKey | None = None
    """The key that was read at the start; it masks itself."""
    key_source: str = ""
    """Where the key came from: "AGENTCO_API_KEY", "api_key_command of profile prod"."""
    key_location: Annotated[
        KeyLocation | None, Group(KeySources, PROFILE, name="api_key", only_one=True)
    ] = None
    """Where the key can be read again; None if it cannot, as for the demo."""
    platform: Annotated[
        str | None,
        Setting(
            "The file that says what the platform's interface is; unset: the usual one.",
            validators.text,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
            example='"paperclip"',
            flag="--platform",
            variable="AGENTCO_PLATFORM",
        ),
    ] = None
    company: Annotated[
        str | None,
        Setting(
            "Show only this company.",
            validators.id_or_name,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
            example='"cmp_1"',
            flag="--company",
        ),
    ] = None
    screen: Annotated[
        str | None,
        Setting(
            "The screen to begin with; unset: the one that was open last.",
            validators.screen,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
            example='"overview"',
            flag="--screen",
        ),
    ] = None
    refresh: Annotated[
        float,
        Setting(
            "Seconds between two polls.", validators.refresh, tables=(PROFILE,), flag="--refresh"
        ),
    ] = 5.0
    read_only: Annotated[
        bool,
        Setting(
            "true refuses every change.",
            validators.boolean,
            tables=(PROFILE,),
            takes_effect=TakesEffect.TRUE_AT_ONCE,
            flag="--read-only",
            variable="AGENTCO_READ_ONLY",
            check_word=validators.boolean_word,
        ),
    ] = False
    thin: Annotated[
        bool,
        Setting(
            "Paint less, for slow lines.",
            validators.boolean,
            tables=FLAG_ONLY,
            takes_effect=TakesEffect.NEXT_START,
            flag="--thin",
        ),
    ] = False
    allow_http: Annotated[
        bool,
        Setting(
            "Allow plain http to other machines than this one.",
            validators.boolean,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
        ),
    ] = False
    ca_file: Annotated[
        Path | None,
        Setting(
            "Certificates (PEM) to trust in place of the system's.",
            validators.path,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
            example='"private-ca.pem"',
        ),
    ] = None
    trust_env: Annotated[
        bool,
        Setting(
            "Use the proxies that the environment names.",
            validators.boolean,
            tables=(PROFILE,),
            takes_effect=TakesEffect.NEXT_START,
        ),
    ] = False
    mapping: Annotated[ProfileMapping, Group(MappingSettings, PROFILE)] = AS_SENT
    theme: Annotated[
        str | None,
        Setting(
            "The colours; unset: agentco-light on a light terminal, else agentco-dark.",
            validators.theme,
            tables=(TOP, PROFILE),
            example='"agentco-dark"',
            flag="--theme",
        ),
    ] = None
    themes: Mapping[str, Mapping[str, Any]] = {}
    """The user's own themes: each name with its colours by role, of all files without a mistake."""
    keys: Annotated[
        Mapping[str, str],
        Setting(
            'The keys of each command: "agentco-tui config keys" lists the names.',
            {EACH: _keys_as_written},
            tables=(TOP,),
            example='"tasks.approve" = "a"',
        ),
    ] = {}
    """The rebound keys by binding id, and those of `commands`, ready for `set_keymap`: Textual's
    names, separated by commas. A binding without a key has `keys.commands.UNBOUND`."""
    alerts: Annotated[AlertLimits, Group(AlertLimits, ALERTS)] = AlertLimits()
    hold: Annotated[
        float,
        Setting(
            "Seconds in which a yes to one task can be taken back.",
            validators.hold,
            tables=("approve",),
        ),
    ] = 2.0
    advance: Annotated[
        bool,
        Setting(
            "Move the cursor to the next waiting task after a yes.",
            validators.boolean,
            tables=("list",),
        ),
    ] = True
    history: Annotated[
        bool,
        Setting(
            "Remember what was seen of the platform.",
            validators.boolean,
            tables=(TOP, PROFILE),
            takes_effect=TakesEffect.NEXT_START,
        ),
    ] = True
    history_mb: Annotated[
        int,
        Setting(
            "The largest size of the history file, in MB.",
            validators.megabytes,
            tables=(TOP,),
            takes_effect=TakesEffect.NEXT_START,
        ),
    ] = 200
    label: Annotated[
        str | None,
        Setting(
            "The platform's name on the screen; unset: the profile's name.",
            validators.text,
            tables=(PROFILE,),
            example='"Production"',
        ),
    ] = None
    colour: Annotated[
        str | None,
        Setting(
            "The colour of header, footer and questions.",
            validators.colour,
            tables=(PROFILE,),
            example='"magenta"',
        ),
    ] = None
    danger: Annotated[
        bool | None,
        Setting(
            "Paint it as production; unset: if its name or label says prod or live.",
            validators.boolean,
            tables=(PROFILE,),
            example="true",
        ),
    ] = None
    protected: Annotated[
        bool,
        Setting(
            "Approving several tasks asks for the profile's name, typed.",
            validators.boolean,
            tables=(PROFILE,),
        ),
    ] = False
    web_url: Annotated[
        str | None,
        Setting(
            "The web page of a record, for links and the browser.",
            validators.web_url,
            tables=(PROFILE,),
            example='"https://platform.example/{kind}/{id}"',
        ),
    ] = None
    notify: Annotated[Notify, Group(Notify, NOTIFY)] = Notify()
    views: Annotated[tuple[ViewSettings, ...], Group(ViewSettings, VIEWS)] = ()
    commands: Annotated[tuple[OwnCommand, ...], Group(OwnCommand, COMMANDS)] = ()
    profiles: tuple[str, ...] = ()
    """The names of the profiles that a user can switch to."""
    log_file: Annotated[
        Path | None,
        Setting(
            "Write a log to this file.",
            validators.path,
            tables=FLAG_ONLY,
            takes_effect=TakesEffect.NEXT_START,
            flag="--log-file",
            check_word=validators.path,
        ),
    ] = None
    log_json: Annotated[
        bool,
        Setting(
            "Write a JSON object for each line of the log.",
            validators.boolean,
            tables=FLAG_ONLY,
            takes_effect=TakesEffect.NEXT_START,
            flag="--log-json",
        ),
    ] = False
    config_path: Path | None = None
    """The config file, whether or not it exists."""
    sources: Mapping[str, str] = {}
    """Where each setting came from: "--refresh", "profile prod, FILE:12", "default"."""

    @property
    def transport_options(self) -> dict[str, Any]:
        """The arguments of `Transport` that say how to reach the platform."""
        return {
            "ca_file": self.ca_file,
            "trust_env": self.trust_env,
            "key_source": self.key_source,
        }


DECLARED = declared_settings(Settings)
"""All settings in the order in which `config show` lists them."""
