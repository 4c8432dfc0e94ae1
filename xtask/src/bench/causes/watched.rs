//! One program with injected causes, watched and explained.

use super::kinds::{Kind, Policy};
use super::matrix::{Charged, Injected, injections};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// One program.
pub struct Program<'a> {
    pub wakepath: &'a Path,
    pub injected: &'a Path,
    /// An empty folder for it.
    pub directory: &'a Path,
    pub cpu: usize,
    pub other_cpu: usize,
    pub cycles: u64,
    pub seed: u64,
    /// The loop wakes by a timer; or its place in a chain of threads.
    pub feed: Feed,
    pub kinds: [&'static Kind; 2],
}

/// What wakes the loop, as the program takes it.
#[derive(Debug, Clone, Copy)]
pub enum Feed {
    Timer,
    Middle,
    End,
}

impl Feed {
    /// The chain that the loop is in.
    pub fn chain(self) -> &'static [&'static str] {
        match self {
            Self::Timer => &[],
            Self::Middle => &["sensor", LOOP, "relay"],
            Self::End => &["sensor", "relay", LOOP],
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Timer => "timer",
            Self::Middle => "middle",
            Self::End => "end",
        }
    }
}

/// Injections of a program, and its late cycles as explained.
pub struct Watched {
    pub injected: Vec<Injected>,
    pub late: Vec<Vec<Charged>>,
}

/// The thread with the injections.
pub const LOOP: &str = "control";

/// A chain of threads and the causes of its late passes.
#[derive(Debug, Default)]
pub struct LateChain {
    pub threads: Vec<String>,
    pub late: u64,
    pub causes: Vec<LateCause>,
}

/// A cause of late passes.
#[derive(Debug)]
pub struct LateCause {
    pub thread: String,
    /// Kind of the cause, as in `explanation.json`.
    pub word: String,
    pub cause: String,
    /// Its time in all late passes.
    pub ns: u64,
}

/// Builds the program.
pub fn build(scratch: &Path) -> Result<PathBuf, String> {
    let source = crate::place::root().join("xtask/src/bench/causes/program");
    let program = scratch.join("injected");
    let parts =
        ["injected.c", "chain.c", "work.c", "waits.c", "outside.c"].map(|part| source.join(part));
    let built = Command::new("cc")
        .args(["-O2", "-pthread", "-o"])
        .arg(&program)
        .args(parts)
        .arg("-lutil")
        .stderr(Stdio::null())
        .status();
    if built.is_ok_and(|status| status.success()) {
        Ok(program)
    } else {
        Err("the program with injected causes can't be built: a C compiler is needed".into())
    }
}

impl Program<'_> {
    /// The kinds that put the loop into a group come last: threads that it makes in one can't be FIFO.
    fn in_order(&self) -> [&'static str; 2] {
        let mut kinds = self.kinds;
        kinds.sort_by_key(|kind| (kind.needs.is_some(), kind.policy == Policy::Other));
        kinds.map(|kind| kind.name)
    }

    /// Watches it to its end, and explains all its late cycles.
    pub fn watch(&self) -> Result<Watched, String> {
        let (injected, _) = self.run(&["--quiet"])?;
        let explained = Command::new(self.wakepath)
            .args(["explain", "run", "--json", "--worst", "1000000"])
            .current_dir(self.directory)
            .output();
        let explained = json_of("explain", &succeeded("explain", explained)?)?;
        Ok(Watched {
            injected,
            late: late_cycles(&explained),
        })
    }

    /// Watches it to its end, with the late passes of chains of threads.
    pub fn watch_chains(&self) -> Result<(Vec<Injected>, Vec<LateChain>), String> {
        let (injected, printed) = self.run(&["--json", "--limit", "1ms"])?;
        let json = json_of("watch", &printed)?;
        Ok((injected, late_chains(&json)))
    }

    fn run(&self, options: &[&str]) -> Result<(Vec<Injected>, Output), String> {
        let is_other = self.kinds.iter().any(|kind| kind.policy == Policy::Other);
        let priority = if is_other { "0" } else { "80" };
        let numbers = [
            self.cpu as u64,
            self.other_cpu as u64,
            self.cycles,
            self.seed,
        ];
        let watched = Command::new(self.wakepath)
            .args(["watch", "--directory", "run", "--latency", "500us"])
            .args(options)
            .arg("--")
            .arg(self.injected)
            .args(numbers.map(|number| number.to_string()))
            .args([
                priority,
                if self.seed.is_multiple_of(2) {
                    "0"
                } else {
                    "1"
                },
                self.feed.word(),
                "truth",
            ])
            .args(self.in_order())
            .current_dir(self.directory)
            .output();
        for controller in ["cpu", "freezer"] {
            let _ = std::fs::remove_dir(format!("/sys/fs/cgroup/{controller}/wakepath-injected"));
        }
        let watched = succeeded("watch", watched)?;
        let truth = std::fs::read_to_string(self.directory.join("truth")).map_err(|error| {
            format!(
                "no account of what was injected: {error}; {}",
                errors(&watched)
            )
        })?;
        Ok((injections(&truth)?, watched))
    }
}

