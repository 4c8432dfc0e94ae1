//! The policies as tables, each with its own parameters and no other.

use super::policy_keys::{deadline, litmus_keys, nice, priority};
use super::shape::Shape;
use super::variants::{Row, Short, Variants};
use super::visitor::{Context, Keys};
use crate::Task;
use crate::document::Node;
use crate::error::Findings;
use crate::policy::{EXAMPLES, parse_policy};
use serde_json::json;
use toml::Value;
use wakepath_timeline::{LitmusTask, Policy};

/// The short forms, each word of a policy in either case.
const SHORT: &str = concat!(
    r"^((?i:OTHER|BATCH)( \s*nice \s*([-−]0*(1?[0-9]|20)|\+?0*1?[0-9]))?",
    r"|(?i:IDLE)",
    r"|((?i:FIFO|RR)|(?i:EVL|COBALT) \s*(?i:FIFO)) \s*\+?0*[1-9][0-9]?",
    r"|(?i:DEADLINE) \s*[0-9.]+ *[a-zµμ]+(\s*/\s*[0-9.]+ *[a-zµμ]+\s*/\s*[0-9.]+ *[a-zµμ]+)?",
    r"|(?i:LITMUS) \s*(?i:P-FP|PSN-EDF|GSN-EDF|C-EDF)([ ,].*)?)\s*$"
);
const NEEDED: &str = "give the policies to compare, such as policies = [\"OTHER\", \"FIFO 99\"]";

pub(crate) static POLICY: Variants<Policy> = Variants {
    title: "policy",
    one: "a known policy",
    about: "A scheduling policy with the parameters that belong to it. The short forms are \
            `\"OTHER\"`, `\"OTHER nice -19\"`, `\"BATCH nice 5\"`, `\"IDLE\"`, `\"FIFO 99\"`, \
            `\"RR 50\"`, `\"EVL FIFO 80\"`, `\"COBALT FIFO 80\"`, `\"LITMUS P-FP 10\"`, `\"LITMUS PSN-EDF, budget 400us, release sleep\"`, `\"DEADLINE 400us\"` (runtime; deadline and period are the loop's \
            period) and `\"DEADLINE 400us/2ms/4ms\"` (runtime, deadline, period).",
    tag: "policy",
    short: "a short form such as `\"FIFO 99\"`",
    rows: &[
        row(
            "other",
            "`SCHED_OTHER`, the default time-sharing policy.",
            || Policy::Other { nice: 0 },
            nice,
        ),
        row(
            "batch",
            "`SCHED_BATCH`, time-sharing without wake-up preemption.",
            || Policy::Batch { nice: 0 },
            nice,
        ),
        row(
            "idle",
            "`SCHED_IDLE`, lower than every nice value.",
            || Policy::Idle,
            |_, _| {},
        ),
        row(
            "fifo",
            "`SCHED_FIFO`.",
            || Policy::Fifo { priority: 1 },
            priority,
        ),
        row(
            "rr",
            "`SCHED_RR`.",
            || Policy::RoundRobin { priority: 1 },
            priority,
        ),
        row(
            "evl-fifo",
            "`SCHED_FIFO` on EVL, the core of Xenomai 4; Linux sees the thread as `SCHED_FIFO` at the same \
             priority. Needs a kernel with that core.",
            || Policy::EvlFifo { priority: 1 },
            priority,
        ),
        row(
            "cobalt-fifo",
            "`SCHED_FIFO` on Cobalt, the core of Xenomai 3; Linux sees the thread as `SCHED_FIFO` at the same \
             priority. Needs a kernel with that core.",
            || Policy::CobaltFifo { priority: 1 },
            priority,
        ),
        row(
            "litmus-p-fp",
            "LITMUS^RT's plugin P-FP: fixed priorities, on one CPU. LITMUS^RT's policies \
             need a LITMUS^RT kernel with the matching active plugin (or `litmus-plugin = \"switch\"`). In the \
             short form, the priority is followed by the other parameters, separated by commas, in any order: \
             `\"LITMUS P-FP 10, partition 1, budget 400us, deadline 2ms, enforce precise, release sleep\"`.",
            || Policy::LitmusPFp {
                priority: 1,
                partition: None,
                task: LitmusTask::default(),
            },
            litmus_keys,
        ),
        row(
            "litmus-psn-edf",
            "LITMUS^RT's plugin PSN-EDF: earliest deadline first, on one CPU.",
            || Policy::LitmusPsnEdf {
                partition: None,
                task: LitmusTask::default(),
            },
            litmus_keys,
        ),
        row(
            "litmus-gsn-edf",
            "LITMUS^RT's plugin GSN-EDF: earliest deadline first, on all CPUs; `cpu` and `cpus` are not applied to it, and the run reports it.",
            || Policy::LitmusGsnEdf {
                task: LitmusTask::default(),
            },
            litmus_keys,
        ),
        row(
            "litmus-c-edf",
            "LITMUS^RT's plugin C-EDF: earliest deadline first, on the CPUs that share a cache \
             (`/proc/litmus/plugins/C-EDF/cluster`).",
            || Policy::LitmusCEdf {
                partition: None,
                task: LitmusTask::default(),
            },
            litmus_keys,
        ),
        row(
            "deadline",
            "`SCHED_DEADLINE`. The kernel requires 1024 ns ≤ runtime ≤ deadline ≤ period \
             and 100 µs ≤ period ≤ 4.194304 s (its default limits), and that all \
             reservations together take at most 95 % of the CPUs (its default share). It \
             refuses to pin such a thread to fewer CPUs than its root domain has, so \
             `cpu` and `cpus` are not applied to it; the run reports it.",
            || Policy::Deadline {
                runtime_ns: 0,
                deadline_ns: 0,
                period_ns: 0,
            },
            deadline,
        ),
    ],
};

