//! Device interrupts: names, allowed CPUs, actual CPUs, counts. The per-CPU ones without a number
//! (timer, rescheduling) are in the machine's facts.

use serde::Serialize;
use std::collections::BTreeMap;
use wakepath_machine::{Reading, Root};
use wakepath_timeline::CpuSet;

/// One interrupt of a device.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct InterruptLine {
    /// Its number, which changes when devices are plugged.
    pub number: u32,
    /// Who takes it, as `/proc/interrupts` ends its line: chip, kind and actions.
    pub action: String,
    /// Taken so far, by CPU.
    pub taken: BTreeMap<u16, u64>,
    /// The CPUs that were requested for it.
    pub requested: Reading<CpuSet>,
    /// Where the kernel sends it.
    pub effective: Reading<CpuSet>,
}

/// All of them.
#[derive(Debug, Clone, Default)]
pub struct InterruptLines {
    /// In the order of their numbers.
    pub lines: Vec<InterruptLine>,
    /// Whether `/proc/interrupts` could be read.
    pub source: Reading<()>,
}

impl InterruptLines {
    /// Reads `/proc/interrupts` and `/proc/irq`.
    pub fn read(root: &Root) -> Self {
        let parsed = root.text("/proc/interrupts").map(|text| parse(&text));
        let lines = parsed.known().cloned().unwrap_or_default();
        let list = |number: u32, file: &str| root.cpus(&format!("/proc/irq/{number}/{file}"));
        Self {
            lines: lines
                .into_iter()
                .map(|mut line| {
                    line.requested = list(line.number, "smp_affinity_list");
                    line.effective = list(line.number, "effective_affinity_list");
                    line
                })
                .collect(),
            source: parsed.map(|_| ()),
        }
    }

    /// How many interrupts of each number a set of CPUs took since `earlier`.
    pub fn taken_since(&self, earlier: &Self, cpus: &CpuSet) -> BTreeMap<u32, u64> {
        let on = |line: &InterruptLine| -> u64 {
            cpus.numbers()
                .iter()
                .filter_map(|cpu| line.taken.get(cpu))
                .fold(0, |sum, &count| sum.saturating_add(count))
        };
        self.lines
            .iter()
            .filter_map(|line| {
                let before = earlier
                    .lines
                    .iter()
                    .find(|other| other.number == line.number && other.action == line.action)?;
                let count = on(line).saturating_sub(on(before));
                (count > 0).then_some((line.number, count))
            })
            .collect()
    }
}

impl InterruptLines {
    /// From the text of `/proc/interrupts` alone, without where the interrupts go.
    pub fn parse(text: &str) -> Vec<InterruptLine> {
        parse(text)
    }
}

/// The numbered lines of `/proc/interrupts`. Its first line names the CPUs that are online.
fn parse(text: &str) -> Vec<InterruptLine> {
    let mut lines = text.lines();
    let cpus: Vec<u16> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|word| word.strip_prefix("CPU")?.parse().ok())
        .collect();
    lines
        .filter_map(|line| {
            let (number, rest) = line.split_once(':')?;
            let number = number.trim().parse().ok()?;
            let mut words = rest.split_whitespace().peekable();
            let mut taken = BTreeMap::new();
            for &cpu in &cpus {
                let count = words.peek()?.parse().ok()?;
                words.next();
                taken.insert(cpu, count);
            }
            let action = words.collect::<Vec<_>>().join(" ");
            Some(InterruptLine {
                number,
                action,
                taken,
                requested: Reading::NotRead,
                effective: Reading::NotRead,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "           CPU0       CPU1\n 36:      5   152368 PCI-MSIX-0000:00:02.0   \
                        1-edge      virtio1-req.0\nLOC:  1  2 Local timer interrupts\nERR: 0\n";

    #[test]
    fn a_line_is_split_into_counts_and_who_takes_it() {
        let lines = parse(TEXT);
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].taken[&1], 152_368);
        assert_eq!(
            lines[0].action,
            "PCI-MSIX-0000:00:02.0 1-edge virtio1-req.0"
        );
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_the_parser_panic(text in "[ -~\n]{0,300}") {
            let _ = parse(&text);
        }
    }
}