/// Parses a command's output.
fn json_of(verb: &str, printed: &Output) -> Result<Value, String> {
    serde_json::from_slice(&printed.stdout)
        .map_err(|error| format!("{verb} prints no JSON: {error}; {}", errors(printed)))
}

fn succeeded(what: &str, output: std::io::Result<Output>) -> Result<Output, String> {
    output.map_err(|error| format!("wakepath {what}: {error}"))
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// Pieces of the late cycles of the thread `control`.
fn late_cycles(json: &Value) -> Vec<Vec<Charged>> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let of_loop = list(&json["conditions"])
        .into_iter()
        .filter(|of| of["thread"] == LOOP);
    let cycles = of_loop.flat_map(|of| {
        list(&of["worst"])
            .into_iter()
            .take(of["late"].as_u64().unwrap_or(0) as usize)
    });
    let pieces = |cycle: Value| {
        let due_ns = cycle["due_ns"].as_u64().unwrap_or(0);
        let all = list(&cycle["pieces"])
            .into_iter()
            .chain(list(&cycle["execution"]));
        let charged = all.map(|piece| {
            let from_ns = due_ns + piece["from_ns"].as_u64().unwrap_or(0);
            let text = |key: &str| piece[key].as_str().unwrap_or_default().to_owned();
            Charged {
                from_ns,
                to_ns: from_ns + piece["ns"].as_u64().unwrap_or(0),
                word: text("kind"),
                behind: piece["behind"].as_str().map(str::to_owned),
                cause: without_numbers(&text("cause")),
            }
        });
        charged.collect()
    };
    cycles.map(pieces).collect()
}

/// Chains of threads that contain the loop.
fn late_chains(json: &Value) -> Vec<LateChain> {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let chain = |of: &Value| {
        let cause = |of: &Value| LateCause {
            thread: text(&of["thread"]),
            word: text(&of["kind"]),
            cause: without_numbers(&text(&of["cause"])),
            ns: of["ns"].as_u64().unwrap_or(0),
        };
        LateChain {
            threads: list(&of["threads"]).iter().map(text).collect(),
            late: of["late"].as_u64().unwrap_or(0),
            causes: list(&of["causes"]).iter().map(cause).collect(),
        }
    };
    let has_loop = |of: &LateChain| of.threads.iter().any(|thread| thread == LOOP);
    let chains = list(&json["chains"]);
    chains.iter().map(chain).filter(has_loop).collect()
}

/// A cause without the numbers of its threads: `hog-17 (FIFO/RR 90)` becomes `hog (FIFO/RR 90)`.
fn without_numbers(cause: &str) -> String {
    let words = cause.split(' ').map(|word| match word.rsplit_once('-') {
        Some((name, number))
            if !name.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            name
        }
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_cycles_of_the_loop_alone_are_taken() {
        let json = serde_json::json!({"conditions": [
            {"thread": "hog", "late": 1, "worst": [{"due_ns": 1, "pieces": [], "execution": []}]},
            {"thread": "control", "late": 1, "worst": [
                {"due_ns": 100, "pieces": [{"kind": "thread", "cause": "thread hog-17 (FIFO/RR 90), more urgent", "from_ns": 5, "ns": 7}], "execution": []},
                {"due_ns": 200, "pieces": [], "execution": []},
            ]},
        ]});
        let late = late_cycles(&json);
        assert_eq!(late.len(), 1);
        assert_eq!((late[0][0].from_ns, late[0][0].to_ns), (105, 112));
        assert_eq!(late[0][0].cause, "thread hog (FIFO/RR 90), more urgent");
    }
}