const fn row(
    name: &'static str,
    about: &'static str,
    blank: fn() -> Policy,
    keys: fn(&mut Keys<'_>, &mut Policy),
) -> Row<Policy> {
    Row {
        name,
        about,
        blank,
        keys,
        short: Short::No,
    }
}

pub(crate) fn shape() -> Shape {
    Shape::Variants(Box::new(described()))
}

pub(crate) fn described() -> super::shape::Variants {
    let mut variants = POLICY.described();
    variants.short.0 = ecma_pattern(SHORT);
    variants
}

/// The pattern as a regular expression of JSON Schema, which has no inline flags: in a case-blind
/// group, which contains no other group, each letter matches both of its cases.
fn ecma_pattern(pattern: &str) -> String {
    let mut groups = pattern.split("(?i:");
    let mut written = groups.next().unwrap_or_default().to_owned();
    for group in groups {
        let (within, after) = group.split_once(')').unwrap_or((group, ""));
        written.push('(');
        for character in within.chars() {
            match (
                character.to_ascii_uppercase(),
                character.to_ascii_lowercase(),
            ) {
                (upper, lower) if upper != lower => written.push_str(&format!("[{upper}{lower}]")),
                _ => written.push(character),
            }
        }
        written.push(')');
        written.push_str(after);
    }
    written
}

/// Reads a policy in its short form or as a table.
fn read_policy(node: &Node<'_>, context: Context<'_>, findings: &mut Findings) -> Option<Policy> {
    if node.as_text().is_some() {
        let read = node.quantity(EXAMPLES, |text| parse_policy(text, context.period_ns));
        return findings.keep(read);
    }
    let section = findings.keep(node.table(EXAMPLES))?;
    POLICY.read_table(&section, context, findings)
}

fn written(policy: Policy) -> Value {
    policy.in_full().into()
}

/// The key `policy` of a task.
pub(super) fn key(keys: &mut Keys<'_>, policy: &mut Option<Policy>) {
    keys.nested(
        "policy",
        (
            Ok("the condition's, taken from `policies`"),
            "The task's own policy.",
        ),
        policy,
        shape,
        |node, context, findings| {
            context.with_any_period(findings, |context, findings| {
                read_policy(node, context, findings).map(Some)
            })
        },
        |policy| policy.map(written),
    );
}

/// The key `policies`, needed unless every task has one of its own.
pub(super) fn keys(keys: &mut Keys<'_>, tasks: &[Task], policies: &mut Vec<Policy>) {
    let all_have_their_own = if tasks.is_empty() {
        keys.given("tasks").is_some() && keys.given("policies").is_none()
    } else {
        tasks.iter().all(|task| task.policy.is_some())
    };
    keys.nested(
        "policies",
        (
            Ok("needed, unless every task has its own policy"),
            "The policies to compare.",
        ),
        policies,
        || Shape::List(Box::new(shape()), 1, 64),
        |node, context, findings| {
            if all_have_their_own {
                return Some(Vec::new());
            }
            context.with_any_period(findings, |context, findings| {
                read_policies(node, context, findings)
            })
        },
        |policies| {
            let written = policies.iter().copied().map(written);
            Some(Value::Array(written.collect())).filter(|_| !policies.is_empty())
        },
    );
    keys.rule(|| {
        let own = json!({ "tasks": { "items": { "required": ["policy"] } } });
        json!({
            "properties": { "policies": { "uniqueItems": true } },
            "if": { "required": ["tasks"], "properties": own },
            "then": { "not": { "required": ["policies"] } },
            "else": { "required": ["policies"] },
        })
    });
    match keys.given("policies") {
        None if !all_have_their_own => keys.missing("policies", NEEDED),
        Some(_) if all_have_their_own => keys.refuse_key(
            "policies",
            "would not be used: every task has its own policy",
            "leave it out, or take the policy from a task",
        ),
        _ => {}
    }
}

fn read_policies(
    node: &Node<'_>,
    context: Context<'_>,
    findings: &mut Findings,
) -> Option<Vec<Policy>> {
    let items = findings.keep(node.items(64, NEEDED))?;
    if items.is_empty() {
        findings.push(node.refuse("is empty", NEEDED));
        return None;
    }
    let mut policies: Vec<(usize, Policy)> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let Some(policy) = read_policy(item, context, findings) else {
            continue;
        };
        if let Some((first, _)) = policies.iter().find(|(_, earlier)| *earlier == policy) {
            let problem = format!("is the same policy as policies[{first}]");
            findings.push(item.refuse(problem, "name each policy once"));
        }
        policies.push((index, policy));
    }
    let complete = policies.len() == items.len();
    complete.then(|| policies.into_iter().map(|(_, policy)| policy).collect())
}
