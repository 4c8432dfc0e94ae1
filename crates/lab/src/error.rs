//! What can go wrong in the laboratory, each in one line with what would be right.

use crate::architecture::Architecture;
use std::io;
use std::path::{Path, PathBuf};

/// Result of the laboratory.
pub type Result<T> = std::result::Result<T, LabError>;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The system refused something about a file.
    #[error("can't {action} {}: {source}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A program that is needed is not installed.
    #[error("{program} is not installed: install the package {package}")]
    MissingProgram {
        /// Its name.
        program: String,
        /// The package that holds it.
        package: &'static str,
    },
    /// The emulator is older than any that was tried.
    #[error("{version} is too old: this guest needs QEMU {needed} or newer (package {package})")]
    OldEmulator {
        /// What it says of itself.
        version: String,
        /// The oldest with which such a guest was tried.
        needed: String,
        /// The package that holds it.
        package: &'static str,
    },
    /// A program for another architecture than the guest's.
    #[error(
        "{} is for {is}, the guest is {guest}: it runs programs for {guest} alone; wakepath's is given \
         with `--program`, those of loads are fetched", path.display()
    )]
    OtherArchitecture {
        /// The program.
        path: PathBuf,
        /// What it is for.
        is: Architecture,
        /// What the guest is.
        guest: Architecture,
    },
    /// No wakepath for the guest.
    #[error(
        "no wakepath for {architecture} guests is here: put the released wakepath-{target} at {}, or \
         name one with `--program`, or build one in a checkout with `cargo build --release --package \
         wakepath --target {target}`", beside.display()
    )]
    NoProgram {
        /// What the guest is.
        architecture: Architecture,
        /// Rust's name of it.
        target: &'static str,
        /// Where it would be found.
        beside: PathBuf,
    },
    /// A program said something that can't be understood.
    #[error("{program} answers {answer:?}, which can't be understood")]
    Answer {
        /// The program.
        program: String,
        /// Its answer.
        answer: String,
    },
    /// A program ended with an error.
    #[error("{command} failed: {said}")]
    Command {
        /// Its command line.
        command: String,
        /// Its last words.
        said: String,
    },
    /// The kernel's name says nothing.
    #[error(
        "{name:?} is no kernel: give the path of a bzImage or Image, debian:stock, debian:rt, or \
         package:NAME or package:NAME=VERSION"
    )]
    KernelName {
        /// The name.
        name: String,
    },
    /// A file that is no kernel for the guest.
    #[error(
        "{} is {is}, the guest is {guest}: give a kernel for it, or another `--architecture`",
        path.display()
    )]
    KernelImage {
        /// The file.
        path: PathBuf,
        /// What it is.
        is: String,
        /// What the guest is.
        guest: Architecture,
    },
    /// The package client has no such package.
    #[error(
        "no package {package} is known here ({why}); `apt-get update` refreshes the lists, and the \
         path of a kernel works everywhere"
    )]
    NoPackage {
        /// The package.
        package: String,
        /// What the client says.
        why: String,
    },
    /// A package does not hold what its name promises.
    #[error("package {package} holds no kernel in /boot")]
    NoKernelInPackage {
        /// The package.
        package: String,
    },
    /// A download is not what the package list says.
    #[error("{package} as downloaded has the SHA-256 {found}, the package list says {expected}")]
    Download {
        /// The package.
        package: String,
        /// From the list.
        expected: String,
        /// Of the file.
        found: String,
    },
    /// Virtual time passes by powers of two.
    #[error(
        "{ns} ns per instruction can't be had: the emulator counts 1, 2, 4, 8 … 1024 ns for each"
    )]
    Rate {
        /// What was asked for.
        ns: u32,
    },
    /// No number and no board that is known.
    #[error("{name:?} ns per instruction: give 1, 2, 4 … 1024, or one of {boards}")]
    RateName {
        /// What was given.
        name: String,
        /// The boards.
        boards: String,
    },
    /// A program for the guest is not an ELF file of the guest's kind.
    #[error("{}: {why}", path.display())]
    Program {
        /// The program.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// A parameter that a guest of the laboratory can't have.
    #[error(
        "{word}: the laboratory sets this parameter of the kernel itself, to start the guest and to \
         learn of its end; leave it out"
    )]
    Parameter {
        /// The parameter.
        word: String,
    },
    /// The guest never reached its own program.
    #[error("the guest never started its program ({why}); its console: {}", console.display())]
    NeverStarted {
        /// The last of its console.
        why: String,
        /// The whole.
        console: PathBuf,
    },
    /// The guest's kernel panicked.
    #[error("the guest's kernel panicked: {line}; its console: {}", console.display())]
    Panic {
        /// The kernel's line.
        line: String,
        /// The whole.
        console: PathBuf,
    },
    /// The guest did not end in time.
    #[error(
        "the guest hung or is too slow: no end after {seconds} s and {cpu_seconds} s of CPU time on \
         this host (`--timeout` allows more); its last line: {last}; its console: {}", console.display()
    )]
    Hung {
        /// How long it took.
        seconds: u64,
        /// Of that, CPU time.
        cpu_seconds: u64,
        /// The last of its console.
        last: String,
        /// The whole.
        console: PathBuf,
    },
    /// The guest's program failed and said why.
    #[error("in the guest: {why}; its console: {}", console.display())]
    Guest {
        /// What it says.
        why: String,
        /// The whole console.
        console: PathBuf,
    },
    /// What came back is not what the guest sent.
    #[error("what the guest sent did not arrive whole: {why}; its console: {}", console.display())]
    Incomplete {
        /// What is wrong.
        why: String,
        /// The whole console.
        console: PathBuf,
    },
    /// The emulator itself ended with an error.
    #[error("{program} failed: {said}")]
    Emulator {
        /// The program.
        program: String,
        /// Its last words.
        said: String,
    },
    /// No linker made what the emulator loads.
    #[error(
        "this wakepath was built without what the emulator loads for a window (no linker was there); \
         one built with rustup's Rust has it"
    )]
    NoPlugin,
    /// Someone asked for the end.
    #[error("interrupted: the guests are stopped, nothing is left running")]
    Interrupted,
}

impl LabError {
    /// An I/O error with its path.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io {
            action,
            path: path.to_owned(),
            source,
        }
    }
}
