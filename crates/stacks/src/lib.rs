//! Stacks of a program's threads that block or run for long: copied by the kernel, unwound while the program runs, with the names of
//! functions at the end. It opens the files of processes; it starts nothing and judges nothing.

#![cfg_attr(not(test), deny(clippy::print_stdout, clippy::print_stderr))]

mod callables;
mod demangle;
mod generated;
mod maps;
mod module;
mod names;
mod process;
mod stays;
mod symbols;
mod unwind;

pub use callables::{Callables, InMemory};
use generated::{Generated, function_and_file};
use process::{At, Modules, Process};
use stays::Stays;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use wakepath_explain::{CallStack, Frame, Ran, Stacks};
use wakepath_probe::Symbols;
use wakepath_probe::blocking::{Said, Stack};

/// Different stacks of a run at most.
const MOST_STACKS: usize = 8192;
/// The same while threads run: each instruction makes another one.
const MOST_RUNNING_STACKS: usize = MOST_STACKS / 2;
/// Instants at which threads ran: the latest ones.
const MOST_RAN: usize = 100_000;
/// Innermost functions of the kernel that every thread is in which leaves its CPU.
const SCHEDULER: [&str; 4] = [
    "__schedule",
    "schedule",
    "__traceiter_sched_switch",
    "perf_trace_sched_switch",
];

/// Stacks as addresses, in the program and in the kernel.
type Addresses = (Vec<At>, Vec<u64>);

/// The stacks of a program while it runs.
#[derive(Default)]
pub struct Collected {
    modules: Modules,
    processes: HashMap<u32, Process>,
    stacks: HashMap<Addresses, u32>,
    stays: Stays,
    ran: VecDeque<Ran>,
    /// When each thread last left its CPU to wait, and with which stack.
    away: HashMap<u32, (u64, u32)>,
    generated: BTreeMap<u32, Generated>,
    lost: u64,
    last_ns: u64,
}

impl Collected {
    /// Whether no stack was taken.
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Takes a record. Those of a thread that changes its CPU need not come in order.
    pub fn take(&mut self, said: Said<'_>) {
        match said {
            Said::Left(stack) => {
                let (thread, at_ns) = (stack.thread, stack.at_ns);
                let number = self.number_of(&stack, MOST_STACKS);
                self.last_ns = self.last_ns.max(at_ns);
                let later = self
                    .away
                    .get(&thread)
                    .filter(|(later_ns, _)| *later_ns > at_ns);
                if let Some(&(later_ns, _)) = later {
                    return self.until(thread, number.map(|of| (at_ns, of)), later_ns);
                }
                let before = match number {
                    Some(number) => self.away.insert(thread, (at_ns, number)),
                    None => self.away.remove(&thread),
                };
                self.until(thread, before, at_ns);
            }
            Said::Ran(stack) => {
                if let Some(number) = self.number_of(&stack, MOST_RUNNING_STACKS) {
                    if self.ran.len() == MOST_RAN {
                        self.ran.pop_front();
                    }
                    self.ran
                        .push_back((stack.thread, stack.at_ns, number).into());
                }
            }
            Said::Lost(count) => {
                self.lost += count;
                self.away.clear();
            }
        }
    }

    /// Adds a wait that was over before an instant.
    fn until(&mut self, thread: u32, wait: Option<(u64, u32)>, to_ns: u64) {
        if let Some((from_ns, stack)) = wait.filter(|(from_ns, _)| *from_ns < to_ns) {
            self.stays.add((thread, from_ns, to_ns, stack).into());
        }
    }

    fn number_of(&mut self, stack: &Stack<'_>, most: usize) -> Option<u32> {
        let of = self.processes.entry(stack.process);
        let of = of.or_insert_with(|| Process::new(stack.process));
        let addresses = (of.unwound(stack, &mut self.modules), stack.kernel.clone());
        let next = self.stacks.len();
        if let Some(&known) = self.stacks.get(&addresses) {
            return Some(known);
        }
        if next >= most {
            self.stays.left_out += u64::from(most == MOST_STACKS);
            return None;
        }
        self.stacks.insert(addresses, next as u32);
        Some(next as u32)
    }

