//! A guest's order, a file in its initramfs, and its report on its commands.
//!
//! Pure.

use serde::{Deserialize, Serialize};
use wakepath_archive::VirtualTime;

/// The order's path in the guest.
pub const ORDER_PATH: &str = "/lab/order.json";
/// wakepath's path in the guest.
pub const PROGRAM_PATH: &str = "/bin/wakepath";
/// Directory of the files whose own path is hidden by a mount; the guest links each from that path.
pub const UNDER: &str = "lab/under";
/// Paths that the guest mounts over with a writable file system.
pub const COVERED: [&str; 3] = ["dev", "run", "tmp"];
/// Mount point of the guest's disk.
pub const DISK_PATH: &str = "/disk";
/// The kernel draws all its random numbers from the emulator's, which the seed decides: the CPU's
/// instructions for them, or what the firmware passes on.
pub const ENTROPY: [&str; 2] = ["random.trust_cpu=on", "random.trust_bootloader=on"];

/// A guest's order. It doesn't depend on the host: another directory must not make another guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Modules that its kernel loads before all else, in this order.
    #[serde(default)]
    pub modules: Vec<OrderedModule>,
    /// Values to write into kernel files afterwards, in this order.
    #[serde(default)]
    pub writes: Vec<OrderedWrite>,
    /// The disk, which the guest's kernel provides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<OrderedDisk>,
    /// Commands that run first, one after the other.
    pub commands: Vec<OrderedCommand>,
    /// The scenario that is then measured, resolved, as TOML.
    pub scenario: Option<String>,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// Seed of the emulator's random numbers.
    pub seed: u64,
    /// CPUs of the guest.
    pub cpus: u16,
    /// Bytes of each level's data cache if the guest's kernel reports none; 0 for no cache.
    #[serde(default)]
    pub caches_bytes: Option<[u64; 3]>,
    /// The longest turn of one of several CPUs, in virtual nanoseconds, if it has a limit.
    pub turn_ns: Option<u64>,
    /// A hunt, instead of a scenario.
    #[serde(default)]
    pub hunt: Option<HuntOrder>,
}

/// How a guest executes the programs of a hunt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HuntOrder {
    /// Whether programs run as root.
    pub as_root: bool,
    /// Time limit of each program in virtual nanoseconds.
    pub limit_ns: u64,
    /// Whether the kernel's list of functions is sent home, or only that of its modules.
    pub all_symbols: bool,
    /// Lines of the grammar in addition to wakepath's own.
    pub calls: String,
}

impl Order {
    /// The guest's virtual time. Only the host can add the emulator.
    pub fn virtual_time(&self) -> VirtualTime {
        VirtualTime {
            ns_per_instruction: self.ns_per_instruction,
            seed: self.seed,
            cpus: self.cpus,
            turn_ns: self.turn_ns,
            emulator: None,
        }
    }

    /// As JSON.
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec_pretty(self).expect("plain data without maps is JSON")
    }

    /// From JSON.
    ///
    /// # Errors
    /// If it can't be parsed.
    pub fn from_bytes(bytes: &[u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(bytes)
    }
}

/// A module for a guest's kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedModule {
    /// Its file in the guest.
    pub path: String,
    /// Its parameters, as on the command line of modprobe(8).
    pub parameters: String,
}

/// A value for a file of the guest's kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedWrite {
    /// The file, below /proc or /sys.
    pub path: String,
    /// The value.
    pub value: String,
}

/// A disk for a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedDisk {
    /// Virtual nanoseconds of each request.
    pub latency_ns: u64,
}

/// A command for a guest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderedCommand {
    /// Its words.
    pub words: Vec<String>,
    /// Whether the guest continues if it exits with a code other than 0.
    pub may_fail: bool,
}

/// Result of a command in a guest; its output is in the files `command-N.out` and `.err`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEnd {
    /// Its words.
    pub command: Vec<String>,
    /// Its exit code; none if a signal ended it.
    pub exit_code: Option<i32>,
}

/// File with the results of the commands, in order.
pub const COMMANDS_NAME: &str = "commands.json";

/// File with the functions of the modules that the guest's kernel had loaded, if any: their lines of
/// /proc/kallsyms.
pub const MODULE_SYMBOLS_NAME: &str = "module-symbols.txt";

/// File with the standard output of the command with that number (from 1).
pub fn output_name(number: usize) -> String {
    format!("command-{number}.out")
}

/// File with its standard error.
pub fn complaint_name(number: usize) -> String {
    format!("command-{number}.err")
}
