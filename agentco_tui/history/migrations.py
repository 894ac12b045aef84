"""The tables of the history's database, and how files of earlier versions are migrated.

The history is what was polled from platforms, the remote services that are watched. The tables:

- platform: one for each service, by a key that is the same for all spellings of its address;
  viewer: the profiles (the user's names for it) that have watched it.
- subject: the names of companies and AI agents, by their ids (`key`).
- series: one figure over time, such as what a budget has spent; sample: its values (`a` to `c`).
- tally: a kind of log entry; counted: how many there were (`n`).
- life: when a task came, was decided and ended; alert: the same of alerts.
- seen: when a feed (one list that is polled) was read without a gap; kept (before: thinned): from
  when on buckets of each length, in seconds (`resolution`), are complete.
- inbox: rows of processes that may not write, for the one that may.
"""

from __future__ import annotations

from typing import Final

MIGRATIONS: Final = (
    # Version 1.
    """
    CREATE TABLE platform (id INTEGER PRIMARY KEY, profile TEXT NOT NULL, origin TEXT NOT NULL,
        UNIQUE (profile, origin));
    CREATE TABLE subject (platform INTEGER, kind TEXT, key TEXT, name TEXT, company TEXT,
        PRIMARY KEY (platform, kind, key)) WITHOUT ROWID;
    CREATE TABLE series (id INTEGER PRIMARY KEY, platform INTEGER, feed TEXT, subject TEXT,
        UNIQUE (platform, feed, subject));
    CREATE TABLE sample (series INTEGER, at REAL, a, b, c, PRIMARY KEY (series, at)) WITHOUT ROWID;
    CREATE TABLE seen (platform INTEGER, feed TEXT, scope TEXT, since REAL, until REAL,
        PRIMARY KEY (platform, feed, scope, since)) WITHOUT ROWID;
    CREATE TABLE tally (id INTEGER PRIMARY KEY, platform INTEGER, agent TEXT, company TEXT,
        kind TEXT, severity TEXT, UNIQUE (platform, agent, kind, severity, company));
    CREATE TABLE counted (tally INTEGER, at INTEGER, is_hour INTEGER, n INTEGER,
        PRIMARY KEY (tally, at, is_hour)) WITHOUT ROWID;
    CREATE TABLE life (platform INTEGER, id TEXT, title TEXT NOT NULL, agent TEXT, company TEXT,
        first_seen REAL, waiting_since REAL, decided REAL, decided_by TEXT, ended REAL, state TEXT,
        estimate TEXT, cost TEXT, currency TEXT, state_at REAL, changed REAL,
        PRIMARY KEY (platform, id)) WITHOUT ROWID;
    CREATE INDEX lives ON life (platform, changed);
    CREATE INDEX lives_of ON life (platform, agent, changed);
    CREATE TABLE alert (platform INTEGER, id TEXT, scope TEXT, subject TEXT, severity TEXT,
        first_seen REAL, gone REAL, PRIMARY KEY (platform, id)) WITHOUT ROWID;
    CREATE TABLE thinned (platform INTEGER, step INTEGER, until REAL,
        PRIMARY KEY (platform, step)) WITHOUT ROWID;
    """,
    # Version 2: what was seen belongs to the platform, whichever profile saw it. The profiles of
    # one platform become one. `platform_of` is the function of that name in `api/origin.py`.
    """
    CREATE TEMP TABLE moved AS SELECT id AS old, (SELECT min(id) FROM platform AS same
        WHERE platform_of(same.origin) = platform_of(platform.origin)) AS new FROM platform;
    CREATE TABLE viewer (platform INTEGER, profile TEXT, PRIMARY KEY (platform, profile))
        WITHOUT ROWID;
    INSERT OR IGNORE INTO viewer SELECT new, profile FROM platform JOIN moved ON id = old;
    DELETE FROM moved WHERE old = new;

    INSERT OR IGNORE INTO subject SELECT new, kind, key, name, company
        FROM subject JOIN moved ON platform = old;
    INSERT INTO seen SELECT new, feed, scope, since, until FROM seen JOIN moved ON platform = old
        WHERE true ON CONFLICT DO UPDATE SET until = max(until, excluded.until);
    INSERT INTO life SELECT new, id, title, agent, company, first_seen, waiting_since, decided,
        decided_by, ended, state, estimate, cost, currency, state_at, changed
        FROM life JOIN moved ON platform = old WHERE true ON CONFLICT DO UPDATE SET
        first_seen = min(first_seen, excluded.first_seen),
        decided = COALESCE(decided, excluded.decided),
        decided_by = COALESCE(decided_by, excluded.decided_by),
        ended = COALESCE(ended, excluded.ended), cost = COALESCE(excluded.cost, cost),
        state = CASE WHEN excluded.state_at > state_at THEN COALESCE(excluded.state, state)
            ELSE state END,
        state_at = max(state_at, excluded.state_at), changed = max(changed, excluded.changed);
    INSERT INTO alert SELECT new, id, scope, subject, severity, first_seen, gone
        FROM alert JOIN moved ON platform = old WHERE true ON CONFLICT DO UPDATE SET
        first_seen = min(first_seen, excluded.first_seen), gone = COALESCE(gone, excluded.gone);
    INSERT OR IGNORE INTO series (platform, feed, subject) SELECT new, feed, subject
        FROM series JOIN moved ON platform = old;
    INSERT OR IGNORE INTO sample SELECT target.id, at, a, b, c FROM sample
        JOIN series AS source ON source.id = sample.series JOIN moved ON source.platform = old
        JOIN series AS target ON (target.platform, target.feed, target.subject)
            = (new, source.feed, source.subject);
    INSERT OR IGNORE INTO tally (platform, agent, company, kind, severity)
        SELECT new, agent, company, kind, severity FROM tally JOIN moved ON platform = old;
    INSERT INTO counted SELECT target.id, at, is_hour, n FROM counted
        JOIN tally AS source ON source.id = counted.tally JOIN moved ON source.platform = old
        JOIN tally AS target
        ON (target.platform, target.agent, target.kind, target.severity, target.company)
            = (new, source.agent, source.kind, source.severity, source.company)
        WHERE true ON CONFLICT DO UPDATE SET n = max(n, excluded.n);

    DELETE FROM sample WHERE series IN
        (SELECT id FROM series WHERE platform IN (SELECT old FROM moved));
    DELETE FROM counted WHERE tally IN
        (SELECT id FROM tally WHERE platform IN (SELECT old FROM moved));
    DELETE FROM series WHERE platform IN (SELECT old FROM moved);
    DELETE FROM tally WHERE platform IN (SELECT old FROM moved);
    DELETE FROM subject WHERE platform IN (SELECT old FROM moved);
    DELETE FROM seen WHERE platform IN (SELECT old FROM moved);
    DELETE FROM life WHERE platform IN (SELECT old FROM moved);
    DELETE FROM alert WHERE platform IN (SELECT old FROM moved);
    DELETE FROM thinned WHERE platform IN (SELECT old FROM moved UNION SELECT new FROM moved);
    DELETE FROM platform WHERE id IN (SELECT old FROM moved);
    DROP TABLE moved;

    CREATE TABLE place (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, origin TEXT NOT NULL);
    INSERT INTO place SELECT id, platform_of(origin), origin FROM platform;
    DROP TABLE platform;
    ALTER TABLE place RENAME TO platform;

    ALTER TABLE life ADD COLUMN waits INTEGER;
    ALTER TABLE life ADD COLUMN departed REAL;
    ALTER TABLE life ADD COLUMN departed_after REAL;
    ALTER TABLE life ADD COLUMN looked_up INTEGER;
    UPDATE life SET waits = 1 WHERE waiting_since NOT NULL AND state IN ('pending', 'queued')
        AND decided IS NULL AND ended IS NULL;
    CREATE INDEX waiting ON life (platform, company) WHERE waits;
    ALTER TABLE alert ADD COLUMN text TEXT;
    ALTER TABLE alert ADD COLUMN is_dated INTEGER NOT NULL DEFAULT 1;
    """,
    # Version 3: figures and counts in buckets of one minute, ten minutes and one hour, all three
    # written at once. What earlier versions had thinned already is complete in the longer buckets
    # only, which `kept` says.
    """
    CREATE TABLE kept (platform INTEGER, resolution INTEGER, since REAL,
        PRIMARY KEY (platform, resolution)) WITHOUT ROWID;
    INSERT INTO kept SELECT platform, CASE step WHEN 600 THEN 60 ELSE 600 END,
        CAST(until / 3600 AS INTEGER) * 3600 FROM thinned;
    DROP TABLE thinned;

    CREATE TABLE length (resolution INTEGER);
    INSERT INTO length VALUES (60), (600), (3600);
    CREATE TABLE bucketed (series INTEGER, resolution INTEGER, bucket INTEGER, at REAL, a, b, c,
        PRIMARY KEY (series, resolution, bucket)) WITHOUT ROWID;
    INSERT INTO bucketed SELECT series, resolution,
        CAST(at / resolution AS INTEGER) * resolution AS begin, max(at), a, b, c
        FROM sample, length GROUP BY series, resolution, begin;
    DROP TABLE sample;
    ALTER TABLE bucketed RENAME TO sample;

    CREATE TABLE bucketed (tally INTEGER, resolution INTEGER, bucket INTEGER, n INTEGER,
        PRIMARY KEY (tally, resolution, bucket)) WITHOUT ROWID;
    INSERT INTO bucketed SELECT tally, resolution, at / resolution * resolution AS begin, sum(n)
        FROM counted, length WHERE resolution = 3600 OR NOT is_hour
        GROUP BY tally, resolution, begin;
    DROP TABLE counted;
    ALTER TABLE bucketed RENAME TO counted;
    DROP TABLE length;

    CREATE TABLE inbox (id INTEGER PRIMARY KEY, platform INTEGER, rows BLOB);
    """,
)
"""The script at position N takes a file from version N to N + 1; a new file has version 0."""
