//! From the document to the resolved scenario: every default filled in, every finding placed.

mod conditions;
mod cores;
mod criterion;
mod ethercat;
mod flight;
mod loads;
mod placement;
mod sections;
mod settings;
mod storage;
mod task_set;
mod task_table;
mod tasks;
mod text;
mod trace;
mod work;

pub(crate) use loads::simple_kind;
pub use sections::sections;
pub(crate) use task_set::task_set_file;
pub(crate) use task_table::parse as task_table;

use crate::document::{Node, Section};
use crate::error::{Finding, Findings, ScenarioErrors};
use crate::units::{Complaint, LONGEST_PERIOD_NS, SHORTEST_PERIOD_NS, parse_duration};
use crate::{
    KnownCpus, Phase, PluginSwitch, Scenario, Task, TimerSlack, Warning, bandwidth, keys, litmus,
};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wakepath_timeline::duration::exact;
use wakepath_timeline::{Overrun, WakeUp, quoted, shortened};

/// Largest file that is read, in bytes.
const MOST_BYTES: usize = 1 << 20;
/// Longest judged time of one condition, in nanoseconds: a leap year.
const LONGEST_CONDITION_NS: u128 = 366 * 86_400 * 1_000_000_000;
const DEFAULT_WARM_UP_NS: u64 = 500_000_000;

impl Scenario {
    /// Reads a scenario file. `source_name` is the file's name for messages; `known` are the CPUs
    /// of the machine that will run it. [`Scenario::parse_with_warnings`] also returns warnings
    /// about dubious but valid settings.
    ///
    /// # Errors
    /// Every fault found, each in one line with its place in the file.
    pub fn parse(text: &str, source_name: &str, known: &KnownCpus) -> Result<Self, ScenarioErrors> {
        Self::parse_with_warnings(text, source_name, known).map(|(scenario, _)| scenario)
    }

    /// As [`Scenario::parse`], with warnings about valid but surprising settings.
    ///
    /// # Errors
    /// As [`Scenario::parse`].
    pub fn parse_with_warnings(
        text: &str,
        source_name: &str,
        known: &KnownCpus,
    ) -> Result<(Self, Vec<Warning>), ScenarioErrors> {
        let mut findings = Findings::default();
        let mut warnings = Vec::new();
        let scenario = read_document(text, known, &mut findings, &mut warnings);
        let scenario = findings.or(scenario, source_name, text)?;
        warnings.extend(scenario.warnings());
        Ok((scenario, warnings))
    }
}

fn read_document(
    text: &str,
    known: &KnownCpus,
    findings: &mut Findings,
    warnings: &mut Vec<Warning>,
) -> Option<Scenario> {
    with_root(text, findings, |root, findings| {
        read_root(root, known, findings, warnings)
    })
}

