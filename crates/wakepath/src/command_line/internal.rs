//! What wakepath tells the processes that it starts itself as. No user types these.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// What wakepath starts itself as. Not for people: arguments may change at any time.
#[derive(Debug, Subcommand)]
pub enum Internal {
    /// The measured loop's process.
    Loop {
        /// Process that it dies with.
        parent: i32,
        /// Descriptor of the shared memory.
        shared: i32,
    },
    /// What sets the policies of a loop's threads whose process has given up its capabilities.
    LoopPolicies {
        /// The loop's process.
        parent: i32,
    },
    /// Has a real-time core measure its own latency.
    CoreLatency {
        /// Process that it dies with.
        parent: i32,
        /// Descriptor of the shared memory, which it leaves alone.
        shared: i32,
    },
    /// Candidates for the last word of a command line, for a shell's completion.
    Candidates {
        /// The words after the program's name.
        #[arg(last = true)]
        words: Vec<String>,
    },
    /// A run that a larger measurement orders.
    Run,
    /// A watch of a program that a larger measurement orders.
    Watch,
    /// The recorder.
    Recorder {
        /// Process that it works for.
        parent: i32,
        /// Descriptor of the shared memory.
        shared: i32,
        /// The run directory.
        directory: PathBuf,
    },
    /// The probe.
    Probe {
        /// Process that it works for.
        parent: i32,
        /// Descriptor of the shared memory, which it leaves alone.
        shared: i32,
        /// The run directory.
        directory: PathBuf,
    },
    /// What takes settings back once its standard input is closed.
    RevertAfter,
    /// The loads' supervisor.
    LoadSupervisor,
    /// A ring of simulated EtherCAT devices.
    EthercatRing {
        /// Its options, as JSON.
        options: std::ffi::OsString,
    },
    /// What drives a GPIO line.
    Pin {
        /// Process that it dies with.
        parent: i32,
    },
    /// The first process of a laboratory's guest.
    LabGuest,
    /// A program of the user's own whose loops are recorded.
    OwnProgram {
        /// Process that it dies with.
        parent: i32,
        /// Descriptor of the shared memory.
        shared: i32,
        /// The program and its arguments.
        #[arg(last = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
    /// A recorder that a loop's library starts and keeps next to its program. Libraries of other
    /// versions use these words: none is ever removed.
    ServiceBeside(Beside),
    /// Keeps a recorder next to a program in the field.
    ServiceKeeper {
        /// Starts itself again, so that it is nobody's child.
        #[arg(long)]
        leave: bool,
        /// Number of a recorder that is there already, whose keeper has died.
        #[arg(long)]
        of: Option<u32>,
        /// Descriptor of the shared memory.
        shared: i32,
        /// The recorder's order, as JSON.
        order: String,
        /// The service's directory.
        directory: PathBuf,
    },
    /// The recorder of a program in the field.
    ServiceRecorder {
        /// Number of the keeper that starts it.
        #[arg(long)]
        keeper: i32,
        /// Descriptor of the shared memory.
        shared: i32,
        /// Its order, as JSON.
        order: String,
        /// The service's directory.
        directory: PathBuf,
    },
}

/// A program's request for a recorder.
#[derive(Debug, Args)]
pub struct Beside {
    /// The program's number.
    #[arg(long)]
    pub process: u32,
    /// The service's directory.
    #[arg(long)]
    pub directory: PathBuf,
    /// What its loops bear.
    #[arg(long)]
    pub criterion: Option<String>,
    /// Room for samples.
    #[arg(long, default_value = "2GiB")]
    pub keep: String,
    /// Worst cycles of each loop.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(..=1000))]
    pub worst: u16,
    /// Where live figures are served.
    #[arg(long)]
    pub metrics: Option<String>,
    /// Keep the kernel's events around the worst cycles.
    #[arg(long)]
    pub trace: bool,
    /// Write in a directory of others, too.
    #[arg(long)]
    pub trust_directory: bool,
}
