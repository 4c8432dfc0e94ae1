//! The process `wakepath internal load-supervisor`, which runs the loads of one phase.
//!
//! Starts them, keeps their accounts, restarts programs that ended successfully, and ends
//! everything on request or when the measuring process is gone.

mod account;
mod instance;
mod servers;
mod surroundings;

use crate::capture::Capture;
use crate::control::{Answer, Control, LoadReport, order};
use crate::counters::Counters;
use crate::disturbance::stress_ng;
use crate::ended::{self, Ended};
use crate::launch::THIS_PROGRAM;
use crate::plan::{Companion, Plan, Program, Work};
use crate::worker::take_counters;
use crate::{asked, inherited, process_tree};
use account::Account;
use instance::{Instance, Role};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Time between two checks of the loads when nothing happens. If the kernel has pidfds (5.3), ends
/// of processes and orders are noticed immediately.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The same without pidfds.
const LOOK_EVERY_WITHOUT_PIDFD: Duration = Duration::from_millis(200);
/// Shortest time from one start of a program to the next.
const RESTART_AFTER: Duration = Duration::from_millis(100);
/// Time limit for a program to print its version.
const VERSION_PATIENCE: Duration = Duration::from_secs(2);
/// Time limit for a program to end in order ...
const END_PATIENCE: Duration = Duration::from_millis(1500);
/// ... and one that writes a report.
const REPORT_PATIENCE: Duration = Duration::from_secs(5);

/// Runs the supervisor until the loads are stopped or the parent is gone.
pub fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            ended::complain(&problem);
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Ended> {
    let is_init = surroundings::tie_to_parent()?;
    let control = surroundings::take_control()?;
    let counters = take_counters()?;
    let notes = inherited::make_ordinary();
    let _ = rustix::thread::set_name(c"wakepath-load");
    surroundings::gather_descendants(is_init)?;
    let mut control = control;
    // End-of-file here: the parent died before the death signal was set.
    let line = control.receive(None).map_err(Ended::system("no plan"))?;
    let plan: Plan = serde_json::from_slice(line.as_bytes()).map_err(Ended::Plan)?;
    let mut supervisor = Supervisor::new(control, counters, plan, is_init)?;
    let failure = supervisor.start().err().map(|ended| ended.to_string());
    let failed = failure.is_some();
    let answer = Answer {
        notes,
        failure,
        ..supervisor.answer(0)
    };
    let told = supervisor.tell(&answer);
    if told.is_ok() && !failed {
        supervisor.watch();
    }
    supervisor.kill_all();
    Ok(())
}

/// The first line of a program's version output; `None` if it has no such option or takes too long.
fn version(program: &Program, cpus: &[u16]) -> Option<String> {
    let argument = [program.version_argument.clone()?];
    let directory = program.directory.as_deref();
    let said = asked::ask(
        Path::new(THIS_PROGRAM),
        &program.path,
        &argument,
        directory,
        cpus,
        VERSION_PATIENCE,
    )
    .ok()??;
    // Programs use either of the two outputs.
    said.output
        .first_line()
        .or_else(|| said.errors.first_line())
}

/// State of one load, next to its plan.
struct Running {
    account: Account,
    complaints: Capture,
    report: LoadReport,
    port: Option<u16>,
}

struct Supervisor {
    control: Control,
    counters: Counters,
    plan: Plan,
    running: Vec<Running>,
    instances: Vec<Instance>,
    is_init: bool,
    /// Own process id in /proc's numbering.
    own: i32,
}

impl Supervisor {
    fn new(control: Control, counters: Counters, plan: Plan, is_init: bool) -> Result<Self, Ended> {
        let running = plan.loads.iter().map(|_| {
            let complaints = Capture::new().map_err(Ended::system("memory file"))?;
            let (account, report) = (Account::default(), LoadReport::default());
            Ok(Running {
                account,
                complaints,
                report,
                port: None,
            })
        });
        let running = running.collect::<Result<Vec<_>, Ended>>()?;
        let own = process_tree::own_pid().ok_or(Ended::NoProc)?;
        Ok(Self {
            control,
            counters,
            plan,
            running,
            instances: Vec::new(),
            is_init,
            own,
        })
    }

