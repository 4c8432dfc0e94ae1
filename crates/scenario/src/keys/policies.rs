//! The policies as tables, each with its own parameters and no other.

use super::form::{Words, time, whole};
use super::shape::Shape;
use super::variants::{Row, Short, Variants};
use super::visitor::{Context, Keys};
use crate::document::Node;
use crate::error::Findings;
use crate::litmus;
use crate::policy::{
    DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS, DEADLINE_RUNTIME_LEAST_NS, EXAMPLES,
    broken_rule, parse_policy,
};
use crate::{Task, units::Complaint};
use serde_json::json;
use toml::Value;
use wakepath_timeline::{Enforcement, JobRelease, LitmusTask, MOST_CPUS, Policy};

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
    one: "a policy",
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
            "`SCHED_IDLE`, below every nice value.",
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
            "`SCHED_FIFO` on EVL, the core of Xenomai 4; in Linux the thread has `SCHED_FIFO` at \
             the same priority. It needs a kernel with that core.",
            || Policy::EvlFifo { priority: 1 },
            priority,
        ),
        row(
            "cobalt-fifo",
            "`SCHED_FIFO` on Cobalt, the core of Xenomai 3; in Linux the thread has `SCHED_FIFO` at \
             the same priority. It needs a kernel with that core.",
            || Policy::CobaltFifo { priority: 1 },
            priority,
        ),
        row(
            "litmus-p-fp",
            "LITMUS^RT's plugin P-FP: fixed priorities, on one CPU. The policies of LITMUS^RT need a \
             kernel with it, whose active plugin is theirs (or `litmus-plugin = \"switch\"`). The short \
             form has all but the priority behind commas, in any order: \
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
            "`SCHED_DEADLINE`. The kernel asks for 1024 ns ≤ runtime ≤ deadline ≤ period \
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

fn nice(keys: &mut Keys<'_>, policy: &mut Policy) {
    if let Policy::Other { nice } | Policy::Batch { nice } = policy {
        let about = "−20 (most favoured) to 19.";
        keys.or("nice", whole(-20, 19), 0, about, nice);
    }
}

fn priority(keys: &mut Keys<'_>, policy: &mut Policy) {
    if let Policy::Fifo { priority }
    | Policy::RoundRobin { priority }
    | Policy::EvlFifo { priority }
    | Policy::CobaltFifo { priority } = policy
    {
        let about = "1 (lowest) to 99 (highest).";
        keys.required("priority", whole(1, 99), about, priority);
    }
}

fn litmus_keys(keys: &mut Keys<'_>, policy: &mut Policy) {
    let (partition, task) = match policy {
        Policy::LitmusPFp {
            priority,
            partition,
            task,
        } => {
            let form = whole(1, i64::from(litmus::LOWEST_PRIORITY));
            keys.required("priority", form, "1 (highest) to 511.", priority);
            (Some(partition), task)
        }
        Policy::LitmusPsnEdf { partition, task } | Policy::LitmusCEdf { partition, task } => {
            (Some(partition), task)
        }
        Policy::LitmusGsnEdf { task } => (None, task),
        _ => return,
    };
    if let Some(partition) = partition {
        keys.optional(
            "partition",
            whole(0, i64::from(MOST_CPUS) - 1),
            "the loop's CPU",
            "The CPU on which the core schedules it, or one of the cluster.",
            partition,
        );
    }
    keys.optional(
        "budget",
        time("400 µs").above_0(),
        "its deadline or period",
        "CPU time of a job. One cycle is one job.",
        &mut task.budget_ns,
    );
    keys.optional(
        "period",
        time("400 µs").above_0(),
        "the loop's period",
        "Least time between two releases: the loop's period, or less if it sleeps.",
        &mut task.period_ns,
    );
    keys.optional(
        "deadline",
        time("400 µs").above_0(),
        "the period",
        "Time after its release by which a job is to be done; EDF goes by it.",
        &mut task.deadline_ns,
    );
    keys.or(
        "enforce",
        Words(litmus::ENFORCEMENTS),
        Enforcement::None,
        "Whether, and when, the core suspends a job that has used up its budget until its next release: never, at ticks, or by a timer.",
        &mut task.enforcement,
    );
    keys.or(
        "release",
        Words(litmus::RELEASES),
        JobRelease::Job,
        "How a cycle waits: the core releases a job at its due time, or it sleeps by clock_nanosleep, which the core takes for a release.",
        &mut task.release,
    );
    if keys.complete()
        && let Err((part, Complaint { problem, remedy })) =
            litmus::checked(*task, keys.context.period_ns)
    {
        keys.refuse_value(part, problem, remedy);
    }
}

fn deadline(keys: &mut Keys<'_>, policy: &mut Policy) {
    let Policy::Deadline {
        runtime_ns,
        deadline_ns,
        period_ns,
    } = policy
    else {
        return;
    };
    keys.required(
        "runtime",
        time("400 µs").described_within(DEADLINE_RUNTIME_LEAST_NS, DEADLINE_PERIOD_MOST_NS),
        "CPU time reserved in each period.",
        runtime_ns,
    );
    let (mut deadline, mut period) = (None, None);
    keys.optional(
        "deadline",
        time("2 ms"),
        "the loop's period",
        "Time after the start of its period by which the runtime is given.",
        &mut deadline,
    );
    keys.optional(
        "period",
        time("4 ms").described_within(DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS),
        "the loop's period",
        "Period of the reservation.",
        &mut period,
    );
    *period_ns = period.unwrap_or(keys.context.period_ns);
    *deadline_ns = deadline.unwrap_or(*period_ns);
    if !keys.complete() {
        return;
    }
    if let Some((part, Complaint { problem, remedy })) =
        broken_rule(*runtime_ns, *deadline_ns, *period_ns)
    {
        if keys.given(part).is_some() {
            keys.refuse_value(part, problem, remedy);
        } else {
            // The fault is in a default, whose source is this table.
            let problem = format!("defaults to the loop's, which {problem}");
            keys.refuse_key(part, problem, remedy);
        }
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
            Ok("the condition's, one after the other from `policies`"),
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
            Ok("needed, unless every task has a policy of its own"),
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
            "would not be used, for every task has a policy of its own",
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
