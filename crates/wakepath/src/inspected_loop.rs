//! Which loop a machine is inspected or tuned for: from the command line or a scenario.

use crate::check_scenario;
use crate::command_line::Subject;
use wakepath_console::scenarios;
use wakepath_machine::{Facts, Root};
use wakepath_measure::{HostCpus, Plan};
use wakepath_readiness::{LoopAtHand, Processes, Program, ProgramThread};
use wakepath_scenario::Scenario;
use wakepath_timeline::{CpuSet, Policy, one_line};

type Failure = Box<dyn std::error::Error>;

/// The machine that the arguments mean: this one, or a recorded tree.
pub fn root(directory: Option<&std::path::Path>) -> Result<Root, Failure> {
    match directory {
        None => Ok(Root::host()),
        Some(directory) if directory.is_dir() => Ok(Root::at(directory)),
        Some(directory) => Err(format!("--root {}: no such directory", directory.display()).into()),
    }
}

/// The loop that the arguments describe, on the machine at `root`.
pub fn from_arguments(arguments: &Subject, root: &Root) -> Result<(LoopAtHand, Scenario), Failure> {
    let host = if root.is_host() {
        scenarios::host_cpus()?
    } else {
        recorded_cpus(root)?
    };
    let (text, source) = match &arguments.scenario {
        Some(name) => scenarios::scenario_text(name)?,
        None => (
            check_scenario::text_for(
                arguments.rate.as_deref().unwrap_or("250Hz"),
                None,
                &[],
                None,
            )?,
            "the scenario of `wakepath check`".to_owned(),
        ),
    };
    let (scenario, _) = scenarios::read_scenario(&text, &source, &host)?;
    let mut subject = of_scenario(&scenario, &host);
    if let Some(cpu) = arguments.cpu {
        let online = Facts::read(root).varying.cpu_time.online;
        if let Some(online) = online.known()
            && !online.contains(cpu)
        {
            return Err(format!("--cpu {cpu}: CPUs {online} are online; give one of them").into());
        }
        subject.cpus = [cpu].into_iter().collect();
    }
    if let Some(name) = &arguments.program {
        subject.program = Some(program(name, root)?);
    }
    Ok((subject, scenario))
}

/// As [`from_arguments`], with the priority and the CPUs of the program if it runs. A program that may run on every CPU has
/// none of its own, and `--cpu` comes first.
pub fn as_it_runs(arguments: &Subject, root: &Root) -> Result<LoopAtHand, Failure> {
    let (mut subject, _) = from_arguments(arguments, root)?;
    let pid = subject.program.as_ref().and_then(|program| program.pid);
    let threads = pid.map_or_else(Vec::new, |pid| ProgramThread::all(root, pid));
    let Some(thread) = ProgramThread::leading(&threads) else {
        return Ok(subject);
    };
    subject.priority = thread.real_time_priority();
    let online = Facts::read(root).varying.cpu_time.online;
    if let (Some(allowed), Some(online)) = (&thread.allowed, online.known())
        && !online.without(allowed).is_empty()
        && arguments.cpu.is_none()
    {
        subject.cpus = allowed.clone();
    }
    Ok(subject)
}

/// The loop of a scenario: its shortest period, its CPUs, the lowest real-time priority that it is
/// measured at, because obstacles to that one must be found.
pub fn of_scenario(scenario: &Scenario, host: &HostCpus) -> LoopAtHand {
    let plan = Plan::new(scenario, host.clone());
    let own = scenario.tasks.iter().filter_map(|task| task.policy);
    let priority = scenario
        .policies
        .iter()
        .copied()
        .chain(own)
        .filter_map(|policy| match policy.in_linux() {
            Policy::Fifo { priority } | Policy::RoundRobin { priority } => Some(priority.into()),
            _ => None,
        })
        .min();
    LoopAtHand {
        period_ns: scenario.period_ns,
        latency_ns: scenario.criterion.latency_ns,
        cpus: CpuSet::from(&plan.loop_cpus[..]),
        priority,
        program: None,
    }
}

/// The CPUs of a recorded tree: those online, whatever the recording process was allowed.
fn recorded_cpus(root: &Root) -> Result<HostCpus, Failure> {
    let facts = Facts::read(root);
    let times = &facts.varying.cpu_time;
    let numbers = |list: &CpuSet| list.numbers().to_vec();
    let allowed = times.online.known().map(numbers).unwrap_or_default();
    if allowed.is_empty() {
        let path = times.online.path();
        return Err(format!("--root: no CPUs online in {path} below it").into());
    }
    Ok(HostCpus {
        allowed,
        isolated: times.isolated.known().map(numbers).unwrap_or_default(),
    })
}

/// A running program by name or number.
fn program(name: &str, root: &Root) -> Result<Program, Failure> {
    let processes = Processes::read(root);
    let pid = match name.parse::<u32>() {
        Ok(pid) => {
            let Some(process) = processes.numbered(pid) else {
                return Err(format!("--program {name}: there is no such process").into());
            };
            return Ok(Program {
                name: one_line(&process.name),
                pid: Some(pid),
            });
        }
        Err(_) => {
            let names = [name];
            let running: Vec<u32> = processes
                .running(&names)
                .map(|process| process.pid)
                .collect();
            if running.len() > 1 {
                let numbers: Vec<String> = running.iter().map(u32::to_string).collect();
                return Err(format!(
                    "--program {name}: {} processes have that name ({}); give a number",
                    running.len(),
                    numbers.join(", ")
                )
                .into());
            }
            running.first().copied()
        }
    };
    Ok(Program {
        name: name.to_owned(),
        pid,
    })
}
