//! Programs of a hunt: sequences of system calls, their text, the grammar that they follow, and the
//! marks by which the host recognises the call that a guest executes.
//!
//! Pure.

mod grammar;
mod lexer;
mod mark;
mod program;
mod text;

pub use grammar::{CallRule, Grammar, GrammarError, Output, Rule};
pub use mark::{Mark, STUB_BYTES, STUBS, STUBS_AT};
pub use program::{Call, Field, MOST_CALLS, Program, Value};
pub use text::{TextError, parse, parse_all};

/// The grammar that wakepath contains.
pub const CALLS: &str = include_str!("calls.txt");
/// File of the emulator's fw_cfg device that holds a guest's programs.
pub const PROGRAMS_NAME: &str = "opt/org.wakepath/programs";
/// Name under which a guest sends its kernel's list of functions.
pub const KALLSYMS_NAME: &str = "kallsyms";
/// On the console when a guest is ready for programs.
pub const READY: &str = "wakepath-lab: ready for programs, preemption ";
