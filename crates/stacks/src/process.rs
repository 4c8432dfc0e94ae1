//! One process whose threads block: the code that it has in memory, looked at again when an address lies outside.

use crate::maps::{self, Mapping};
use crate::module::{self, Module};
use crate::unwind::Unwinder;
use std::path::Path;
use std::time::{Duration, Instant};
use wakepath_probe::blocking::Stack;

/// Between two looks at the maps while they change, as those of a program do that is being started.
const LOOK_SOON: Duration = Duration::from_millis(5);
/// Longest time between two looks: each that finds nothing new doubles it.
const LOOK_EVERY: Duration = Duration::from_millis(320);

/// Files that any of the processes has mapped.
#[derive(Default)]
pub(crate) struct Modules(pub(crate) Vec<Module>);

/// A function's address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum At {
    /// In a file, by its number.
    Module(u32, u64),
    /// In what a process made itself, by its number.
    Generated(u32, u64),
    /// Anywhere.
    Unknown(u64),
}

/// A process.
pub(crate) struct Process {
    number: u32,
    code: Vec<Code>,
    unwinder: Unwinder,
    looked: Option<Instant>,
    look_after: Duration,
}

struct Code {
    mapping: Mapping,
    /// Number and bias of its module.
    module: Option<(u32, u64)>,
}

impl Process {
    pub(crate) fn new(number: u32) -> Self {
        Self {
            number,
            code: Vec::new(),
            unwinder: Unwinder::new(),
            looked: None,
            look_after: LOOK_SOON,
        }
    }

    /// The functions of a stack, the innermost first.
    pub(crate) fn unwound(&mut self, stack: &Stack<'_>, modules: &mut Modules) -> Vec<At> {
        let mut found = self.attempt(stack);
        let is_unknown = |at: &At| matches!(at, At::Unknown(_));
        let may_look = || self.looked.is_none_or(|at| at.elapsed() >= self.look_after);
        if (found.is_empty() || found.iter().any(is_unknown)) && may_look() {
            self.look(modules);
            found = self.attempt(stack);
        }
        // What follows an address without code is no caller.
        if let Some(end) = found.iter().position(is_unknown) {
            found.truncate(end.max(1));
        }
        found
    }

    /// Where an address lies.
    pub(crate) fn code_at(&mut self, address: u64, modules: &mut Modules) -> At {
        let may_look = || self.looked.is_none_or(|at| at.elapsed() >= self.look_after);
        if matches!(self.at(address), At::Unknown(_)) && may_look() {
            self.look(modules);
        }
        self.at(address)
    }

    fn attempt(&mut self, stack: &Stack<'_>) -> Vec<At> {
        let addresses = self.unwinder.addresses(stack).into_iter();
        addresses.map(|address| self.at(address)).collect()
    }

    fn at(&self, address: u64) -> At {
        let after = self
            .code
            .partition_point(|of| of.mapping.addresses.start <= address);
        let of = after.checked_sub(1).map(|before| &self.code[before]);
        let of = of.filter(|of| of.mapping.addresses.contains(&address));
        match of.map(|of| (of.module, &of.mapping.file)) {
            Some((Some((module, bias)), _)) => At::Module(module, address.wrapping_sub(bias)),
            Some((None, None)) => At::Generated(self.number, address),
            _ => At::Unknown(address),
        }
    }

    /// Reads the maps. Those of a process that is gone stay as they were.
    fn look(&mut self, modules: &mut Modules) {
        self.looked = Some(Instant::now());
        let maps = std::fs::read(format!("/proc/{}/maps", self.number)).unwrap_or_default();
        let mappings = maps::parse(&maps);
        let are_known = mappings.len() == self.code.len()
            && mappings
                .iter()
                .zip(&self.code)
                .all(|(new, of)| *new == of.mapping);
        if mappings.is_empty() || are_known {
            self.look_after = LOOK_EVERY.min(2 * self.look_after);
            return;
        }
        self.look_after = LOOK_SOON;
        self.unwinder = Unwinder::new();
        self.code.clear();
        for mapping in mappings {
            let module = module_of(self.number, &mapping, modules);
            if let Some((number, bias)) = module {
                let of = &modules.0[number as usize];
                self.unwinder.add(of, mapping.addresses.clone(), bias);
            }
            self.code.push(Code { mapping, module });
        }
    }
}

/// Number and bias of a mapping's module.
fn module_of(process: u32, mapping: &Mapping, modules: &mut Modules) -> Option<(u32, u64)> {
    let path = mapping.file.clone()?;
    // One copy of it does for all processes.
    let mut known = modules.0.iter();
    let vdso = Path::new(maps::VDSO);
    let vdso = known.position(|of| of.path == vdso && path == vdso);
    if let Some(number) = vdso {
        return Some((number as u32, modules.0[number].bias(mapping)?));
    }
    let file = module::open(process, mapping).ok()?;
    let identity = module::identity(&file).ok()?;
    let known = modules.0.iter().position(|of| of.identity == identity);
    let number = known.or_else(|| {
        modules.0.push(Module::read(file, path)?);
        Some(modules.0.len() - 1)
    })?;
    Some((number as u32, modules.0[number].bias(mapping)?))
}
