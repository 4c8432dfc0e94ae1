//! A fold's result as the run's record has it.

use wakepath_archive::{KernelSections, SectionFound, SectionInterrupt, SectionKind};
use wakepath_schedulability::sections::{Fold, Variable, is_interrupt};

use super::reading::Readings;
use crate::symbols::Symbols;

/// Number of longest sections reported, one per code location.
const TOLD: usize = 8;

pub(super) fn told(fold: &Fold, symbols: &mut Symbols, readings: &Readings) -> KernelSections {
    let kind = |variable: &Variable| SectionKind {
        longest_ns: variable.most(),
        count: variable.count,
    };
    let mut name = |address: u64| match address {
        0 => "a halt".to_owned(),
        address if is_interrupt(address) => "an interrupt".to_owned(),
        address => symbols.name(address).to_string(),
    };
    let mut longest: Vec<SectionFound> = Vec::new();
    for (variable, stretch) in fold.longest() {
        let began = name(stretch.began);
        // A function may begin several.
        match longest.iter_mut().find(|known| known.began == began) {
            Some(known) => known.count += variable.count,
            None => longest.push(SectionFound {
                began,
                ended: name(stretch.ended),
                longest_ns: stretch.net(),
                count: variable.count,
            }),
        }
    }
    longest.truncate(TOLD);
    let interrupts = fold.interrupts.iter();
    let mut interrupts: Vec<SectionInterrupt> = interrupts
        .map(|(number, found)| SectionInterrupt {
            name: readings.name(*number),
            longest_ns: found.variable.most(),
            shortest_distance_ns: found.shortest_distance_ns,
            count: found.variable.count,
        })
        .collect();
    interrupts.sort_unstable_by(|a, b| (b.longest_ns, &a.name).cmp(&(a.longest_ns, &b.name)));
    KernelSections {
        events: fold.events,
        preemption_off: kind(&fold.off),
        before_scheduler: Some(kind(&fold.before_scheduler)),
        scheduler: Some(kind(&fold.scheduler)),
        switch: Some(kind(&fold.switch)),
        own_interrupt_ns: fold.own_interrupt_ns,
        after_scheduler_ns: fold.back_ns,
        interference_ns: fold.composition().interference,
        longest,
        interrupts,
        ..KernelSections::default()
    }
}
