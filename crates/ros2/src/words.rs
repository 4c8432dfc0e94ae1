//! Words of a process's memory that show which function a callback calls.

use crate::graph::Handle;

/// Words in memory when a callback began; 0 for those that were not recorded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Words {
    /// An address in the code that calls it: of a timer, that of a template whose argument is the callable.
    pub caller: u64,
    /// The callable's first word: of `std::bind`, and of a pointer to a function, the function's address.
    pub first: u64,
    /// The word at that address: of `std::function`, the first word of a callable that is too large for it.
    pub pointed: u64,
    /// The fourth word: of libstdc++'s `std::function`, the code that calls what it holds.
    pub invoker: u64,
}

/// A callback that begins for the first time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Begun {
    /// Process, and the callback's address in it.
    pub callback: Handle,
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Words in memory.
    pub words: Words,
}

/// A callback's function, once it was looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionOf {
    /// The callback, as it began first.
    pub callback: Handle,
    /// When.
    pub at_ns: u64,
    /// `Controller::step`, `main, lambda 2`.
    pub name: String,
}
