"""Stories of words: writers, marketing, researchers; and the talk between tasks."""

from __future__ import annotations

from agentco_tui.demo.stories import Story, call, out, think

STORIES = (
    Story(
        ("writer", "marketing"),
        "Publish pricing page",
        "New plans take effect on the 1st. Legal has read the draft; {few} words changed since.",
        (
            call("cms.diff", page="/pricing"),
            out("{few} changes, the {product} drops by {percent} %"),
            think("The footnote on taxes must stay, or the page is wrong in {region}."),
            call("cms.preview", page="/pricing", locale="{region}"),
            out("Preview is ready for review"),
        ),
        (
            call("cms.publish", page="/pricing"),
            call("cdn.purge", paths="/pricing"),
            out("Live, checked from {few} places"),
        ),
        "Published the pricing page",
        "The page was not published: the check of links found {few} dead ones",
        "hhm",
    ),
    Story(
        ("writer",),
        "Publish “A short guide to {topic}”",
        "{n}0 words, read twice, with {few} pictures. Planned for the {month} newsletter.",
        (
            call("search.sources", topic="{topic}", limit="{n}"),
            out("{few} sources worth quoting"),
            think("Begin with the mistake everyone makes, then the fix."),
            out("Draft of {n}0 words, reading age 13"),
        ),
        (
            call("cms.publish", page="/guides/{ticket}"),
            out("Live, the newsletter links to it"),
        ),
        "Published the guide to {topic}",
        "The guide to {topic} was held back: a quoted source was withdrawn",
        "mml",
        (30, 260),
    ),
    Story(
        ("marketing",),
        "Send the {month} newsletter to {n}00 readers",
        "Subject line B won the test by {percent} %. Unsubscribes are honoured.",
        (
            call("mail.ab_test", subject_lines="2", sample="{n}"),
            out("Line B wins by {percent} %"),
            call("mail.lint", template="newsletter-{month}"),
            out("No dead links, {few} pictures have texts"),
        ),
        (
            call("mail.send_batch", template="newsletter-{month}", recipients="{n}00"),
            out("Sent to {n}00 readers"),
        ),
        "Sent the {month} newsletter to {n}00 readers",
        "Sending stopped after {n} readers: too many bounces",
        "hmml",
        (25, 150),
    ),
    Story(
        ("marketing",),
        "Raise the {region} ad budget by {amount}",
        "Each sale there costs {percent} % less than elsewhere. Stops by itself after 14 days.",
        (
            call("ads.report", region="{region}", days="28"),
            out("{n} sales, cost per sale down {percent} %"),
            think("Worth more money, but cap it and look again in two weeks."),
        ),
        (
            call("ads.set_budget", region="{region}", extra="{amount}", days="14"),
            out("Budget raised for 14 days"),
        ),
        "Raised the {region} ad budget by {amount}",
        "The ad platform refused the raise: payment limit reached",
        "hm",
    ),
    Story(
        ("writer", "support"),
        "Rewrite {few} help pages about {topic}",
        "{n} tickets a month ask what these pages should answer.",
        (
            call("tickets.cluster", topic="{topic}"),
            out("{n} tickets a month, {few} pages fall short"),
            out("Rewritten: {few} pages, each with one example"),
        ),
        (
            call("cms.publish", page="/help/{ticket}", pages="{few}"),
            out("{few} pages are live"),
        ),
        "Rewrote {few} help pages about {topic}",
        "Two of the help pages are locked by a translator",
        "mll",
    ),
    Story(
        ("researcher",),
        "Buy the {region} market study for {amount}",
        "It covers {n} shops and is the only one younger than a year.",
        (
            call("search.studies", region="{region}", max_age_months="12"),
            out("One study, {n} shops, {amount}"),
            think("Free sources end two years ago. The price is fair for {n} shops."),
        ),
        (
            call("purchasing.order", item="study-{ticket}", total="{amount}"),
            out("Bought, {few} chapters summarised"),
        ),
        "Bought and summarised the {region} market study",
        "The seller withdrew the {region} study; nothing was bought",
        "ml",
        (20, 120),
    ),
    Story(
        ("researcher", "analyst"),
        "Ask {n} customers {few} questions about the {product}",
        "Answers decide what is built next. Each gets a voucher; the sum is {amount}.",
        (
            call("crm.segment", bought="{product}", consent="yes"),
            out("{n} customers agreed to be asked"),
            out("{few} questions, two minutes, no personal data"),
        ),
        (
            call("survey.send", recipients="{n}", questions="{few}"),
            out("Sent, first answers are in"),
        ),
        "Asked {n} customers about the {product}",
        "The survey was stopped: voucher codes ran out after {few} answers",
        "mml",
    ),
    Story(
        ("writer", "researcher"),
        "Correct {few} claims on the {product} page",
        "Measurements of the lab differ from what the page promises.",
        (
            call("lab.results", product="{product}"),
            out("{few} values are lower than promised"),
            think("The page must not promise more than we measured. Legal should be glad."),
        ),
        (
            call("cms.publish", page="/products/{ticket}"),
            out("Corrected and live"),
        ),
        "Corrected {few} claims on the {product} page",
        "The page of the {product} is locked for a launch",
        "uhm",
    ),
    Story(
        ("sales", "writer"),
        "Post the {customer} success story",
        "{person} agreed to be quoted. {few} figures were checked with their team.",
        (
            call("mail.thread", contact="{person}"),
            out("{person}: “Go ahead, the figures are right.”"),
            out("Story of {n}0 words with {few} figures"),
        ),
        (
            call("social.post", channel="blog", story="{ticket}"),
            out("Posted"),
        ),
        "Posted the {customer} success story",
        "{person} took back the consent; nothing was posted",
        "mll",
    ),
    Story(
        ("marketing", "engineer"),
        "Redirect {n} old links on {domain}",
        "They still bring {percent} % of all visits and end in an error today.",
        (
            call("crawler.broken", domain="{domain}"),
            out("{n} links end in 404"),
            call("redirects.plan", links="{n}"),
            out("A target was found for each of them"),
        ),
        (
            call("redirects.apply", links="{n}", domain="{domain}"),
            out("{n} redirects are live"),
        ),
        "Redirected {n} old links on {domain}",
        "The redirects would have made a loop on {few} links; nothing changed",
        "ml",
        (6, 45),
    ),
)

TALK = (
    ("info", "Read {few} new messages, none needs an answer"),
    ("info", "Checked {service}: all well"),
    ("info", "Compared {n} rows with yesterday, {few} differ as expected"),
    ("info", "Looked up what we know about {customer}"),
    ("info", "Drafted an answer for ticket {ticket}"),
    ("info", "Summarised {few} documents about {topic}"),
    ("info", "Planned the next {few} steps"),
    ("info", "Tidied notes on {topic}"),
    ("info", "Asked {person} for the missing figures"),
    ("info", "Sorted {n} new entries by what they cost"),
    ("info", "Checked the draft about {topic} against its sources"),
    ("info", "Filed ticket {ticket} under {service}"),
    ("info", "Waiting for {customer} to confirm"),
    ("warning", "{vendor} answers slowly, trying again with less"),
    ("warning", "Tool call took {percent} s, longer than usual"),
    ("error", "Lookup for {customer} failed: permission denied, went on without it"),
)
"""Log lines of an agent between tasks: level and template."""
