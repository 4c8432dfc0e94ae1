//! What wakepath tells the processes that it starts itself as. No user types these.

use clap::Subcommand;
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
    /// The loads' supervisor.
    LoadSupervisor,
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
    /// What keeps a recorder beside a program in the field.
    ServiceKeeper {
        /// Starts itself again, so that it is nobody's child.
        #[arg(long)]
        leave: bool,
        /// Descriptor of the shared memory.
        shared: i32,
        /// What the recorder is told, as JSON.
        order: String,
        /// The service's directory.
        directory: PathBuf,
    },
    /// The recorder of a program in the field.
    ServiceRecorder {
        /// Descriptor of the shared memory.
        shared: i32,
        /// What it is told, as JSON.
        order: String,
        /// The service's directory.
        directory: PathBuf,
    },
    /// The laboratory's emulator.
    LabEmulator {
        /// Process that it dies with.
        parent: i32,
        /// The emulator and its arguments.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
        command: Vec<std::ffi::OsString>,
    },
}
