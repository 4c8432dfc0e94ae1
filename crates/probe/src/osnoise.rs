//! What takes a CPU from a thread that never sleeps, measured by the kernel itself: its `osnoise`
//! tracer (`Documentation/trace/osnoise-tracer.rst`). A second opinion from within the kernel, taken
//! between segments; no part of a verdict.

use std::fs;
use std::path::Path;

use wakepath_archive::KernelNoise;
use wakepath_rt::{attributes, clock};
use wakepath_timeline::Policy;

use crate::error::{KernelMeasureError, ProbeError};
use crate::kernel_tracer::{KernelTracer, sleep_for};
use crate::tracefs::Tracefs;

/// The tracer's thread looks for half of each period, so that the other half is left to everybody
/// else on its CPU: below what real-time throttling allows.
const PERIOD_US: u64 = 500_000;
const RUNTIME_US: u64 = PERIOD_US / 2;
/// That of timerlat's thread. By itself it is an ordinary one, from which every load takes its share.
const PRIORITY: u8 = 95;

/// Measures on one CPU.
pub(crate) fn measure(
    tracefs: &Tracefs,
    cpu: u16,
    for_ns: u64,
) -> Result<KernelNoise, KernelMeasureError> {
    // Neither may pass the other on the way: the runtime goes down first.
    let settings = [
        ("osnoise/runtime_us", RUNTIME_US.to_string()),
        ("osnoise/period_us", PERIOD_US.to_string()),
    ];
    let tracer = KernelTracer::start(tracefs, "osnoise", cpu, &settings)?;
    raise(cpu)?;
    let raised_us = clock::monotonic_ns() / 1_000;
    // Every load ran during the tracer's time until then: measure one more period in its place.
    sleep_for(for_ns.saturating_add(PERIOD_US * 1_000));
    let found = parse(&tracer.stop()?, raised_us);
    match found.looked_ns {
        0 => Err(KernelMeasureError::Nothing("osnoise")),
        _ => Ok(KernelNoise { cpu, ..found }),
    }
}

/// Gives the tracer's thread of this CPU its priority.
fn raise(cpu: u16) -> Result<(), KernelMeasureError> {
    let name = format!("osnoise/{cpu}");
    let proc = Path::new("/proc");
    let processes = fs::read_dir(proc).map_err(ProbeError::io("list", proc))?;
    let is_it = |pid: &i32| {
        let comm = fs::read(format!("/proc/{pid}/comm"));
        comm.is_ok_and(|comm| comm.trim_ascii_end() == name.as_bytes())
    };
    let mut numbers = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let Some(thread) = numbers.find(is_it) else {
        return Err(KernelMeasureError::NoThread(name));
    };
    let priority = PRIORITY;
    attributes::set(thread, Policy::Fifo { priority }).map_err(|source| {
        KernelMeasureError::NoPriority {
            thread: name,
            source,
        }
    })
}

/// Reads osnoise's lines: after the time stamp the microseconds looked, those of noise, the per cent left,
/// the largest noise, and how often hardware, NMIs, interrupts, SoftIRQs and threads interfered. Skips other
/// lines, and those of times that began before `since_us` on the stamps' clock. Pure.
fn parse(text: &str, since_us: u64) -> KernelNoise {
    let mut sum = KernelNoise::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        // The stamp ends with a colon; a thread's name may hold one, but not a number before it.
        let mut words = line.split_whitespace();
        let Some(ended_us) = words.find_map(|word| stamp_us(word.strip_suffix(':')?)) else {
            continue;
        };
        let fields: Vec<&str> = words.collect();
        let [looked, noise, _left, largest, counts @ ..] = &fields[..] else {
            continue;
        };
        let number = |word: &&str| word.parse::<u64>().ok();
        let times: Option<Vec<u64>> = [looked, noise, largest].map(number).into_iter().collect();
        let counts: Option<Vec<u64>> = counts.iter().map(number).collect();
        if let (Some(&[looked_us, noise_us, largest_us]), Some(&[hw, nmi, irq, softirq, thread])) =
            (times.as_deref(), counts.as_deref())
        {
            if ended_us.saturating_sub(looked_us) < since_us {
                continue;
            }
            let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more);
            add(&mut sum.looked_ns, looked_us.saturating_mul(1_000));
            add(&mut sum.noise_ns, noise_us.saturating_mul(1_000));
            sum.largest_ns = sum.largest_ns.max(largest_us.saturating_mul(1_000));
            add(&mut sum.hardware, hw);
            add(&mut sum.nmis, nmi);
            add(&mut sum.interrupts, irq);
            add(&mut sum.softirqs, softirq);
            add(&mut sum.threads, thread);
        }
    }
    sum
}

/// Microseconds of a stamp in seconds with six decimals.
fn stamp_us(text: &str) -> Option<u64> {
    let (seconds, micros) = text
        .split_once('.')
        .filter(|(_, micros)| micros.len() == 6)?;
    let [seconds, micros] = [seconds, micros].map(str::parse::<u64>);
    seconds
        .ok()?
        .checked_mul(1_000_000)?
        .checked_add(micros.ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of the kernel's documentation, for the first two CPUs.
    const DOCUMENTED: &str = "\
# tracer: osnoise
#           TASK-PID      CPU# ||||   TIMESTAMP    IN US       IN US  AVAILABLE  IN US     HW    NMI    IRQ   SIRQ THREAD
#              | |         |   ||||      |           |             |    |            |      |      |      |      |      |
                   <...>-859     [000] ....    81.637220: 1000000        190  99.98100       9     18      0   1007     18      1
                   <...>-860     [001] ....    81.638154: 1000000        656  99.93440      74     23      0   1006     16      3
";

    #[test]
    fn the_documented_lines_add_up() {
        let expected = KernelNoise {
            looked_ns: 2_000_000_000,
            noise_ns: 846_000,
            largest_ns: 74_000,
            hardware: 41,
            nmis: 0,
            interrupts: 2013,
            softirqs: 34,
            threads: 4,
            ..KernelNoise::default()
        };
        assert_eq!(parse(DOCUMENTED, 0), expected);
    }

    #[test]
    fn what_began_before_the_thread_had_its_priority_does_not_count() {
        // They looked from 80.637220 and 80.638154 s on.
        let found = |since_us| parse(DOCUMENTED, since_us).noise_ns;
        assert_eq!(found(80_637_220), 846_000);
        assert_eq!(found(80_637_221), 656_000);
        assert_eq!(found(80_638_155), 0);
    }

    #[test]
    fn lines_of_anything_else_are_passed_over() {
        let text = "x-1 [000] .... 81.600000: 1 2 3\n81.600000:\n : : 5\n\0\n\
            x-1 [000] .... 81.600000: 1000000 190 99.9 9 18 0 1007 18 1 7\n\
            x-1 [000] .... 81.600000: 1000000 -190 99.9 9 18 0 1007 18 1\n\
            x-1 [000] .... 99999999999999999.600000: 1000000 190 99.9 9 18 0 1007 18 1\n";
        assert_eq!(parse(text, 0), KernelNoise::default());
    }
}
