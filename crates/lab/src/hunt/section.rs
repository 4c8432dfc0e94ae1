//! A section that a program caused: its entry, exit, length and call.

use serde::{Deserialize, Serialize};
use wakepath_guest::hunt::Program;

/// A non-preemptible section or an interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// The function that it began in, and that it ended in.
    pub began: String,
    /// See `began`.
    pub ended: String,
    /// Its length in instructions, without the interrupts in it.
    pub length: u64,
    /// The call that was under way; none at the program's beginning and after its last call.
    pub call: Option<usize>,
}

impl Section {
    /// Its entry and exit.
    pub fn place(&self) -> (&str, &str) {
        (&self.began, &self.ended)
    }

    /// The name of the call of its program.
    pub fn call_name<'a>(&self, program: &'a Program) -> &'a str {
        let call = self.call.and_then(|call| program.calls.get(call));
        call.map_or("exit", |call| &call.name)
    }

    /// The power of two of its length.
    pub fn magnitude(&self) -> u32 {
        self.length.max(1).ilog2()
    }
}
