//! `criterion`: the loop's tolerance.

use super::form::{OfPeriod, Share, Words, between, from, whole};
use super::listed;
use super::shape::Shape;
use super::visitor::{Context, Keys, described, read, written};
use crate::document::Node;
use crate::error::Findings;
use crate::{Criterion, PoliciesNeeded, TIERS, Tier};
use serde_json::json;
use wakepath_timeline::duration::exact;

const MISS_FRACTION: f64 = 0.005;
const CONFIDENCE: f64 = 0.95;

/// Names of the tiers that a thread can serve.
fn tier_names() -> Vec<&'static str> {
    TIERS.iter().filter_map(|tier| tier.criterion).collect()
}

/// A table, or a tier's name.
pub(super) fn key(keys: &mut Keys<'_>, criterion: &mut Criterion) {
    if !keys.is_writing() {
        *criterion = blank(keys.context.period_ns);
    }
    keys.nested(
        "criterion",
        (
            Ok("see there"),
            "Limits that the loop tolerates: a table, or one of BeaglePilot's timing tiers by name, such as `\"1 ms tier\"`: \
             awake within a tenth of the tier, done within the tier, at most 0.5 % missed.",
        ),
        criterion,
        || {
            let table = Shape::Table(Box::new(described(blank(1), declare)));
            Shape::Either(vec![Shape::Choice(tier_names()), table])
        },
        read_criterion,
        |criterion| Some(written(criterion, declare)),
    );
}

pub(super) fn blank(period_ns: u64) -> Criterion {
    Criterion {
        latency_ns: None,
        deadline_ns: period_ns,
        miss_fraction: MISS_FRACTION,
        evidence: None,
        confidence: CONFIDENCE,
        consecutive_misses: None,
        outage_ns: None,
        mode_switches: 0.0,
        policies: PoliciesNeeded::Any,
    }
}

fn read_criterion(
    node: &Node<'_>,
    context: Context<'_>,
    findings: &mut Findings,
) -> Option<Criterion> {
    context.with_any_period(findings, |context, findings| {
        let Some(name) = node.as_text() else {
            let section = findings.keep(node.table("give a table [criterion]"))?;
            return read(
                &section,
                context,
                findings,
                blank(context.period_ns),
                declare,
            );
        };
        let Some(tier) = Tier::named(name) else {
            let remedy = format!("give a table, or one of {}", listed(&tier_names()));
            findings.push(node.refuse("is not a known criterion", remedy));
            return None;
        };
        // A loop that is due more often has that much less time for its work, and to wake up for it.
        let criterion = tier.criterion();
        let deadline_ns = tier.period_ns.min(context.period_ns);
        Some(Criterion {
            latency_ns: criterion.latency_ns.map(|latency| latency.min(deadline_ns)),
            deadline_ns,
            ..criterion
        })
    })
}

pub(crate) fn declare(keys: &mut Keys<'_>, criterion: &mut Criterion) {
    keys.title(
        "the criterion",
        "Limits of the loop, for each condition. Times can be absolute or relative \
         to the period (\"10 %\", \"3 periods\"); with several periods the shortest counts.",
    );
    let period_ns = keys.context.period_ns;
    keys.optional(
        "latency",
        OfPeriod { period_ns },
        "wake-up latency does not count",
        "A due time is missed if its cycle wakes up later than this after it.",
        &mut criterion.latency_ns,
    );
    keys.preset(
        "deadline",
        OfPeriod { period_ns },
        "\"1 period\"",
        "A due time is missed if its cycle's work ends later than this after it. Skipped due times are always \
         missed.",
        &mut criterion.deadline_ns,
    );
    if keys.complete() && criterion.latency_ns > Some(criterion.deadline_ns) {
        let deadline = exact(criterion.deadline_ns);
        let problem = format!("is longer than the deadline ({deadline}), so it has no effect");
        keys.refuse_value("latency", problem, format!("give at most {deadline}"));
    }
    keys.or(
        "miss-fraction",
        Share { above_0: false },
        MISS_FRACTION,
        "Largest tolerated share of due times missed. With 0 no miss is allowed, and `evidence` sets the required \
         proof.",
        &mut criterion.miss_fraction,
    );
    keys.optional(
        "evidence",
        between(0.0, 1.0),
        "needed with `miss-fraction` 0, refused otherwise",
        "Upper bound on the probability of a miss that the run must reach, such as 5e-6.",
        &mut criterion.evidence,
    );
    refuse_evidence(keys, criterion);
    keys.or(
        "confidence",
        from(0.5, 1.0),
        CONFIDENCE,
        "One-sided confidence of the bound on the miss fraction.",
        &mut criterion.confidence,
    );
    keys.optional(
        "consecutive-misses",
        whole(0, 1_000_000_000),
        "no bound",
        "Largest tolerated number of consecutive missed due times.",
        &mut criterion.consecutive_misses,
    );
    keys.optional(
        "outage",
        OfPeriod { period_ns },
        "no bound",
        "Longest tolerated time from the end of one cycle to the end of the next.",
        &mut criterion.outage_ns,
    );
    if criterion.outage_ns.is_some_and(|outage| outage < period_ns) {
        let period = exact(period_ns);
        let problem = format!("is shorter than the period ({period}), so no loop could meet it");
        keys.refuse_value("outage", problem, format!("give at least {period}"));
    }
    keys.or(
        "mode-switches",
        Share { above_0: false },
        0.0,
        "Largest tolerated share of the cycles in which a loop on a real-time core (`EVL FIFO`, `COBALT FIFO`) \
         switched into Linux; above it the condition is invalid.",
        &mut criterion.mode_switches,
    );
    keys.or(
        "policies",
        Words(&[
            ("any", PoliciesNeeded::Any),
            ("every", PoliciesNeeded::Every),
        ]),
        PoliciesNeeded::Any,
        "\"any\": one policy that passes in every phase is enough. \"every\": all must pass.",
        &mut criterion.policies,
    );
}

fn refuse_evidence(keys: &mut Keys<'_>, criterion: &Criterion) {
    keys.rule(|| {
        let none = json!({ "anyOf": [{ "const": 0 }, { "type": "string", "pattern": r"^0+(\.0+)? *%$" }] });
        json!({
            "if": { "properties": { "miss-fraction": none }, "required": ["miss-fraction"] },
            "then": { "required": ["evidence"] },
            "else": { "not": { "required": ["evidence"] } },
        })
    });
    if !keys.complete() {
        return;
    }
    let fraction = criterion.miss_fraction;
    match criterion.evidence {
        None if fraction == 0.0 => keys.refuse_key(
            "evidence",
            "is missing, and with miss-fraction 0 no run could ever be long enough",
            "give the bound on the miss probability that the run must show, such as evidence = 5e-6",
        ),
        Some(_) if fraction > 0.0 => {
            let problem = format!("has no meaning with miss-fraction {fraction}");
            let remedy = "leave it out, or give miss-fraction = 0";
            keys.refuse_value("evidence", problem, remedy);
        }
        _ => {}
    }
}
