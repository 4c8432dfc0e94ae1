//! Phrases that readers stumble over, each with what to write instead.

use super::pattern::Rule;

/// Phrases of pages and printed strings, which need to be shorter than comments.
const IN_PRINT: &[(&[&str], &str)] = &[
    (
        &["^ of what|which|whom", "^ whether a|the|it|this"],
        "begin with the noun or the verb",
    ),
    (
        &["!there is|are|was|were no ~longer|more|less|better|slower|later|worse|one"],
        "is not a",
    ),
];

/// Phrases with their advice, by their fault.
const PHRASES: &[(&[&str], &str)] = &[
    (
        &[
            "is|are|was|were|be|been|being told",
            "tells|tell which|what|how|why|when|whether|apart|of",
            "told apart|by|of|as|in|at",
            "nobody|nothing was told",
        ],
        "shows, reports, prints; unknown; can't be distinguished",
    ),
    (
        &[
            "is|are|was|were|be said",
            "says|say|said so",
            "said of|by|with",
            "without a word",
            "no word of",
        ],
        "reported, stated; name the message",
    ),
    (
        &[
            "stands|stand in|there|for|where|beside|below|above|at|on|behind|with|under|between|next",
            "stood|stand still|in|there|for",
        ],
        "is, is listed, means; stalled",
    ),
    (
        &["beside"],
        "next to, alongside, compared with, while … runs",
    ),
    (
        &["behind it|a|the|them|that|each|`x`"],
        "after, followed by",
    ),
    (&["goes|go|went|going|gone on"], "continues, resumes"),
    (&["goes|go|went before"], "preempts, comes first"),
    (
        &["where there|one|it|that|they|none|no|nothing|any|asked|given|known|needed|this|such"],
        "if, when",
    ),
    (
        &["not|never once", "has|have it|them not", "knows|know not"],
        "never, lacks",
    ),
    (
        &["of yours|ours|somebody|somebody's|someone", "of one's own"],
        "your own, the project's",
    ),
    (
        &[
            "^ what a|the|an|is|was|it|of|other|others|differs|became|each|this|makes|made|no|can|could|has|had|one|all|they|we|you|did|came",
        ],
        "begin with the noun or the verb",
    ),
    (
        &["it|that|which|they|run|runs|file|files|directory lies|lie|lay"],
        "is, is in, is stored",
    ),
    (
        &["comes|come|came by|of|to itself", "stopped|ended by itself"],
        "automatically, alone",
    ),
    (
        &["so many|much|few of|as|that", "so long as"],
        "the number of; as long as",
    ),
    (
        &["is|are|was|were the least|fewest"],
        "at least; the minimum is",
    ),
    (&["meanwhile"], "while … ; in the meantime"),
    (
        &["can't|cannot|can be had", "is|was|were|are had"],
        "is not available",
    ),
    (
        &["grave", "graver", "gravest"],
        "critical, major, most serious",
    ),
    (
        &["somebody", "whoever", "whosoever"],
        "someone, any program; better: name the actor",
    ),
    (&["such a one", "of such"], "name the thing"),
    (
        &[
            "thereof",
            "therein",
            "thereby",
            "hereby",
            "hitherto",
            "whereupon",
            "henceforth",
            "wherein",
            "whence",
            "thence",
        ],
        "drop it",
    ),
    (
        &[
            "asked of",
            "if|when|as asked",
            "as asked for",
            "asked for so",
        ],
        "requested; with --option",
    ),
    (&["in vain", "for nothing"], "without effect, unused"),
    (&["mend", "mends", "mended"], "fix"),
    (&["gives|give|gave way"], "can be preempted"),
    (&["anew"], "again"),
    (&["for ever"], "indefinitely"),
    (&["head-room", "on-line"], "headroom, online"),
    (&["^ else", "or else"], "otherwise"),
    (&["but for the|a|its|those|that|what"], "except"),
];

/// The rules.
pub struct Rules {
    /// For everything that people read.
    pub everywhere: Vec<Rule>,
    /// For pages and printed strings only.
    pub in_print: Vec<Rule>,
}

impl Rules {
    /// Every phrase as a rule.
    pub fn new() -> Self {
        let rules = |of: &[(&'static [&'static str], &'static str)]| {
            let each = of.iter();
            each.flat_map(|(phrases, advice)| {
                phrases.iter().map(|phrase| Rule::new(phrase, advice))
            })
            .collect()
        };
        Self {
            everywhere: rules(PHRASES),
            in_print: rules(IN_PRINT),
        }
    }
}
