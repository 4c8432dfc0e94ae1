//! The cost model of virtual time.

use serde::{Deserialize, Serialize};
use std::fmt;
use wakepath_archive::VirtualTime;

/// What virtual time counts for each instruction: the cost model of all figures of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostModel {
    /// Virtual nanoseconds of an instruction.
    pub ns_per_instruction: u32,
    /// Cost of a string instruction.
    pub strings: StringCost,
}

/// Instructions counted for a string instruction, which copies or clears many bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StringCost {
    /// An instruction for each byte: guests with ERMS and FSRM.
    EachByte,
    /// An instruction for 8 bytes: guests without.
    EightBytes,
    /// The guest's CPU has none.
    NoSuchInstructions,
    /// The emulator is not recorded.
    Unknown,
}

impl From<&VirtualTime> for CostModel {
    fn from(time: &VirtualTime) -> Self {
        let arguments = time.emulator.as_ref().map(|one| one.arguments.as_slice());
        Self {
            ns_per_instruction: time.ns_per_instruction,
            strings: match arguments {
                Some(arguments) if !is_x86(arguments) => StringCost::NoSuchInstructions,
                Some(arguments) if has_fast_strings(arguments) => StringCost::EachByte,
                Some(_) => StringCost::EightBytes,
                None => StringCost::Unknown,
            },
        }
    }
}

impl fmt::Display for CostModel {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        let strings = match self.strings {
            StringCost::EachByte => {
                ", each byte of a string instruction one (ERMS, FSRM): a cleared page is 4096"
            }
            StringCost::EightBytes => {
                ", string instructions 8 bytes each (no ERMS, no FSRM): a cleared page is 512"
            }
            StringCost::NoSuchInstructions => "",
            StringCost::Unknown => ", string instructions unknown",
        };
        write!(
            text,
            "1 instruction = {} ns{strings}",
            self.ns_per_instruction
        )
    }
}

/// Whether the emulator's CPU has string instructions, by the emulator's name.
fn is_x86(arguments: &[String]) -> bool {
    let program = arguments.first().map_or("", String::as_str);
    program.ends_with("x86_64") || program.ends_with("i386")
}

/// Whether kernels copy and clear byte by byte on the emulator's CPU.
fn has_fast_strings(arguments: &[String]) -> bool {
    let cpu = arguments.iter().position(|word| word == "-cpu");
    let cpu = cpu.and_then(|at| arguments.get(at + 1));
    let lacks = |name| cpu.is_some_and(|cpu| cpu.split(',').any(|word| word == name));
    !(lacks("-erms") && lacks("-fsrm"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_archive::Emulator;

    #[test]
    fn the_cost_model_says_what_a_string_instruction_counts() {
        let of = |arguments: Option<&[&str]>| {
            let words = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
            let time = VirtualTime {
                ns_per_instruction: 2,
                seed: 1,
                cpus: 1,
                turn_ns: None,
                emulator: arguments.map(|arguments| Emulator {
                    version: String::new(),
                    arguments: words(arguments),
                    kernel: String::new(),
                    kernel_sha256: String::new(),
                    kernel_package: None,
                    initramfs_sha256: String::new(),
                    before: Vec::new(),
                    added: Default::default(),
                    started: String::new(),
                }),
            };
            CostModel::from(&time).to_string()
        };
        let intel = "/usr/bin/qemu-system-x86_64";
        let slow = of(Some(&[intel, "-cpu", "max,-erms,-fsrm"]));
        assert!(slow.starts_with("1 instruction = 2 ns, string instructions 8 bytes each"));
        for fast in ["max", "max,-erms"] {
            assert!(
                of(Some(&[intel, "-cpu", fast])).contains("each byte"),
                "{fast}"
            );
        }
        let arm = of(Some(&["qemu-system-aarch64", "-cpu", "cortex-a76"]));
        assert_eq!(arm, "1 instruction = 2 ns");
        assert!(of(None).ends_with("unknown"));
    }
}
