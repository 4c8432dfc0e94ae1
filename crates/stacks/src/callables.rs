//! Functions that callbacks call, by the words that were with them in memory: of a callable that a template was made
//! for, its type is in the template's symbol.

use crate::demangle::{callable, demangled};
use crate::names::symbols;
use crate::process::{At, Modules, Process};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Words in memory with a callback of a process; 0 for unknown ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InMemory {
    /// Its process.
    pub process: u32,
    /// An address in the code that calls it.
    pub caller: u64,
    /// The callable's first word.
    pub first: u64,
    /// The word at that address.
    pub pointed: u64,
    /// libstdc++'s `std::function`: the code that calls what it holds.
    pub invoker: u64,
}

/// Kind of a callable, by a symbol of the code that calls it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Callable {
    /// A lambda, by its function and number.
    Lambda(String),
    /// `std::bind`, or a pointer: its first word is a function's address.
    Pointer,
    /// `std::function`: its invoker knows more.
    Function,
}

/// Looks functions up, while their processes are there.
#[derive(Default)]
pub struct Callables {
    modules: Modules,
    processes: HashMap<u32, Process>,
}

impl Callables {
    /// The functions of these callbacks, in their order.
    pub fn names(&mut self, asked: &[InMemory]) -> Vec<Option<String>> {
        let mut wanted: BTreeMap<u32, BTreeSet<u64>> = BTreeMap::new();
        let words = |of: &InMemory| [of.caller, of.first, of.pointed, of.invoker];
        let found: Vec<[Option<(u32, u64)>; 4]> = asked
            .iter()
            .map(|of| words(of).map(|word| self.at(of.process, word)))
            .collect();
        for (module, address) in found.iter().flatten().flatten() {
            wanted.entry(*module).or_default().insert(*address);
        }
        let names: BTreeMap<u32, BTreeMap<u64, String>> = wanted
            .iter()
            .map(|(number, addresses)| {
                let module = &self.modules.0[*number as usize];
                (*number, symbols(module, addresses))
            })
            .collect();
        let symbol = |at: Option<(u32, u64)>| {
            let (module, address) = at?;
            names[&module].get(&address).map(String::as_str)
        };
        found.iter().map(|of| name(of.map(symbol))).collect()
    }

    /// A word that is an address of code, by its module and its address there.
    fn at(&mut self, process: u32, word: u64) -> Option<(u32, u64)> {
        if word == 0 {
            return None;
        }
        let of = self.processes.entry(process);
        let of = of.or_insert_with(|| Process::new(process));
        match of.code_at(word, &mut self.modules) {
            At::Module(module, address) => Some((module, address)),
            _ => None,
        }
    }
}

/// The function, by the symbols of caller, first word, word pointed to and invoker.
fn name([caller, first, pointed, invoker]: [Option<&str>; 4]) -> Option<String> {
    let timer = caller.and_then(|symbol| callable(symbol, "12GenericTimerI"));
    match timer {
        Some(Callable::Lambda(name)) => return Some(name),
        Some(Callable::Pointer) => return first.map(demangled),
        Some(Callable::Function) | None => {}
    }
    match callable(invoker?, "St17_Function_handlerI")? {
        Callable::Lambda(name) => Some(name),
        Callable::Pointer => pointed.or(first).map(demangled),
        Callable::Function => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Symbols of rclcpp 28.1.6 with g++ 12.
    #[test]
    fn lambdas_bound_functions_and_pointers_have_their_names() {
        let lambda = "_ZN6rclcpp12GenericTimerIZN7ControlC4ERK3OptEUlvE1_LPv0EE16execute_callbackERKSt10shared_ptrIvE";
        let bound = "_ZN6rclcpp12GenericTimerISt5_BindIFM7ControlFvvEPS2_EELPv0EE16execute_callbackERKSt10shared_ptrIvE";
        let held = "_ZN6rclcpp12GenericTimerIRSt8functionIFvvEELPv0EE16execute_callbackERKSt10shared_ptrIvE";
        let function = "_ZN7Control4stepEv";
        let invoker = "_ZNSt17_Function_handlerIFvSt10shared_ptrIKN8std_msgs3msg7Header_ISaIvEEEEEZN7ControlC4ERK3OptEUlS7_E0_E9_M_invokeERKSt9_Any_dataOS7_";
        let invoker_of_bound = "_ZNSt17_Function_handlerIFvSt10shared_ptrIN8std_msgs3msg7Header_ISaIvEEEEESt5_BindIFM7ControlFvS6_EPS8_St12_PlaceholderILi1EEEEE9_M_invokeERKSt9_Any_dataOS6_";
        let of_main = "_ZNSt17_Function_handlerIFvvEZ4mainEUlvE_E9_M_invokeERKSt9_Any_data";
        for (symbols, expected) in [
            (
                [Some(lambda), None, None, None],
                Some("Control::Control, lambda 3"),
            ),
            (
                [Some(bound), Some(function), None, None],
                Some("Control::step"),
            ),
            (
                [Some(held), None, None, Some(of_main)],
                Some("main, lambda 1"),
            ),
            (
                [None, None, None, Some(invoker)],
                Some("Control::Control, lambda 2"),
            ),
            (
                [
                    Some("dispatch"),
                    None,
                    Some(function),
                    Some(invoker_of_bound),
                ],
                Some("Control::step"),
            ),
            ([Some(bound), None, None, None], None),
            ([Some(function), None, None, Some(function)], None),
            ([None; 4], None),
        ] {
            assert_eq!(name(symbols).as_deref(), expected, "{symbols:?}");
        }
    }
}
