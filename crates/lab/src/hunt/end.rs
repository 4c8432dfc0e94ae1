//! Results of a hunt and of a repeated program.

use super::finding::Finding;
use super::journal::Effort;
use super::section::Section;
use crate::window::Within;
use std::path::PathBuf;
use wakepath_guest::hunt::Program;

/// Row of a hunt's table.
#[derive(Debug, Clone)]
pub struct Longest {
    /// The section.
    pub section: Section,
    /// Number of its program in the corpus.
    pub entry: usize,
    /// Its program.
    pub program: Program,
}

/// A crash or a warning of the kernel.
#[derive(Debug, Clone)]
pub struct CrashFound {
    /// The line that names it.
    pub name: String,
    /// File with the program and the log.
    pub file: PathBuf,
}

/// Result of a hunt.
#[derive(Debug)]
pub struct HuntEnd {
    /// The kernel as the user named it.
    pub kernel: String,
    /// Its directory.
    pub directory: PathBuf,
    /// How the kernel preempts.
    pub preemption: String,
    /// Virtual nanoseconds for each instruction.
    pub ns_per_instruction: u64,
    /// Whether programs ran as root.
    pub as_root: bool,
    /// Options with which a guest is the same again.
    pub options: String,
    /// Effort of this hunt, and with those before it in the directory.
    pub effort: Effort,
    /// See `effort`.
    pub all_effort: Effort,
    /// Programs in the corpus.
    pub entries: usize,
    /// Pairs of function and power of two of length.
    pub covered: usize,
    /// The longest section of each function, the longest first.
    pub longest: Vec<Longest>,
    /// The longest, worked out.
    pub findings: Vec<Finding>,
    /// Crashes and warnings.
    pub crashes: Vec<CrashFound>,
    /// Whether `until` was found.
    pub reached: bool,
}

/// A program repeated alone.
#[derive(Debug)]
pub struct Repeated {
    /// Virtual nanoseconds for each instruction.
    pub ns_per_instruction: u64,
    /// Its longest section of each place, the longest first.
    pub sections: Vec<Section>,
    /// Content of the longest.
    pub within: Option<Within>,
    /// Number of branches.
    pub branches: u32,
    /// Digest of all stretches; the same in all branches.
    pub digest: u64,
    /// The name of a crash.
    pub crash: Option<String>,
}
