//! Number of interrupts on each CPU since boot, without their devices.

use serde::{Deserialize, Serialize};

use crate::{Misread, Reading, Root};

/// One CPU's interrupts since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CpuInterrupts {
    /// The CPU.
    pub cpu: u16,
    /// All of them, timer and inter-processor interrupts included.
    pub total: u64,
    /// The local timer's (`LOC`, x86); zero elsewhere.
    pub local_timer: u64,
    /// Non-maskable ones (`NMI`); zero if the kernel does not count them.
    pub not_maskable: u64,
}

pub(super) fn read(root: &Root) -> Reading<Vec<CpuInterrupts>> {
    root.parsed("/proc/interrupts", parse)
}

fn parse(text: &str) -> Result<Vec<CpuInterrupts>, Misread> {
    let mut lines = text.lines();
    let mut cpus: Vec<CpuInterrupts> = lines
        .next()
        .unwrap_or("")
        .split_whitespace()
        .map(|word| {
            let cpu = word
                .strip_prefix("CPU")
                .and_then(|number| number.parse().ok());
            cpu.map(|cpu| CpuInterrupts {
                cpu,
                ..CpuInterrupts::default()
            })
            .ok_or(Misread::NotOfForm("`CPU0 CPU1 …` in the first line"))
        })
        .collect::<Result<_, _>>()?;
    if cpus.is_empty() {
        return Err(Misread::lacks("CPU in the first line"));
    }
    for line in lines {
        let Some((label, counts)) = line.split_once(':') else {
            continue;
        };
        // `ERR` and `MIS` hold one count for the machine, not one for CPU 0.
        if matches!(label.trim(), "ERR" | "MIS" | "Err") {
            continue;
        }
        for (cpu, word) in cpus.iter_mut().zip(counts.split_whitespace()) {
            let Ok(count) = word.parse::<u64>() else {
                break;
            };
            cpu.total = cpu.total.saturating_add(count);
            match label.trim() {
                "LOC" => cpu.local_timer = count,
                "NMI" => cpu.not_maskable = count,
                _ => {}
            }
        }
    }
    Ok(cpus)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn columns_are_summed_per_cpu_without_the_error_lines() {
        let text = "           CPU0       CPU2\n  0:  5  0  IO-APIC  2-edge  timer\n\
                    LOC:  100  200  Local timer interrupts\nNMI: 1 2 Non-maskable\nERR:  7\n";
        let cpus = parse(text).unwrap();
        assert_eq!(
            (cpus[0].cpu, cpus[0].total, cpus[0].local_timer),
            (0, 106, 100)
        );
        assert_eq!(
            (cpus[1].cpu, cpus[1].total, cpus[1].not_maskable),
            (2, 202, 2)
        );
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_or_refused(text in "(CPU[0-9]{0,12}|LOC:|[0-9]{1,21}|[ :\n])*") {
            let _ = parse(&text);
        }
    }
}