    /// Ends a program's part, and reads what it wrote of functions that it made itself: while it is there, best of all.
    /// Another program's may follow.
    pub fn read_generated(&mut self) {
        for (thread, last) in std::mem::take(&mut self.away) {
            self.until(thread, Some(last), self.last_ns + 1);
        }
        let users = self.stacks.keys().flat_map(|(user, _)| user);
        let processes: BTreeSet<u32> = users
            .filter_map(|at| match at {
                At::Generated(process, _) => Some(*process),
                _ => None,
            })
            .collect();
        for process in processes {
            let made = || Generated::new(process);
            self.generated.entry(process).or_insert_with(made);
        }
    }

    /// The stacks with the names of their functions; the programs are not needed any more.
    pub fn named(self, kernel: &mut Symbols) -> Stacks {
        let collected = self;
        let mut wanted: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        for at in collected.stacks.keys().flat_map(|(user, _)| user) {
            if let At::Module(module, address) = at {
                wanted.entry(*module).or_default().insert(*address);
            }
        }
        let modules = wanted.iter().map(|(number, addresses)| {
            let module = &collected.modules.0[*number as usize];
            (*number, names::of(module, addresses))
        });
        let modules: BTreeMap<u32, BTreeMap<u64, Vec<Frame>>> = modules.collect();
        let mut numbers = Numbers::default();
        let mut stacks: Vec<(u32, CallStack)> = Vec::new();
        for ((user, of_kernel), number) in &collected.stacks {
            let user = user.iter().flat_map(|at| match at {
                At::Module(module, address) => modules[module][address].clone(),
                At::Generated(process, address) => {
                    vec![made(collected.generated.get(process), *address)]
                }
                At::Unknown(address) => vec![unknown(*address)],
            });
            let user = user.map(|frame| numbers.number(frame)).collect();
            let of_kernel = of_kernel
                .iter()
                .map(|&address| kernel.name(address))
                .skip_while(|name| SCHEDULER.contains(&&**name))
                .map(|name| {
                    numbers.number(Frame {
                        function: Some(name.to_string()),
                        ..unknown(0)
                    })
                });
            let kernel = of_kernel.collect();
            stacks.push((*number, CallStack { user, kernel }));
        }
        stacks.sort_unstable_by_key(|(number, _)| *number);
        let (stays, left_out) = collected.stays.all();
        Stacks {
            version: Stacks::VERSION,
            lost: collected.lost,
            left_out,
            frames: numbers.frames,
            stacks: stacks.into_iter().map(|(_, stack)| stack).collect(),
            stays,
            ran: collected.ran.into(),
        }
    }
}

/// Frames, each once.
#[derive(Default)]
struct Numbers {
    frames: Vec<Frame>,
    known: HashMap<Frame, u32>,
}

impl Numbers {
    fn number(&mut self, frame: Frame) -> u32 {
        *self.known.entry(frame).or_insert_with_key(|frame| {
            self.frames.push(frame.clone());
            (self.frames.len() - 1) as u32
        })
    }
}

fn made(by: Option<&Generated>, address: u64) -> Frame {
    let Some(name) = by.and_then(|of| of.name(address)) else {
        return unknown(address);
    };
    let (function, file, line) = function_and_file(name);
    Frame {
        function: Some(function),
        file,
        line,
        module: None,
        address: None,
        generated: true,
    }
}

/// Code of which nothing but the address is known, if that is more than 0.
fn unknown(address: u64) -> Frame {
    Frame {
        function: None,
        file: None,
        line: None,
        module: None,
        address: (address != 0).then_some(address),
        generated: false,
    }
}
