//! Kinds of CPUs: name, stepping and microcode.
//!
//! A chip with fast and slow cores has two.

use serde::{Deserialize, Serialize};

use crate::Misread;
use wakepath_timeline::CpuSet;

/// One kind of CPU and its CPUs. Values that this architecture lacks are empty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuModel {
    /// The CPUs of this kind that were online.
    pub cpus: CpuSet,
    /// The vendor's name (x86), or the core's name by its part number (Arm).
    pub name: Option<String>,
    /// `vendor_id` (x86) or `CPU implementer` (Arm).
    pub vendor: Option<String>,
    /// Family, model and stepping (x86), or part, variant and revision (Arm).
    pub revision: Option<String>,
    /// The microcode loaded (x86).
    pub microcode: Option<String>,
    /// Whether the CPU reports a hypervisor (x86).
    pub hypervisor: bool,
}

/// The kinds in `/proc/cpuinfo`, in the order of their first CPU.
pub(super) fn parse(text: &str) -> Result<Vec<CpuModel>, Misread> {
    let mut kinds: Vec<(CpuModel, Vec<u16>)> = Vec::new();
    // 32-bit Arm kernels before 3.8 print shared lines once, after all processors; every kernel
    // since prints one block per processor.
    for block in text.split("\n\n") {
        let field = |name: &str| {
            block.lines().find_map(|line| {
                let (found, value) = line.split_once(':')?;
                (found.trim() == name).then(|| value.trim().to_owned())
            })
        };
        let Some(cpu) = field("processor").and_then(|number| number.parse::<u16>().ok()) else {
            continue;
        };
        let numbers = |names: [&str; 3]| {
            let found: Option<Vec<String>> = names.into_iter().map(field).collect();
            found.map(|parts| parts.join(" "))
        };
        let implementer = field("CPU implementer");
        let arm_name = implementer
            .as_deref()
            .and_then(|maker| arm_core(maker, field("CPU part")?.as_str()))
            .map(str::to_owned);
        let flags = field("flags").unwrap_or_default();
        let kind = CpuModel {
            cpus: CpuSet::default(),
            name: arm_name.or_else(|| field("model name")),
            revision: numbers(["cpu family", "model", "stepping"])
                .or_else(|| numbers(["CPU part", "CPU variant", "CPU revision"])),
            vendor: field("vendor_id").or(implementer),
            microcode: field("microcode"),
            hypervisor: flags.split_whitespace().any(|flag| flag == "hypervisor"),
        };
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, cpus)) => cpus.push(cpu),
            None => kinds.push((kind, vec![cpu])),
        }
    }
    if kinds.is_empty() {
        return Err(Misread::lacks("`processor` line"));
    }
    Ok(kinds
        .into_iter()
        .map(|(kind, cpus)| CpuModel {
            cpus: cpus.into_iter().collect(),
            ..kind
        })
        .collect())
}

/// Core names by implementer and part, from the "MIDR_EL1" sections of Arm's and Nvidia's
/// technical reference manuals, for cores found on robots' boards and in servers.
fn arm_core(implementer: &str, part: &str) -> Option<&'static str> {
    Some(match (implementer, part) {
        ("0x41", "0xb76") => "ARM1176",
        ("0x41", "0xc07") => "Cortex-A7",
        ("0x41", "0xc08") => "Cortex-A8",
        ("0x41", "0xc09") => "Cortex-A9",
        ("0x41", "0xc0f") => "Cortex-A15",
        ("0x41", "0xd03") => "Cortex-A53",
        ("0x41", "0xd04") => "Cortex-A35",
        ("0x41", "0xd05") => "Cortex-A55",
        ("0x41", "0xd07") => "Cortex-A57",
        ("0x41", "0xd08") => "Cortex-A72",
        ("0x41", "0xd09") => "Cortex-A73",
        ("0x41", "0xd0a") => "Cortex-A75",
        ("0x41", "0xd0b") => "Cortex-A76",
        ("0x41", "0xd0c") => "Neoverse-N1",
        ("0x41", "0xd40") => "Neoverse-V1",
        ("0x41", "0xd41") => "Cortex-A78",
        ("0x41", "0xd42") => "Cortex-A78AE",
        ("0x41", "0xd49") => "Neoverse-N2",
        ("0x41", "0xd4f") => "Neoverse-V2",
        ("0x4e", "0x003") => "Nvidia Denver 2",
        ("0x4e", "0x004") => "Nvidia Carmel",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fast_and_slow_cores_are_two_kinds() {
        let block = |cpu: u16, part: &str| {
            format!(
                "processor\t: {cpu}\nCPU implementer\t: 0x41\nCPU variant\t: 0x1\n\
                 CPU part\t: {part}\nCPU revision\t: 0\n\n"
            )
        };
        let text = block(0, "0xd05") + &block(1, "0xd05") + &block(2, "0xd0b");
        let kinds = parse(&text).unwrap();
        assert_eq!(kinds.len(), 2);
        assert_eq!(kinds[0].name.as_deref(), Some("Cortex-A55"));
        assert_eq!(kinds[0].cpus.to_string(), "0-1");
        assert_eq!(kinds[1].name.as_deref(), Some("Cortex-A76"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "(processor|model|flags|[a-z:\n\t 0-9]){0,60}") {
            let _ = parse(&text);
        }
    }
}
