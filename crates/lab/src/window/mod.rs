//! The instructions between a due time and the first instruction of its cycle.
//!
//! For each: its kernel function, and the callers. Pure, and that is a rule of this folder: marks,
//! blocks and symbols in, call stacks with their counts out; no file, no clock, no emulator,
//! nothing of this crate from outside the folder.
//!
//! An emulator that counts instructions as time makes a latency a list of instructions. Nothing in
//! the guest helps to find it: the loop is recognised by the times at which it read the clock
//! ([`Follower`]), stacks by the calls and returns that were executed ([`fold`]).

mod block;
mod cut;
mod fold;
mod follower;
mod readings;
mod stack;
mod stretches;
mod symbols;
mod within;

pub use block::{Block, Flow};
pub use cut::{Counted, Cut};
pub use fold::{Folded, fold};
pub use follower::{Follower, Found, Loop};
pub use readings::{Clock, Mark};
pub use symbols::{Place, Symbols, SymbolsError};
pub use within::{Within, within};
