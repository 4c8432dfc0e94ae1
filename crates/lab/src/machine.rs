//! The emulated machine as the emulator's command line.
//!
//! Pure. `docs/concepts/virtual-time.md` gives the reason for every flag; without any one of them
//! two runs can differ.

use crate::architecture::Architecture;
use crate::topology::Topology;
use crate::{LabError, Result};
use std::path::Path;
use wakepath_guest::order::{ENTROPY, PROGRAM_PATH};
use wakepath_guest::sending::SEND_PORT;

/// The emulated machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Machine {
    /// Architecture.
    pub architecture: Architecture,
    /// Virtual nanoseconds that pass with each instruction.
    pub ns_per_instruction: u32,
    /// Seed of the emulator's random numbers, the guest's included.
    pub seed: u64,
    /// CPUs.
    pub cpus: u16,
    /// CPU topology, if given.
    pub topology: Option<Topology>,
    /// Memory in MiB.
    pub memory_mib: u32,
    /// Further parameters of the kernel, such as `preempt=full`.
    pub parameters: Vec<String>,
}

/// The longest turn of one of several CPUs, in virtual microseconds. CPUs that count instructions run
/// one after the other, each until the emulator's next timer: without one of this pace turns last
/// milliseconds, and a latency is the wait for another CPU's turn.
const TURN_US: u32 = 2;

/// Without it the emulator's main loop advances time to the next timer as soon as every CPU has
/// halted, although the instructions before the halt might not be counted yet: they are then added,
/// and the guest wakes late by as many. It also runs timers while a CPU executes. Recording (here
/// to nowhere) lets either run only when the other has ended its turn and is counted: QEMU's
/// `replay_mutex`, held in `accel/tcg/tcg-accel-ops-icount.c` and `util/main-loop.c`. It refuses to
/// record several CPUs.
const ONE_AT_A_TIME: &str = ",rr=record,rrfile=/dev/null";

/// Arguments with which a snapshot can be taken, which the emulator refuses while it records.
pub(crate) fn without_recording(arguments: &[String]) -> Vec<String> {
    let without = |argument: &String| argument.replace(ONE_AT_A_TIME, "");
    arguments.iter().map(without).collect()
}

/// Arguments with which the emulator writes to these files.
pub(crate) fn writing_to(arguments: &[String], console: &str, sent: &str) -> Vec<String> {
    let file = |id: &str, name: &str| format!("file,id={id},path={name}");
    let replace = |argument: &String| match argument {
        one if *one == file("console", CONSOLE) => file("console", console),
        one if *one == file("sent", SENT) => file("sent", sent),
        other => other.clone(),
    };
    arguments.iter().map(replace).collect()
}

/// The longest turn in virtual nanoseconds; none with one CPU, or if turns have no bound.
pub fn turn_ns(architecture: Architecture, cpus: u16) -> Option<u64> {
    let is_bounded = cpus > 1 && architecture == Architecture::X86_64;
    is_bounded.then_some(u64::from(TURN_US) * 1_000)
}

/// Names of files in the directory that the emulator runs in.
pub(crate) const CONSOLE: &str = "console.log";
pub(crate) const SENT: &str = "sent.partial";

/// Everything that the emulator can do, without the fast string instructions: QEMU counts each byte of
/// `rep stosb` as an instruction, so a page would take 4 µs to clear. Without them kernels move eight
/// bytes at a time: 0.5 µs, close to the 0.4 µs of a Cortex-A76 (`lab/src/cost/known.rs`).
const CPU: &str = "max,-erms,-fsrm";

/// Skips the kernel's tests of its ciphers at boot, which take as many instructions as the rest of
/// its start. A module's parameter: a kernel without these tests ignores it.
const NO_SELF_TESTS: &str = "cryptomgr.notests";

/// The exponent of a rate in the emulator's arguments: 2^shift ns for each instruction.
///
/// # Errors
/// [`LabError::Rate`] for anything but 1, 2, 4 … 1024.
pub fn shift_of(ns_per_instruction: u32) -> Result<u32> {
    match ns_per_instruction {
        ns if ns.is_power_of_two() && ns <= 1024 => Ok(ns.trailing_zeros()),
        ns => Err(LabError::Rate { ns }),
    }
}

/// Parameters reserved for the laboratory: with another console, end or first process nothing would
/// be sent home, or the order would be ignored.
const OF_THE_LABORATORY: [&str; 5] = ["rdinit", "init", "console", "panic", "--"];

/// The argument after `name` in an emulator's command line.
pub(crate) fn argument<'a>(arguments: &'a [String], name: &str) -> Option<&'a str> {
    let at = arguments.iter().position(|word| word == name)?;
    arguments.get(at + 1).map(String::as_str)
}

/// The kernel's parameters in `text`.
///
/// # Errors
/// [`LabError::Parameter`] for one of the laboratory's own.
pub fn parameters(text: &str) -> Result<Vec<String>> {
    let words = text.split_whitespace().map(|word| {
        let name = word.split('=').next().unwrap_or(word);
        if OF_THE_LABORATORY.contains(&name) {
            Err(LabError::Parameter { word: word.into() })
        } else {
            Ok(word.to_owned())
        }
    });
    words.collect()
}

