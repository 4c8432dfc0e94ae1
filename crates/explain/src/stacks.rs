//! Stacks of threads that blocked or ran for long, as a file of the run has them: for each stay off the CPU, and at each
//! tick of the kernel's, the functions of the program and of the kernel that the thread was in.

mod function;

use crate::call::Call;
use foldhash::{HashMap, HashMapExt};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The stacks of a run's threads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stacks {
    /// Version of this form.
    pub version: u32,
    /// Number of stays whose stack or end found no room in the kernel's buffer.
    pub lost: u64,
    /// Number of stays that are left out: shorter ones of a stack that has many.
    pub left_out: u64,
    /// Functions that occur in the stacks.
    pub frames: Vec<Frame>,
    /// The different stacks.
    pub stacks: Vec<CallStack>,
    /// Stays off the CPU.
    pub stays: Vec<Stay>,
    /// Instants at which threads ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ran: Vec<Ran>,
}

/// A function in a thread's stack, with as much as is known about it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Frame {
    /// Its name; absent where its file has no symbols.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub function: Option<String>,
    /// Its source file; absent without debugging information.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line that was under way in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The program or library.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Address in `module`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<u64>,
    /// Whether it was made while the program ran: by an interpreter or a just-in-time compiler.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub generated: bool,
}

/// One stack: numbers of its frames, the innermost first.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CallStack {
    /// Functions of the program.
    pub user: Vec<u32>,
    /// Functions of the kernel.
    pub kernel: Vec<u32>,
}

/// A wait off the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u32, u64, u64, u32)", from = "(u32, u64, u64, u32)")]
pub struct Stay {
    /// The thread.
    pub thread: u32,
    /// When it left the CPU, in nanoseconds on `CLOCK_MONOTONIC`.
    pub from_ns: u64,
    /// When it was over: at the latest when the thread left a CPU again to wait, in nanoseconds on `CLOCK_MONOTONIC`.
    pub to_ns: u64,
    /// Number of its stack.
    pub stack: u32,
}

impl From<(u32, u64, u64, u32)> for Stay {
    fn from((thread, from_ns, to_ns, stack): (u32, u64, u64, u32)) -> Self {
        Self {
            thread,
            from_ns,
            to_ns,
            stack,
        }
    }
}

impl From<Stay> for (u32, u64, u64, u32) {
    fn from(of: Stay) -> Self {
        (of.thread, of.from_ns, of.to_ns, of.stack)
    }
}

/// An instant at which a thread ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "(u32, u64, u32)", from = "(u32, u64, u32)")]
pub struct Ran {
    /// The thread.
    pub thread: u32,
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Number of its stack.
    pub stack: u32,
}

impl From<(u32, u64, u32)> for Ran {
    fn from((thread, at_ns, stack): (u32, u64, u32)) -> Self {
        Self {
            thread,
            at_ns,
            stack,
        }
    }
}

impl From<Ran> for (u32, u64, u32) {
    fn from(of: Ran) -> Self {
        (of.thread, of.at_ns, of.stack)
    }
}

impl Stacks {
    /// The version that this program writes, and the newest that it reads.
    pub const VERSION: u32 = 1;
    /// Name of the file in the run directory.
    pub const FILE_NAME: &str = "stacks.json";

    /// The stays by thread, each with the place that a person wants to see.
    pub fn places(&self) -> Places {
        let waits = self
            .stays
            .iter()
            .map(|of| (of.thread, of.from_ns, of.stack));
        let ran = self.ran.iter().map(|of| (of.thread, of.at_ns, of.stack));
        Places(Arc::new(Threads {
            are_recorded: true,
            waits: self.by_thread(waits, Frame::clone),
            // Which line was under way differs from tick to tick.
            ran: self.by_thread(ran, Frame::without_line),
        }))
    }

    fn by_thread(
        &self,
        all: impl Iterator<Item = (u32, u64, u32)>,
        named: impl Fn(&Frame) -> Frame,
    ) -> HashMap<u32, ByTime> {
        let mut places: HashMap<u32, Option<Arc<Place>>> = HashMap::new();
        let mut threads: HashMap<u32, ByTime> = HashMap::new();
        for (thread, at_ns, number) in all {
            let place = places.entry(number).or_insert_with(|| {
                let stack = self.stacks.get(number as usize)?;
                self.place(stack, &named).map(Arc::new)
            });
            if let Some(place) = place {
                let of = threads.entry(thread).or_default();
                of.insert(at_ns, Arc::clone(place));
            }
        }
        threads
    }

    fn place(&self, stack: &CallStack, named: impl Fn(&Frame) -> Frame) -> Option<Place> {
        let frames = |numbers: &[u32]| {
            let known = numbers.iter().map(|&at| self.frames.get(at as usize));
            known.collect::<Option<Vec<&Frame>>>()
        };
        let (user, kernel) = (frames(&stack.user)?, frames(&stack.kernel)?);
        let text = |of: &[&Frame]| of.iter().map(ToString::to_string).collect();
        Some(Place {
            function: function::text(&user, &named)?,
            user: text(&user),
            kernel: text(&kernel),
        })
    }
}

impl Frame {
    /// The function, without the place within it. Of one that was made while the program ran the line is that of its
    /// beginning.
    fn without_line(&self) -> Self {
        Self {
            line: self.line.filter(|_| self.generated),
            ..self.clone()
        }
    }

    /// Its name, if it has one.
    fn name(&self) -> Option<&str> {
        self.function.as_deref().filter(|name| !name.is_empty())
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let module = self.module.as_deref().map(file_name);
        match (self.name(), module, self.address) {
            (Some(function), ..) => {
                write!(f, "`{function}`")?;
                match (&self.file, self.line) {
                    (Some(file), Some(line)) => write!(f, " ({}:{line})", file_name(file)),
                    (Some(file), None) => write!(f, " ({})", file_name(file)),
                    _ => Ok(()),
                }
            }
            (None, Some(module), Some(address)) => write!(f, "{module}+{address:#x}"),
            (None, Some(module), None) => f.write_str(module),
            (None, None, _) => f.write_str("unknown code"),
        }
    }
}

