//! `wakepath record`: the loops of a program of the user's own, asked for and made into a scenario, which
//! is then measured like any other. It starts the program for the question alone.

use super::measured::{self, Beforehand};
use super::{criterion, exec};
use crate::command_line::Record;
use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;
use wakepath_console::terminal::tell;
use wakepath_console::{Outcome, given, scenarios};
use wakepath_measure::{AnnouncedLoop, Discovered, Interrupt, loops_of};
use wakepath_scenario::parse_policy;
use wakepath_timeline::{CpuSet, Overrun, Policy};

/// A period that DEADLINE may have, where the loop's own is not known yet: the kernel's longest is 4.19 s.
const LONG_PERIOD_NS: u64 = 4_000_000_000;

type Failure = Box<dyn std::error::Error>;

/// Measures and judges.
pub fn run(arguments: &Record) -> Outcome {
    let (program, rest) = arguments
        .command
        .split_first()
        .ok_or("no program is named")?;
    let file = match exec::to_start(program)? {
        Ok(file) => file,
        Err((code, why)) => {
            tell!("wakepath: {why}");
            return Ok(ExitCode::from(code));
        }
    };
    if let Some(directory) = &arguments.service {
        return super::service::run(arguments, &file, directory);
    }
    let host = scenarios::host_cpus()?;
    scenarios::may_use(arguments.cpu, &host)?;
    let command = words(&file, rest)?;
    // Faults that are known early are reported before the program is started.
    for policy in &arguments.policy {
        // The share of a reservation is held against the loop's period, which only the program knows.
        let policy_of = parse_policy(policy, LONG_PERIOD_NS);
        policy_of.map_err(|complaint| given::Refused::new("--policy", policy, complaint))?;
    }
    given::time("--duration", Some(&arguments.duration))?;
    let (text, source) = scenarios::scenario_text(&arguments.loads)?;
    let criterion = criterion::asked(&arguments.limits)?;
    let interrupt = Interrupt::listen()?;
    let Discovered { loops, printed } = loops_of(&command, &interrupt)?;
    drop(interrupt);
    for one in &loops {
        tell!("{}", told(one));
    }
    let asked = Asked {
        name: name_of(&file),
        command,
        loops,
        criterion,
        policies: &arguments.policy,
        cpu: arguments.cpu,
        idle: arguments.idle,
    };
    let text = asked
        .put_into(&text)
        .map_err(|error| format!("{source}: {error}"))?;
    let from = format!("wakepath record -- {}", program.display());
    let (mut scenario, warnings) = scenarios::read_scenario(&text, &from, &host)?;
    if arguments.trace {
        scenario.trace.get_or_insert_default();
    }
    // The time asked for is the program's.
    scenario.core_latency_ns = None;
    let (scenario, warnings) =
        scenarios::fitted(&scenario, warnings, "--duration", &arguments.duration)?;
    let beforehand = Beforehand {
        printed,
        ..Beforehand::noted(scenarios::told(&warnings))
    };
    measured::measure(scenario, beforehand, host, &arguments.output)
}

/// The command line as a run has it.
pub(super) fn words(file: &Path, rest: &[OsString]) -> Result<Vec<String>, Failure> {
    let words = std::iter::once(file.as_os_str()).chain(rest.iter().map(AsRef::as_ref));
    let words: Option<_> = words.map(|word| word.to_str().map(str::to_owned)).collect();
    words.ok_or_else(|| {
        "the program's name or arguments are not UTF-8, and a run could not record them".into()
    })
}

/// Replacement of a scenario's own loop.
pub(super) struct Asked<'a> {
    pub(super) name: String,
    pub(super) command: Vec<String>,
    pub(super) loops: Vec<AnnouncedLoop>,
    pub(super) criterion: Option<toml::Table>,
    pub(super) policies: &'a [String],
    pub(super) cpu: Option<u16>,
    pub(super) idle: bool,
}

impl Asked<'_> {
    /// The scenario's text with it: the phases stay, and how often they are gone through.
    pub(super) fn put_into(&self, text: &str) -> Result<String, Failure> {
        let mut table: toml::Table = text.parse()?;
        for key in [
            "description",
            "rate",
            "period",
            "cpu",
            "cpus",
            "threads",
            "period-step",
            "work",
            "policies",
            "criterion",
            "flight",
        ] {
            table.remove(key);
        }
        table.insert("name".into(), self.name.as_str().into());
        if self.idle {
            table.remove("phases");
        }
        let policies = self.compared();
        let tasks = self
            .loops
            .iter()
            .map(|one| self.task(one, policies.is_empty()));
        table.insert("tasks".into(), tasks.collect::<Vec<_>>().into());
        if !policies.is_empty() {
            table.insert("policies".into(), policies.into());
        }
        if let Some(criterion) = &self.criterion {
            table.insert("criterion".into(), criterion.clone().into());
        }
        Ok(toml::to_string(&table)?)
    }

    /// The policies that are compared; none where each loop has its own.
    fn compared(&self) -> Vec<String> {
        if !self.policies.is_empty() {
            return self.policies.to_vec();
        }
        let own: Vec<Policy> = self.loops.iter().map(|one| one.policy).collect();
        match own.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => {
                vec![written(*first)]
            }
            _ => Vec::new(),
        }
    }

    fn task(&self, one: &AnnouncedLoop, has_its_own_policy: bool) -> toml::Value {
        let mut task = toml::Table::new();
        task.insert("name".into(), one.name.as_str().into());
        task.insert("period".into(), format!("{} ns", one.period_ns).into());
        let cpus = match self.cpu {
            Some(cpu) => cpu.to_string(),
            None => CpuSet::from(&one.cpus[..]).to_string(),
        };
        task.insert("cpus".into(), cpus.into());
        if has_its_own_policy {
            task.insert("policy".into(), written(one.policy).into());
        }
        if one.overrun != Overrun::Skip {
            task.insert("overrun".into(), one.overrun.to_string().into());
        }
        let mut work = toml::Table::new();
        work.insert("kind".into(), "program".into());
        work.insert("command".into(), self.command.clone().into());
        task.insert("work".into(), work.into());
        task.into()
    }
}

