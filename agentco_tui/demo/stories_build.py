"""Stories of machines and data: engineers, security, analysts."""

from __future__ import annotations

from agentco_tui.demo.stories import Story, call, out, think

STORIES = (
    Story(
        ("engineer", "security"),
        "Rotate the staging database password",
        "It stood in a log file for {few} hours. {few} services read it from the vault.",
        (
            call("vault.age", path="staging/{service}/db"),
            out("{n} days old, {few} services read it"),
            think("Rotate in two phases: both passwords valid for an hour, then drop the old."),
            call("vault.rotate", path="staging/{service}/db", dry_run="yes"),
            out("Dry run is clean"),
        ),
        (
            call("vault.rotate", path="staging/{service}/db"),
            call("deploy.restart", services="{few}", env="staging"),
            out("{few} services are healthy on the new password"),
        ),
        "Rotated the staging database password; {few} services are healthy",
        "Rolled back the rotation: {service} did not come up on the new password",
        "uhhm",
    ),
    Story(
        ("engineer",),
        "Deploy {service} {version} to production",
        "{few} changes, all reviewed. Canary ran for 2 h with no new errors.",
        (
            call("ci.status", service="{service}", version="{version}"),
            out("All {n} checks pass"),
            call("canary.report", service="{service}", hours="2"),
            out("Error rate 0.0{few} %, latency unchanged"),
            think("The canary is clean. Ask for the full roll-out."),
        ),
        (
            call("deploy.rollout", service="{service}", version="{version}", percent="100"),
            out("Roll-out finished, all instances report {version}"),
        ),
        "Deployed {service} {version} to production",
        "Rolled back {service} {version}: health checks failed on {few} instances",
        "hhmu",
        (30, 240),
    ),
    Story(
        ("engineer",),
        "Drop {few} unused indexes on {service}",
        "Not read in 60 days; they cost {percent} % of every write.",
        (
            call("db.index_usage", database="{service}", days="60"),
            out("{few} indexes with no reads"),
            think("Writes get {percent} % faster. Rebuilding takes minutes if I am wrong."),
        ),
        (
            call("db.drop_indexes", database="{service}", count="{few}", concurrently="yes"),
            out("Dropped, write latency is down {percent} %"),
        ),
        "Dropped {few} unused indexes on {service}",
        "Stopped: a report started to use one of the indexes on {service}",
        "mml",
    ),
    Story(
        ("engineer", "operations"),
        "Scale {service} down to {few} nodes",
        "Load is at {percent} % for a week. Saves {amount} a year.",
        (
            call("metrics.load", service="{service}", days="7"),
            out("Mean load {percent} %, peak under half"),
            out("With {few} nodes the peak would reach 71 %"),
        ),
        (
            call("cluster.resize", service="{service}", nodes="{few}"),
            out("{service} runs on {few} nodes"),
        ),
        "Scaled {service} down to {few} nodes",
        "Kept the size of {service}: load rose while draining",
        "ml",
    ),
    Story(
        ("security",),
        "Revoke {few} stale access tokens",
        "Not used for {n} days and owned by people who changed teams.",
        (
            call("iam.tokens", unused_days="{n}"),
            out("{few} tokens, all with write access to {service}"),
            think("Nobody used them for {n} days. Owners were told last week."),
        ),
        (
            call("iam.revoke", tokens="{few}"),
            out("{few} tokens revoked"),
        ),
        "Revoked {few} stale tokens for {service}",
        "One of the tokens for {service} was used an hour ago; nothing was revoked",
        "hhm",
        (6, 40),
    ),
    Story(
        ("security",),
        "Block {n} addresses probing {service}",
        "They tried {ticket} passwords since midnight. No customer shares these networks.",
        (
            call("waf.top_offenders", service="{service}"),
            out("{n} addresses, {ticket} attempts, none succeeded"),
            call("waf.simulate_block", addresses="{n}"),
            out("No known customer would be affected"),
        ),
        (
            call("waf.block", addresses="{n}", hours="72"),
            out("Blocked for 72 h"),
        ),
        "Blocked {n} addresses for 72 h",
        "The rule set is full; only {few} addresses were blocked",
        "uuh",
        (10, 60),
    ),
    Story(
        ("security", "engineer"),
        "Patch {few} servers against CVE-2025-{ticket}",
        "Scored 8.{few}. A restart of {service} is needed; it takes about 40 s.",
        (
            call("scanner.findings", service="{service}"),
            out("{few} servers run the affected version"),
            call("patch.plan", servers="{few}", rolling="yes"),
            out("Rolling restart, no downtime expected"),
        ),
        (
            call("patch.apply", servers="{few}"),
            out("{few} servers patched and back"),
        ),
        "Patched {few} servers of {service}",
        "One server of {service} did not come back; the others wait",
        "uhh",
    ),
    Story(
        ("analyst",),
        "Share the {quarter} churn report with {customer}",
        "They asked for the numbers of their own accounts. Names of people are removed.",
        (
            call("warehouse.query", table="churn", quarter="{quarter}"),
            out("{n} rows, {percent} % churn"),
            think("Remove the names, keep the counts. Then it may leave the house."),
            out("Report of {few} pages, no personal data left"),
        ),
        (
            call("files.share", document="churn-{quarter}.pdf", with_="{customer}"),
            out("Shared, link expires in 14 days"),
        ),
        "Shared the {quarter} churn report with {customer}",
        "Sharing was refused: {customer} has no signed agreement",
        "mml",
    ),
    Story(
        ("analyst", "researcher"),
        "Delete {n} duplicate customer records",
        "Matched by mail and address; the newer record of each pair stays.",
        (
            call("crm.duplicates", match="email+address"),
            out("{n} pairs, certain in 98 % of them"),
            out("Samples of {few} pairs were checked by hand rules"),
        ),
        (
            call("crm.merge", pairs="{n}"),
            out("{n} pairs merged, undo is kept for 30 days"),
        ),
        "Merged {n} duplicate customer records",
        "Merging stopped after {few} pairs: two belong to different people",
        "hmm",
        (15, 120),
    ),
    Story(
        ("analyst", "operations"),
        "Change the {region} price list by {percent} %",
        "Costs rose by {percent} %. {n} items are affected; contracts are left alone.",
        (
            call("pricing.simulate", region="{region}", percent="{percent}"),
            out("{n} items, yearly effect {amount}"),
            think("Contract prices must stay as they are. List prices only."),
        ),
        (
            call("pricing.apply", region="{region}", items="{n}", percent="{percent}"),
            out("{n} prices changed from tomorrow"),
        ),
        "Changed {n} prices in {region} by {percent} %",
        "Prices were not changed: {few} items are locked by a promotion",
        "hm",
    ),
    Story(
        ("engineer",),
        "Restore {few} deleted files for {customer}",
        "Asked for in ticket {ticket}. The backup of last night has all of them.",
        (
            call("backup.find", account="{customer}", ticket="{ticket}"),
            out("{few} files in last night's backup"),
            think("Restore beside the present files, so that nothing is overwritten."),
        ),
        (
            call("backup.restore", files="{few}", overwrite="no"),
            out("{few} files restored"),
        ),
        "Restored {few} files for {customer}",
        "The backup of {customer} could not be read; a person has to look",
        "hm",
        (5, 30),
    ),
)