impl Machine {
    /// The emulator's arguments; it writes the console and the sent files to its working directory.
    ///
    /// # Errors
    /// As [`shift_of`].
    pub fn arguments(&self, kernel: &Path, initramfs: &Path) -> Result<Vec<String>> {
        let shift = shift_of(self.ns_per_instruction)?;
        let mut cpus = self.cpus.to_string();
        cpus += &self.topology.map(Topology::of_smp).unwrap_or_default();
        let one_at_a_time = if self.cpus == 1 { ONE_AT_A_TIME } else { "" };
        let turns = format!("none,id=turns,timer-period={TURN_US}");
        let port = format!("isa-debugcon,iobase={SEND_PORT:#x},chardev=sent");
        let sent = format!("file,id=sent,path={SENT}");
        let mut of_machine = match self.architecture {
            Architecture::X86_64 => vec![["-cpu", CPU], ["-chardev", &sent], ["-device", &port]],
            // No random numbers of the CPU's own: it has no such instruction.
            Architecture::Aarch64 => {
                vec![["-machine", "virt,gic-version=3"], ["-cpu", "cortex-a76"]]
            }
            // This machine doesn't support the Cortex-A8 of a BeagleBone; the A7 executes the same
            // instructions and has its own timer.
            Architecture::Armv7 => vec![["-machine", "virt"], ["-cpu", "cortex-a7"]],
        };
        if turn_ns(self.architecture, self.cpus).is_some() {
            of_machine.extend([
                ["-audiodev", &turns],
                ["-machine", "pc,pcspk-audiodev=turns"],
            ]);
        }
        let mut line = format!(
            "console={} quiet panic=-1 nokaslr {} {NO_SELF_TESTS} ",
            self.architecture.console(),
            ENTROPY.join(" ")
        );
        if self.architecture == Architecture::X86_64 {
            line += "tsc=reliable ";
        }
        for parameter in &self.parameters {
            line += parameter;
            line.push(' ');
        }
        // The arguments of the first process follow the two dashes.
        line += &format!("rdinit={PROGRAM_PATH} -- internal lab-guest");
        let arguments = [
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-display",
            "none",
            "-net",
            "none",
            "-accel",
            "tcg",
            "-icount",
            &format!("shift={shift},sleep=off{one_at_a_time}"),
            "-rtc",
            "clock=vm,base=2026-01-01",
            "-seed",
            &self.seed.to_string(),
            "-smp",
            &cpus,
            "-m",
            &self.memory_mib.to_string(),
            "-chardev",
            &format!("file,id=console,path={CONSOLE}"),
            "-serial",
            "chardev:console",
            "-kernel",
            &kernel.display().to_string(),
            "-initrd",
            &initramfs.display().to_string(),
            "-append",
            &line,
        ];
        let all = arguments.iter().chain(of_machine.iter().flatten());
        let nodes = self.topology.map(|it| it.nodes(self.memory_mib));
        let all = all.map(|&argument| argument.to_owned());
        Ok(all.chain(nodes.unwrap_or_default()).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_powers_of_two() {
        assert_eq!(shift_of(1).unwrap(), 0);
        assert_eq!(shift_of(8).unwrap(), 3);
        for ns in [0, 3, 2048] {
            assert!(shift_of(ns).is_err(), "{ns}");
        }
    }

    #[test]
    fn parameters_that_start_the_guest_are_refused_and_not_passed_over() {
        let given = parameters(" preempt=full  threadirqs initcall_debug").unwrap();
        assert_eq!(given, ["preempt=full", "threadirqs", "initcall_debug"]);
        for word in ["rdinit=/bin/sh", "init=/x", "console=tty0", "panic=0", "--"] {
            let said = parameters(&format!("quiet {word}"))
                .unwrap_err()
                .to_string();
            assert!(said.starts_with(&format!("{word}: ")), "{said}");
        }
    }

    #[test]
    fn the_guest_has_nothing_of_the_host_but_its_files() {
        let machine = Machine {
            architecture: Architecture::X86_64,
            ns_per_instruction: 2,
            seed: 7,
            cpus: 1,
            topology: None,
            memory_mib: 512,
            parameters: vec!["preempt=full".into(), "threadirqs".into()],
        };
        let line = |machine: &Machine| {
            let arguments = machine.arguments(Path::new("/k"), Path::new("/i"));
            arguments.unwrap().join(" ")
        };
        let two = line(&Machine {
            cpus: 2,
            ..machine.clone()
        });
        assert!(
            two.contains("-smp 2") && two.contains("timer-period=2") && !two.contains("rr="),
            "{two}"
        );
        let nodes = line(&Machine {
            cpus: 4,
            topology: "sockets=2,cores=2".parse().ok(),
            ..machine.clone()
        });
        assert!(
            nodes.contains("-smp 4,sockets=2,cores=2,threads=1")
                && nodes.ends_with("-numa node,nodeid=1,cpus=2-3,memdev=node1"),
            "{nodes}"
        );
        let arm = line(&Machine {
            architecture: Architecture::Aarch64,
            ..machine.clone()
        });
        assert!(
            arm.contains("-machine virt") && arm.contains("console=ttyAMA0"),
            "{arm}"
        );
        assert!(!arm.contains("isa-"), "{arm}");
        let line = line(&machine);
        assert!(!line.contains("timer-period"), "{line}");
        for part in [
            "-icount shift=1,sleep=off,rr=record,rrfile=/dev/null",
            "-rtc clock=vm,base=2026-01-01",
            "-cpu max,-erms,-fsrm",
            "-seed 7",
            "console=ttyS0",
            "tsc=reliable preempt=full threadirqs rdinit=/bin/wakepath -- internal lab-guest",
        ] {
            assert!(line.contains(part), "{part} in {line}");
        }
    }
}