/// Where a thread blocked or ran.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Place {
    /// The function of the program, as a person reads it.
    pub function: String,
    /// The whole stack in the program, the innermost first; empty where several times are put together.
    pub user: Vec<String>,
    /// Likewise in the kernel.
    pub kernel: Vec<String>,
}

impl Place {
    /// The system call that the thread was in, by the functions of the kernel.
    pub(crate) fn call(&self) -> Option<Call> {
        /// Entries of calls by machine, and what is left of one that jumps into the function for its work.
        const ENTRIES: [&str; 7] = [
            "__x64_sys_",
            "__arm64_sys_",
            "__riscv_sys_",
            "__se_sys_",
            "__do_sys_",
            "ksys_",
            "__sys_",
        ];
        let name = |function: &String| {
            let function = function.trim_matches('`');
            let entry = ENTRIES.iter().find_map(|of| function.strip_prefix(of))?;
            Some(Call {
                name: entry.into(),
                target: None,
            })
        };
        self.kernel.iter().rev().find_map(name)
    }

    /// Without what changes from one time to the next.
    pub(crate) fn grouped(&self) -> Self {
        Self {
            function: self.function.clone(),
            user: Vec::new(),
            kernel: Vec::new(),
        }
    }
}

/// Code locations at which threads blocked or ran, by thread and time.
#[derive(Debug, Clone, Default)]
pub struct Places(Arc<Threads>);

#[derive(Debug, Default)]
struct Threads {
    are_recorded: bool,
    /// By the begin of the wait.
    waits: HashMap<u32, ByTime>,
    ran: HashMap<u32, ByTime>,
}

/// Places of a thread.
type ByTime = BTreeMap<u64, Arc<Place>>;

/// The kernel stamps one switch for each of its tracers again.
const APART_NS: u64 = 20_000;

impl Places {
    /// Whether stacks of the run were recorded.
    pub(crate) fn are_recorded(&self) -> bool {
        self.0.are_recorded
    }

    /// Where a thread was that left its CPU at an instant; `None` if that is unknown, never another wait's place.
    pub(crate) fn at(&self, thread: u32, left_ns: u64) -> Option<&Arc<Place>> {
        let near = left_ns.saturating_sub(APART_NS)..=left_ns.saturating_add(APART_NS);
        let stays = self.0.waits.get(&thread)?.range(near);
        let nearest = stays.min_by_key(|(from_ns, _)| from_ns.abs_diff(left_ns));
        nearest.map(|(_, place)| place)
    }

    /// Where a thread ran, at those instants of a stretch at which that is known.
    pub(crate) fn ran(
        &self,
        thread: u32,
        from_ns: u64,
        to_ns: u64,
    ) -> impl Iterator<Item = (u64, &Arc<Place>)> {
        let of = self.0.ran.get(&thread).into_iter();
        let within = of.flat_map(move |of| of.range(from_ns..to_ns.max(from_ns)));
        within.map(|(at_ns, place)| (*at_ns, place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(function: &str, module: &str) -> Frame {
        Frame {
            function: (!function.is_empty()).then(|| function.into()),
            file: None,
            line: None,
            module: Some(module.into()),
            address: Some(0x1234),
            generated: module.is_empty(),
        }
    }

    #[test]
    fn a_call_that_was_not_recorded_is_that_of_the_kernels_stack() {
        let place = |kernel: &[&str]| Place {
            function: "`take_state`".into(),
            user: Vec::new(),
            kernel: kernel.iter().map(|of| format!("`{of}`")).collect(),
        };
        let stack = ["futex_wait", "do_futex", "__x64_sys_futex", "do_syscall_64"];
        let call = place(&stack).call().unwrap();
        assert_eq!(call.to_string(), "futex()");
        let stack = ["anon_pipe_read", "vfs_read", "ksys_read", "do_syscall_64"];
        assert_eq!(place(&stack).call().unwrap().to_string(), "read()");
        let stack = ["io_schedule", "filemap_fault", "exc_page_fault"];
        assert_eq!(place(&stack).call(), None);
    }

    #[test]
    fn a_stay_is_found_by_thread_and_time_alone() {
        let stacks = Stacks {
            version: 1,
            lost: 0,
            left_out: 0,
            frames: vec![frame("a", "/p"), frame("b", "/p")],
            stacks: vec![0, 1]
                .into_iter()
                .map(|at| CallStack {
                    user: vec![at],
                    kernel: vec![],
                })
                .collect(),
            stays: vec![
                (7, 1_000_000, 2_000_000, 0).into(),
                (7, 3_000_000, 4_000_000, 1).into(),
                // A stack that is not there, as in a damaged file.
                (8, 1_000_000, 2_000_000, 9).into(),
            ],
            ran: Vec::new(),
        };
        let places = stacks.places();
        let at = |thread, ns| places.at(thread, ns).map(|of| of.function.clone());
        assert_eq!(at(7, 999_000).as_deref(), Some("`a`"));
        assert_eq!(at(7, 1_019_000).as_deref(), Some("`a`"));
        assert_eq!(at(7, 3_000_000).as_deref(), Some("`b`"));
        // Left at another time: a wait whose stack was not taken.
        assert_eq!(at(7, 1_500_000), None);
        assert_eq!(at(7, 2_500_000), None);
        assert_eq!(at(7, 900_000), None);
        assert_eq!(at(8, 1_000_000), None);
    }
}
