//! `wakepath try`: one fix applied to the user's program, which runs in turns without and with it,
//! watched as `wakepath watch` does. Whatever ends it, nothing of the fix stays.

mod answer;
mod fix;
mod loop_policy;
mod turn;

use crate::applied_steps::apply_only;
use crate::command_line::Try;
use crate::executable;
use answer::Answer;
use fix::Fix;
use loop_policy::LoopPolicy;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime};
use turn::Turn;
use wakepath_archive::Run;
use wakepath_console::ordered_process::OrderedProcess;
use wakepath_console::run_directory::RunDirectory;
use wakepath_console::run_order::WatchOrder;
use wakepath_console::terminal::{self, OneLine, folded_for_people, print, tell};
use wakepath_console::{Outcome, option_value};
use wakepath_measure::{Interrupt, own_executable};
use wakepath_tuning::{Journal, System};

type Failure = Box<dyn std::error::Error>;

/// Between two looks at a turn.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Reads the values of the options, a setting's file excepted.
pub fn read(arguments: &Try) -> Result<(), Failure> {
    option_value::time("--for", Some(&arguments.block))?;
    if arguments.fix.starts_with('/') {
        Ok(())
    } else {
        Fix::read(&arguments.fix).map(drop)
    }
}

/// Measures and prints the answer.
pub fn run(arguments: &Try) -> Outcome {
    option_value::time("--for", Some(&arguments.block))?;
    let fix = Fix::read(&arguments.fix)?;
    let first = fix.before.first().filter(|word| *word != "wakepath");
    let words = first.map(OsStr::new).into_iter();
    for word in words.chain(arguments.command.first().map(OsString::as_os_str)) {
        executable::find(word)?.map_err(|(_, why)| why)?;
    }
    fix.works_here(&arguments.fix)?;
    let system = System::host();
    if fix.setting.is_some() && Journal::open(system.directory())?.is_some() {
        return Err("this machine is tuned already; first: wakepath tune revert".into());
    }
    let started = SystemTime::now();
    let place = RunDirectory::choose(arguments.directory.as_deref(), false, "try", started)?;
    let interrupt = Interrupt::listen()?;
    let directory = place.make()?;
    let guard = fix.setting.as_ref().map(|_| guard()).transpose()?;
    let mut bench = Bench {
        arguments,
        fix: &fix,
        system,
        interrupt,
        directory: directory.path(),
        thread: arguments.thread.clone(),
        taken: 0,
    };
    let pairs = bench.pairs();
    let reverted = apply_only(&bench.system, &[]);
    if let Some(mut guard) = guard {
        drop(guard.stdin.take());
        guard.wait()?;
    }
    reverted?;
    if bench.taken == 0 {
        // Only an empty one goes.
        place.withdraw(&directory);
    }
    let pairs = pairs?;
    let (answer, text) = answer::answer(&pairs, terminal::columns());
    let program = arguments.command.join(OsStr::new(" "));
    let thread = bench.thread.unwrap_or_default();
    let head = format!("{} for {thread}\n\n", arguments.fix);
    let kept = match answer {
        Answer::Helped => {
            let kept = fix.kept(&thread, &program.display().to_string());
            format!("to keep it: {kept}\n")
        }
        Answer::DidNotHelp | Answer::Undecided => String::new(),
    };
    let tail = format!(
        "{kept}nothing stays changed; runs: {}\n",
        directory.path().in_one_line()
    );
    print(&folded_for_people(&(head + &text + &tail)))?;
    Ok(answer.code())
}

/// A process that takes the setting back once this one is gone, however it went.
fn guard() -> std::io::Result<Child> {
    use std::os::unix::process::CommandExt;
    Command::new(own_executable())
        .args(["internal", "revert-after"])
        .process_group(0)
        .stdin(Stdio::piped())
        .spawn()
}

struct Bench<'a> {
    arguments: &'a Try,
    fix: &'a Fix,
    system: System,
    interrupt: Interrupt,
    directory: &'a Path,
    /// The loop's thread, once known.
    thread: Option<String>,
    /// Turns so far.
    taken: u32,
}

impl Bench<'_> {
    /// Without, with; with, without; …
    fn pairs(&mut self) -> Result<Vec<(Turn, Turn)>, Failure> {
        let mut pairs = Vec::new();
        for pair in 0..self.arguments.pairs {
            tell!("pair {} of {}", pair + 1, self.arguments.pairs);
            pairs.push(match pair % 2 {
                0 => (self.turn(false)?, self.turn(true)?),
                _ => {
                    let with = self.turn(true)?;
                    (self.turn(false)?, with)
                }
            });
            if let [(without, with)] = &pairs[..] {
                answer::refuse_without_change(&self.arguments.fix, without, with)?;
            }
        }
        Ok(pairs)
    }

    fn turn(&mut self, with: bool) -> Result<Turn, Failure> {
        let none = Fix::default();
        let fix = if with { self.fix } else { &none };
        let applied = apply_only(&self.system, fix.setting.as_slice())?;
        if let Some(skipped) = applied.skipped.first() {
            return Err(format!("{}: {}", self.arguments.fix, skipped.why).into());
        }
        self.taken += 1;
        let directory = self.directory.join(format!("turn-{:02}", self.taken));
        let output = self.directory.join(format!("turn-{:02}.txt", self.taken));
        let own = own_executable();
        let words = fix.before.iter().map(|word| match word.as_str() {
            "wakepath" => own.as_os_str().to_owned(),
            word => word.into(),
        });
        let order = WatchOrder {
            parent: std::process::id().cast_signed(),
            duration: self.arguments.block.clone(),
            directory: directory.clone(),
            program: words
                .chain(self.arguments.command.iter().cloned())
                .collect(),
        };
        let stderr = File::create(&output)?;
        let mut watch = OrderedProcess::start(&own, "watch", &order, stderr)?;
        let mut is_asked = false;
        // The first turn is without it, and shows which thread the loop's is.
        let policy = fix.policy.zip(self.thread.as_deref());
        let mut policy = policy.map(|(policy, name)| LoopPolicy::new(watch.id(), name, policy));
        while watch.try_wait()?.is_none() {
            if let Some(policy) = &mut policy {
                let given = policy.look();
                given.map_err(|why| format!("{}: {why}", self.arguments.fix))?;
            }
            // Ctrl-C reaches it as well; a signal to this process alone does not.
            if self.interrupt.requested() && !is_asked {
                is_asked = true;
                if let Some(pid) = Pid::from_raw(watch.id().cast_signed()) {
                    let _ = kill_process(pid, Signal::TERM);
                }
            }
            std::thread::sleep(LOOK_EVERY);
        }
        if self.interrupt.requested() {
            return Err("interrupted; nothing stays changed".into());
        }
        if let Some(why) = watch.wait()? {
            return Err(format!("turn {}: {why}; see {}", self.taken, output.display()).into());
        }
        if policy.is_some_and(|policy| !policy.was_given()) {
            let thread = self.thread.as_deref().unwrap_or_default();
            return Err(format!(
                "{}: no thread of the program is named {thread}; give the loop's thread that name (pthread_setname_np)",
                self.arguments.fix
            )
            .into());
        }
        let run = Run::open(&directory)?;
        let thread = match &self.thread {
            Some(thread) => thread.clone(),
            None => turn::most_urgent(&run).unwrap_or_default(),
        };
        self.thread = Some(thread.clone());
        let turn = Turn::new(&run, &thread);
        turn.map_err(|why| format!("turn {}: {why}; see {}", self.taken, output.display()).into())
    }
}