    /// Starts everything: servers first, then workers and programs.
    fn start(&mut self) -> Result<(), Ended> {
        for load in 0..self.plan.loads.len() {
            let Work::Program(program) = self.plan.loads[load].work.clone() else {
                continue;
            };
            self.running[load].report.version = version(&program, &self.plan.loads[load].cpus);
            if let Some(companion) = &program.companion {
                let port = self.start_companion(load, &program.path, companion)?;
                self.running[load].port = Some(port);
            }
        }
        for (load, index, delay) in self.plan.starts() {
            if !delay.is_zero() {
                std::thread::sleep(delay);
            }
            let role = match self.plan.loads[load].work {
                Work::BuiltIn(_) => Role::Worker { index },
                Work::Program(_) => Role::Program,
            };
            let instance = self.launch(load, role)?;
            self.instances.push(instance);
        }
        Ok(())
    }

    fn launch(&self, load: usize, role: Role) -> Result<Instance, Ended> {
        let running = &self.running[load];
        let planned = &self.plan.loads[load];
        instance::start(
            planned,
            load,
            role,
            running.port,
            &running.complaints,
            &self.counters,
        )
        .map_err(|source| Ended::NotStarted {
            load: planned.name.clone(),
            source,
        })
    }

    fn start_companion(
        &mut self,
        load: usize,
        path: &Path,
        companion: &Companion,
    ) -> Result<u16, Ended> {
        let name = self.plan.loads[load].name.clone();
        match companion {
            Companion::HttpServer { slot } => {
                let server = self.launch(load, Role::HttpServer { slot: *slot })?;
                self.instances.push(server);
                servers::published_port(self.counters.slot(*slot))
            }
            Companion::Iperf3Server => {
                let port = servers::free_port().map_err(|source| Ended::Load {
                    load: name.clone(),
                    source,
                })?;
                let role = Role::Iperf3Server {
                    path: path.to_owned(),
                    port,
                };
                let server = self.launch(load, role)?;
                self.instances.push(server);
                servers::wait_until_listening(port).then_some(port)
            }
        }
        .ok_or(Ended::NotListening { load: name })
    }

    /// Watches until told to stop or until the parent is gone.
    fn watch(&mut self) {
        loop {
            let has_order = self.sleep();
            self.tend();
            if !has_order {
                self.keep_accounts();
                continue;
            }
            let Ok(line) = self.control.receive(None) else {
                return;
            };
            let (order, sequence) = line.split_once(' ').unwrap_or((line.as_str(), "0"));
            let sequence = sequence.parse().unwrap_or(0);
            self.keep_accounts();
            let stop = order == order::STOP;
            if stop {
                self.end_programs();
            }
            let answer = self.answer(sequence);
            if self.tell(&answer).is_err() || stop {
                return;
            }
        }
    }

    /// Sleeps until an order arrives, a process ends or it is time to look. Whether there is an
    /// order.
    fn sleep(&self) -> bool {
        let mut patience = LOOK_EVERY;
        let mut waited_for = vec![PollFd::new(self.control.stream(), PollFlags::IN)];
        for instance in self.instances.iter() {
            match (instance.ended_at_start_of, &instance.pidfd) {
                (Some(started), _) => {
                    patience = patience.min(RESTART_AFTER.saturating_sub(started.elapsed()));
                }
                (None, Some(pidfd)) => waited_for.push(PollFd::new(pidfd, PollFlags::IN)),
                (None, None) => patience = patience.min(LOOK_EVERY_WITHOUT_PIDFD),
            }
        }
        let timeout = Timespec::try_from(patience).ok();
        // An interrupted wait is a look ahead of time.
        let _ = poll(&mut waited_for, timeout.as_ref());
        !waited_for[0].revents().is_empty()
    }