/// Result of `read` for a file's root table, unless the file is too long or not TOML.
fn with_root<T>(
    text: &str,
    findings: &mut Findings,
    read: impl FnOnce(&Section<'_>, &mut Findings) -> Option<T>,
) -> Option<T> {
    let whole_file = |at, problem: String, remedy: &str| Finding {
        at,
        key: String::new(),
        found: String::new(),
        complaint: Complaint::new(problem, remedy),
    };
    if text.len() > MOST_BYTES {
        let problem = format!("the file has {} bytes", text.len());
        findings.push(whole_file(0, problem, "a scenario has at most 1 MiB"));
        return None;
    }
    let (document, mut errors) = DeTable::parse_recoverable(text);
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    errors.sort_by_key(start);
    let mut before = None;
    for error in &errors {
        // The rest of a wrong line is wrong because of its beginning.
        let is_same_line = |from: usize| {
            text.get(from..start(error))
                .is_some_and(|part| !part.contains('\n'))
        };
        if before.replace(start(error)).is_some_and(is_same_line) {
            continue;
        }
        let message = shortened(error.message(), 200);
        let span = error.span().unwrap_or(0..0);
        findings.push(match text.get(span.clone()) {
            Some(key) if message == "duplicate key" => {
                let problem = format!("the key {} is repeated", quoted(key));
                whole_file(span.start, problem, "give each key once")
            }
            _ => whole_file(span.start, format!("the file is not TOML: {message}"), ""),
        });
    }
    if !errors.is_empty() {
        return None;
    }
    let span = document.span();
    let root = Spanned::new(span, DeValue::Table(document.into_inner()));
    read(&Section::root(&root)?, findings)
}

fn read_root(
    root: &Section<'_>,
    known: &KnownCpus,
    findings: &mut Findings,
    warnings: &mut Vec<Warning>,
) -> Option<Scenario> {
    keys::check(root, &keys::SCENARIO, findings);
    let name = text::read_needed_name(root, "such as name = \"wing-250hz\"", findings);
    let description = findings.optional(
        root.get("description"),
        String::new(),
        text::read_description,
    );
    let tasks = tasks::read_tasks(root, known, findings, warnings);
    let phases = conditions::read_phases(root, known, findings);
    let warm_up_ns = findings.optional(
        root.get("warm-up"),
        DEFAULT_WARM_UP_NS,
        settings::read_warm_up,
    );
    let repetitions = findings.optional(root.get("repetitions"), 1, |node| {
        Ok(node.integer(1..=1000)? as u32)
    });
    let wake_up = findings.optional(
        root.get("wake-up"),
        WakeUp::default(),
        settings::read_wake_up,
    );
    let overrun = findings.optional(
        root.get("overrun"),
        Overrun::default(),
        settings::read_overrun,
    );
    let timer_slack = findings.optional(
        root.get("timer-slack"),
        TimerSlack::Set(1),
        settings::read_timer_slack,
    );
    let cpu_dma_latency_us = findings.optional(
        root.get("cpu-dma-latency"),
        None,
        settings::read_cpu_dma_latency,
    );
    let litmus_plugin = findings.optional(
        root.get("litmus-plugin"),
        PluginSwitch::default(),
        settings::read_litmus_plugin,
    );
    let core_latency_ns = findings.optional(
        root.get("core-latency"),
        Some(settings::CORE_LATENCY_NS),
        settings::read_core_latency,
    );
    let accounting = settings::read_accounting(root, findings);
    let trace = trace::read_trace(root, findings);

    // All that follows is given in terms of the period.
    let period_ns = tasks.iter().flatten().map(|task| task.period_ns).min();
    let (Some(tasks), Some(period_ns)) = (tasks, period_ns) else {
        find_without_tasks(root, findings);
        return None;
    };
    let cycles = read_cycles(root, period_ns, findings);
    if let (Some(cycles), Some(repetitions), Some(node)) =
        (cycles, repetitions, root.get("repetitions"))
        && u64::from(repetitions) > cycles
    {
        let problem = format!("leaves repetitions without any of the {cycles} cycles");
        findings.push(node.refuse(problem, format!("give at most {cycles}")));
    }
    let all_have_their_own = tasks.iter().all(|task| task.policy.is_some());
    let policies = conditions::read_policies(root, period_ns, all_have_their_own, findings);
    let criterion = criterion::read_criterion(root, period_ns, findings);
    let flight = flight::read_flight(root, &tasks, period_ns, findings);
    refuse_slow_flights(root, &tasks, phases.as_deref(), findings);
    let policies = policies?;
    cores::refuse_what_is_linuxs(
        root,
        policies
            .iter()
            .copied()
            .chain(tasks.iter().filter_map(|task| task.policy)),
        wake_up,
        accounting,
        findings,
    );
    bandwidth::check(root, &policies, &tasks, known, findings);
    litmus::check_partitions(root, &policies, &tasks, known, findings);

    Some(Scenario {
        name: name?,
        description: description?,
        period_ns,
        cycles: cycles?,
        repetitions: repetitions?,
        warm_up_ns: warm_up_ns?,
        policies,
        phases: phases?,
        tasks,
        wake_up: wake_up?,
        overrun: overrun?,
        timer_slack: timer_slack?,
        cpu_dma_latency_us: cpu_dma_latency_us?,
        litmus_plugin: litmus_plugin?,
        core_latency_ns: core_latency_ns?,
        accounting: accounting?,
        trace: trace?,
        criterion: criterion?,
        flight: flight?,
    })
}

/// Faults of what is given in terms of the period, if the tasks can't be read. If their period can't either, the
/// faults are those that any period leaves.
fn find_without_tasks(root: &Section<'_>, findings: &mut Findings) {
    let with = |period_ns: u64| {
        let mut found = Findings::default();
        read_cycles(root, period_ns, &mut found);
        let all_have_their_own = root.get("tasks").is_some() && root.get("policies").is_none();
        conditions::read_policies(root, period_ns, all_have_their_own, &mut found);
        criterion::read_criterion(root, period_ns, &mut found);
        found
    };
    let period_ns = match root.get("tasks") {
        Some(_) => None,
        None => tasks::read_period(root, &mut Findings::default(), &mut Vec::new()),
    };
    findings.append(match period_ns {
        Some(period_ns) => with(period_ns),
        None => with(SHORTEST_PERIOD_NS).and_also(&with(LONGEST_PERIOD_NS)),
    });
}

/// A vehicle that has no command for longer than this, in nanoseconds, is lost: no loop as slow
/// flies one.
const LONGEST_FLIGHT_PERIOD_NS: u64 = 1_000_000_000;

/// A loop that flies, in its cycles or afterwards, must be able to.
fn refuse_slow_flights(
    root: &Section<'_>,
    tasks: &[Task],
    phases: Option<&[Phase]>,
    findings: &mut Findings,
) {
    let slow = || {
        let tasks = tasks.iter();
        tasks.filter(|task| task.period_ns > LONGEST_FLIGHT_PERIOD_NS)
    };
    let Some(slowest) = slow().max_by_key(|task| task.period_ns) else {
        return;
    };
    let own = phases
        .unwrap_or_default()
        .iter()
        .filter_map(|phase| phase.work.as_ref());
    let mut works = slow().map(|task| &task.work).chain(own);
    let flies = works.any(|work| work.flight().is_some());
    let key = match (flies, root.get("flight")) {
        (true, _) => ["work", "phases", "tasks"]
            .into_iter()
            .find(|key| root.get(key).is_some()),
        (false, Some(_)) => Some("flight"),
        (false, None) => None,
    };
    if let Some(key) = key {
        let problem = format!(
            "flies a vehicle, at a period of {}: without a command for 1 s it is lost",
            exact(slowest.period_ns)
        );
        findings.push(root.refuse_key(key, problem, "give a period of at most 1 s"));
    }
}

impl Findings {
    /// Result of `read` for an entry, or `default` without it.
    pub(crate) fn optional<'a, T>(
        &mut self,
        node: Option<Node<'a>>,
        default: T,
        read: impl FnOnce(&Node<'a>) -> Result<T, Finding>,
    ) -> Option<T> {
        match node {
            None => Some(default),
            Some(node) => self.keep(read(&node)),
        }
    }
}

/// One of several words.
pub(crate) fn choice<T: Copy>(node: &Node<'_>, choices: &[(&str, T)]) -> Result<T, Finding> {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    let remedy = format!("give one of {}", keys::listed(&names));
    let text = node.text(&remedy)?;
    let found = choices.iter().find(|(name, _)| *name == text);
    found
        .map(|(_, value)| *value)
        .ok_or_else(|| node.refuse("is not a choice here", keys::suggestion(text, &names)))
}

fn read_cycles(root: &Section<'_>, period_ns: u64, findings: &mut Findings) -> Option<u64> {
    let remedy = "give cycles = 10000 or duration = \"40 s\"";
    let (node, cycles) = match (root.get("cycles"), root.get("duration")) {
        (None, None) => {
            findings.push(root.missing("cycles", remedy));
            return None;
        }
        (Some(_), Some(_)) => {
            let problem = "conflicts with cycles: both set how long to measure";
            findings.push(root.refuse_key("duration", problem, "give one of the two"));
            return None;
        }
        (Some(node), None) => {
            let cycles = findings.keep(node.integer(1..=10_000_000_000))?;
            (node, cycles as u64)
        }
        (None, Some(node)) => {
            let ns = findings.keep(node.quantity(remedy, parse_duration))?;
            (node, ns / period_ns)
        }
    };
    let period = exact(period_ns);
    if cycles == 0 {
        let problem = format!("is shorter than one period ({period})");
        findings.push(node.refuse(problem, format!("give at least {period}")));
        return None;
    }
    let most = LONGEST_CONDITION_NS / u128::from(period_ns);
    if u128::from(cycles) > most {
        let problem = format!("takes more than 366 days at a period of {period}");
        findings.push(node.refuse(problem, format!("give at most {most} cycles")));
        return None;
    }
    Some(cycles)
}