/// A policy as a scenario has it.
fn written(policy: Policy) -> String {
    policy.to_string()
}

/// The program's file name, as a scenario may be called.
pub(super) fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    match name.trim_matches('-') {
        "" => "program".into(),
        name => name.into(),
    }
}

fn told(one: &AnnouncedLoop) -> String {
    let overrun = match one.overrun {
        Overrun::Skip => "",
        Overrun::CatchUp => ", catches up after an overrun",
        Overrun::Stop => ", stops at an overrun",
    };
    format!(
        "{}: every {}, {}, CPU {}{overrun}",
        one.name,
        wakepath_timeline::duration::length(one.period_ns),
        one.policy,
        CpuSet::from(&one.cpus[..])
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attitude() -> AnnouncedLoop {
        AnnouncedLoop {
            name: "attitude".into(),
            period_ns: 4_000_000,
            overrun: Overrun::Skip,
            policy: Policy::Fifo { priority: 80 },
            cpus: vec![1],
        }
    }

    fn asked(loops: Vec<AnnouncedLoop>, policies: &[String]) -> toml::Table {
        let asked = Asked {
            name: "my-loop".into(),
            command: vec!["./my-loop".into()],
            loops,
            criterion: Some(
                criterion::table("latency 200us, miss 0.1 %, consecutive-misses 1").unwrap(),
            ),
            policies,
            cpu: None,
            idle: false,
        };
        let check = wakepath_scenario::builtin::named("check").unwrap().text;
        asked.put_into(check).unwrap().parse().unwrap()
    }

    #[test]
    fn a_program_s_loop_takes_the_place_of_the_scenario_s() {
        let table = asked(vec![attitude()], &[]);
        assert_eq!(table["policies"][0].as_str(), Some("FIFO 80"));
        assert_eq!(table["tasks"][0]["cpus"].as_str(), Some("1"));
        assert_eq!(table["tasks"][0]["work"]["kind"].as_str(), Some("program"));
        assert!(table["tasks"][0].get("policy").is_none());
        assert!(table["tasks"][0].get("overrun").is_none());
        assert_eq!(table["phases"].as_array().unwrap().len(), 2);
        let criterion = &table["criterion"];
        assert_eq!(criterion["latency"].as_str(), Some("200us"));
        assert_eq!(criterion["miss-fraction"].as_str(), Some("0.1 %"));
        assert_eq!(criterion["consecutive-misses"].as_integer(), Some(1));
    }

    #[test]
    fn loops_under_policies_of_their_own_are_a_task_set_unless_policies_are_named() {
        let slow = AnnouncedLoop {
            name: "position".into(),
            policy: Policy::Other { nice: 0 },
            ..attitude()
        };
        let table = asked(vec![attitude(), slow.clone()], &[]);
        assert!(!table.contains_key("policies"));
        assert_eq!(table["tasks"][1]["policy"].as_str(), Some("OTHER nice 0"));
        let table = asked(vec![attitude(), slow], &["RR 50".to_owned()]);
        assert_eq!(table["policies"][0].as_str(), Some("RR 50"));
    }

    #[test]
    fn a_loop_s_overrun_stands_in_its_task() {
        let of = |overrun| AnnouncedLoop {
            overrun,
            ..attitude()
        };
        assert_eq!(
            told(&of(Overrun::Skip)),
            "attitude: every 4 ms, FIFO 80, CPU 1"
        );
        assert_eq!(
            told(&of(Overrun::CatchUp)),
            "attitude: every 4 ms, FIFO 80, CPU 1, catches up after an overrun"
        );
        let table = asked(vec![of(Overrun::Stop)], &[]);
        assert_eq!(table["tasks"][0]["overrun"].as_str(), Some("stop"));
    }

    #[test]
    fn a_program_s_name_becomes_a_scenario_s() {
        assert_eq!(name_of(Path::new("/opt/my_loop.py")), "my-loop-py");
        assert_eq!(name_of(Path::new("/opt/__")), "program");
    }
}