    /// Notices ended processes and starts programs again.
    fn tend(&mut self) {
        let mut index = 0;
        while index < self.instances.len() {
            if let Some(started) = self.instances[index].ended_at_start_of {
                if started.elapsed() >= RESTART_AFTER {
                    let load = self.instances[index].load;
                    match self.launch(load, Role::Program) {
                        Ok(instance) => {
                            self.instances[index] = instance;
                            let slot = self.counters.slot(load as u32);
                            slot.restarts.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(problem) => {
                            self.instances.swap_remove(index);
                            self.mark_ended(load, problem.to_string());
                            continue;
                        }
                    }
                }
                index += 1;
                continue;
            }
            let Some(exit) = self.instances[index].exit() else {
                index += 1;
                continue;
            };
            let instance = &mut self.instances[index];
            let load = instance.load;
            self.running[load].account.bank(instance.proc_pid);
            instance.reap();
            self.running[load].report.last_exit = Some(exit.text.clone());
            if instance.role == Role::Program && exit.success {
                instance.ended_at_start_of = Some(instance.started);
                index += 1;
                continue;
            }
            let role = instance.role.describe();
            self.instances.swap_remove(index);
            let complaint = self.running[load].complaints.last_line();
            let said = complaint
                .map(|line| format!(": {line}"))
                .unwrap_or_default();
            self.mark_ended(load, format!("{role} ended with {}{said}", exit.text));
        }
    }

    fn mark_ended(&mut self, load: usize, ending: String) {
        self.running[load].report.ending.get_or_insert(ending);
        self.counters
            .slot(load as u32)
            .ended
            .store(1, Ordering::Relaxed);
    }

    /// Brings CPU time and bytes of all loads up to date.
    fn keep_accounts(&mut self) {
        let descendants = process_tree::descendants(self.own);
        let mut accounts: Vec<&mut Account> = self
            .running
            .iter_mut()
            .map(|running| &mut running.account)
            .collect();
        account::keep(&mut accounts, &self.instances, &descendants, self.own);
        for (index, running) in self.running.iter().enumerate() {
            let slot = self.counters.slot(index as u32);
            let planned = &self.plan.loads[index];
            // CPU time of our own launchers before they became the program is not its work.
            let launchers_us = match planned.work {
                Work::Program(_) => {
                    let slot = self.counters.slot(planned.first_slot);
                    slot.work.load(Ordering::Relaxed)
                }
                Work::BuiltIn(_) => 0,
            };
            let cpu_us = running.account.cpu_us().saturating_sub(launchers_us);
            slot.cpu_us.fetch_max(cpu_us, Ordering::Relaxed);
            slot.io_bytes
                .fetch_max(running.account.bytes(), Ordering::Relaxed);
            running.complaints.keep_short();
        }
    }

    /// Asks the programs to end, gives them time for it, and reads their reports.
    fn end_programs(&mut self) {
        let mut patience = Duration::ZERO;
        for instance in &self.instances {
            let Work::Program(program) = &self.plan.loads[instance.load].work else {
                continue;
            };
            if instance.role == Role::Program && instance.ended_at_start_of.is_none() {
                instance.signal(program.stop_signal);
                patience = patience.max(if program.writes_stress_ng_report {
                    REPORT_PATIENCE
                } else {
                    END_PATIENCE
                });
            }
        }
        let deadline = Instant::now() + patience;
        let is_left = |instance: &Instance| {
            instance.role == Role::Program
                && instance.ended_at_start_of.is_none()
                && instance.exit().is_none()
        };
        while Instant::now() < deadline && self.instances.iter().any(is_left) {
            std::thread::sleep(Duration::from_millis(10));
        }
        for instance in &self.instances {
            if let Some(report) = &instance.report {
                let reported = stress_ng::parse_report(&report.text());
                self.running[instance.load].report.reported.extend(reported);
            }
        }
    }

    fn answer(&self, sequence: u64) -> Answer {
        let loads = self
            .running
            .iter()
            .map(|running| running.report.clone())
            .collect();
        Answer {
            sequence,
            loads,
            notes: Vec::new(),
            failure: None,
        }
    }

    fn tell(&mut self, answer: &Answer) -> std::io::Result<()> {
        let text = serde_json::to_string(answer).map_err(std::io::Error::other)?;
        self.control.send(&text)
    }

    /// Ends every descendant. As init of a PID namespace the kernel does it when we exit.
    fn kill_all(&self) {
        if !self.is_init {
            surroundings::kill_descendants(self.own);
        }
    }
}
