//! Errors of the laboratory, each one line with the way out.

mod experiment;
mod guest;
mod hunt;

pub use experiment::ExperimentError;
pub use guest::GuestError;
pub use hunt::HuntError;

use crate::architecture::Architecture;
use crate::baseline::BaselineError;
use crate::brought::BroughtFault;
use crate::disk::DiskFault;
use crate::fault::{FileFault, ProgramFault};
use crate::modules::ModuleFault;
use crate::words::WordsError;
use std::io;
use std::path::{Path, PathBuf};
use wakepath_archive::ArchiveError;
use wakepath_assess::explanation::ExplainError;
use wakepath_assess::{AssessmentError, WindowsError};
use wakepath_directory::DirectoryError;
use wakepath_programs::NotFound;
use wakepath_scenario::ScenarioErrors;
use wakepath_scenario::units::Complaint;
use wakepath_verdict::Outcome;

/// Result of the laboratory.
pub type Result<T> = std::result::Result<T, LabError>;

/// Error of the laboratory.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A guest under way.
    #[error(transparent)]
    Guest(#[from] GuestError),
    /// A repeated experiment.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A hunt.
    #[error(transparent)]
    Hunt(#[from] HuntError),
    /// An impossible topology.
    #[error(transparent)]
    Topology(#[from] crate::TopologyError),
    /// The system refused something about a file.
    #[error("can't {action} {}: {source}", path.display())]
    Io {
        /// The action that failed.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// The system's error.
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
    /// A system tool is missing, or in a place that root doesn't trust.
    #[error(transparent)]
    Tool(#[from] NotFound),
    /// The emulator is older than any that was tried.
    #[error("{version} is too old: this guest needs QEMU {needed} or newer (package {package})")]
    OldEmulator {
        /// The emulator's version.
        version: String,
        /// The oldest tested version.
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
        /// The program's architecture.
        is: Architecture,
        /// The guest's architecture.
        guest: Architecture,
    },
    /// No wakepath for the guest.
    #[error(
        "no wakepath for {architecture} guests is here: put the released wakepath-{target} at {}, or \
         name one with `--program`, or build one in a checkout with `cargo build --release --package \
         wakepath --target {target}`", beside.display()
    )]
    NoProgram {
        /// The guest's architecture.
        architecture: Architecture,
        /// Rust's name of it.
        target: &'static str,
        /// The place to put it.
        beside: PathBuf,
    },
    /// A program's answer can't be parsed.
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
    /// The kernel's name can't be parsed.
    #[error(
        "{name:?} is not a kernel: give the path of a bzImage or Image, debian:stock, debian:rt, or \
         package:NAME or package:NAME=VERSION, with @RELEASE after a name for another Debian release"
    )]
    KernelName {
        /// The name.
        name: String,
    },
    /// A file that isn't a kernel for the guest.
    #[error(
        "{} is {is}, the guest is {guest}: give a kernel for it, or another `--architecture`",
        path.display()
    )]
    KernelImage {
        /// The file.
        path: PathBuf,
        /// The file's architecture.
        is: String,
        /// The guest's architecture.
        guest: Architecture,
    },
    /// The package client doesn't know this package.
    #[error(
        "no package {package} is known here ({why}); `apt-get update` refreshes the lists, and the \
         path of a kernel works everywhere"
    )]
    NoPackage {
        /// The package.
        package: String,
        /// The client's message.
        why: String,
    },
    /// The mirror has no release of that name.
    #[error(
        "{mirror} has no release {release}; if Debian has archived it, download the kernel's package \
         below http://archive.debian.org/debian/pool/main/l/, unpack it with `dpkg-deb -x FILE DIR`, and \
         give `--kernel DIR/boot/vmlinuz-VERSION` (its modules: `--modules DIR/lib/modules`)"
    )]
    NoRelease {
        /// The release.
        release: String,
        /// The mirror.
        mirror: String,
    },
    /// A package without the kernel that its name promises.
    #[error("package {package} holds no kernel in /boot")]
    NoKernelInPackage {
        /// The package.
        package: String,
    },
    /// A download that differs from the package list.
    #[error("{package} as downloaded has the SHA-256 {found}, the package list says {expected}")]
    Download {
        /// The package.
        package: String,
        /// From the list.
        expected: String,
        /// Checksum of the file.
        found: String,
    },
    /// Modules aren't available.
    #[error("{}: {fault}", path.display())]
    Modules {
        /// A module's file, or the directory of them.
        path: PathBuf,
        /// The reason.
        fault: ModuleFault,
    },
    /// Invalid requests for modules.
    #[error(transparent)]
    ModulesAsked(ModuleFault),
    /// Something that can't be brought into a guest.
    #[error("--file {given}: {fault}")]
    Bring {
        /// As it was given.
        given: String,
        /// The reason.
        fault: BroughtFault,
    },
    /// Something that can't be written into a file of a guest's kernel.
    #[error("--init-write {given}: {fault}")]
    InitWrite {
        /// As it was given.
        given: String,
        /// The reason.
        fault: BroughtFault,
    },
    /// An impossible disk.
    #[error("--disk {given}: {fault}")]
    Disk {
        /// As it was given.
        given: String,
        /// The reason.
        fault: DiskFault,
    },
    /// A kernel without options that the guest needs.
    #[error("{kernel} can't be this guest: it was built without {lacks}; so says {from}")]
    Lacking {
        /// The kernel as it was called.
        kernel: String,
        /// Missing options, each with the feature that needs it.
        lacks: String,
        /// Source of its configuration.
        from: String,
    },
    /// Virtual time passes by powers of two.
    #[error(
        "{ns} ns per instruction is not possible: the emulator counts 1, 2, 4, 8 … 1024 ns for each"
    )]
    Rate {
        /// The requested rate.
        ns: u32,
    },
    /// Neither a number nor a known board.
    #[error("{name:?} ns per instruction: give 1, 2, 4 … 1024, or one of {boards}")]
    RateName {
        /// The given name.
        name: String,
        /// The boards.
        boards: String,
    },
    /// A program for the guest is not an ELF file of the guest's kind.
    #[error("{}: {why}", path.display())]
    Program {
        /// The program.
        path: PathBuf,
        /// The reason.
        why: ProgramFault,
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
    /// The plugin wasn't built, for lack of a linker.
    #[error(
        "this wakepath was built without what the emulator loads for a window (no linker was there); \
         one built with rustup's Rust has it"
    )]
    NoPlugin,
    /// A command that guests shall run first can't be understood.
    #[error("--before {0}")]
    Before(WordsError),
    /// No architecture that a guest has.
    #[error(
        "--architecture {name}: a guest is one of {}",
        Architecture::ALL.map(|one| one.to_string()).join(", ")
    )]
    ArchitectureName {
        /// The given name.
        name: String,
    },
    /// The given timeout isn't a time.
    #[error("--timeout {given}: {complaint}")]
    Timeout {
        /// The given text.
        given: String,
        /// The reason.
        complaint: Complaint,
    },
    /// A load that no guest can carry.
    #[error("load {0}: a guest has no graphics; leave it out")]
    NoGraphics(&'static str),
    /// Loops or loads of the scenario need a program that isn't there for the guests.
    #[error(
        "EtherCAT needs the program wakepath-ethercat for {architecture}: unpack it from the release's \
         wakepath-ethercat archive, or build it (cargo build --release --package \
         wakepath-ethercat-program), as {}", beside.display()
    )]
    NoMaster {
        /// The guests'.
        architecture: Architecture,
        /// Its place.
        beside: PathBuf,
    },
    /// Names of two guests that become the same directory name.
    #[error("two guests would be called {}", directory.display())]
    SameName {
        /// The directory.
        directory: PathBuf,
    },
    /// An unfinished bisection with other options.
    #[error(
        "{}: another bisection is under way here: other kernels, another scenario or another count; give \
         another --directory", path.display()
    )]
    OtherBisection {
        /// Its file.
        path: PathBuf,
    },
    /// An incomplete run.
    #[error("{guest}: its run is {outcome}")]
    NotWhole {
        /// The guest.
        guest: String,
        /// Its outcome.
        outcome: Outcome,
    },
    /// A guest whose run there is not.
    #[error("{guest}: {source}")]
    NoRun {
        /// The guest.
        guest: String,
        /// Why.
        source: Box<LabError>,
    },
    /// A guest's directory has no record of a command.
    #[error("the guest ran no command")]
    NoCommand,
    /// A command did not end by itself.
    #[error("{command}: a signal ended it")]
    Signal {
        /// The command.
        command: String,
    },
    /// A run that only passed in real time.
    #[error(
        "{}: not in virtual time: two such runs part at once and by chance; `wakepath show` shows each",
        run.display()
    )]
    RealTime {
        /// The run directory.
        run: PathBuf,
    },
    /// A file stored with a run has the wrong content for its name.
    #[error("{}: {fault}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// The reason and the way out.
        fault: FileFault,
    },
    /// The baseline's own contradictions.
    #[error("{}: {fault}", path.display())]
    Baseline {
        /// The file.
        path: PathBuf,
        /// The reason.
        fault: BaselineError,
    },
    /// A directory or file that isn't writable.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// A run that can't be read or written.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// A run that can't be judged.
    #[error(transparent)]
    Assessment(#[from] AssessmentError),
    /// The explanation stored with a run can't be read.
    #[error(transparent)]
    Explanation(#[from] ExplainError),
    /// The windows stored with a run can't be read.
    #[error(transparent)]
    Windows(#[from] WindowsError),
    /// A scenario that this version can't read.
    #[error(transparent)]
    Scenario(#[from] ScenarioErrors),
    /// No room for a guest's memory.
    #[error(
        "the guest needs {needed_mib} MiB of memory and {free_mib} MiB are available: choose a \
         smaller `--memory`"
    )]
    NoRoom {
        /// Available MiB.
        free_mib: u64,
        /// Needed MiB.
        needed_mib: u64,
    },
    /// The user stopped it.
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
