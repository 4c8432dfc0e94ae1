//! What takes a CPU from a thread that never sleeps, measured by the kernel itself: its `osnoise`
//! tracer (`Documentation/trace/osnoise-tracer.rst`). A second opinion from within the kernel, taken
//! between segments; no part of a verdict.

use std::fs;

use wakepath_archive::KernelNoise;
use wakepath_rt::attributes;
use wakepath_timeline::Policy;

use crate::kernel_tracer::{KernelTracer, sleep_for};
use crate::tracefs::Tracefs;

/// The tracer's thread looks for half of each period, so that the other half is left to everybody
/// else on its CPU: below what real-time throttling allows.
const PERIOD_US: u64 = 500_000;
const RUNTIME_US: u64 = PERIOD_US / 2;
/// That of timerlat's thread. By itself it is an ordinary one, from which every load takes its share.
const PRIORITY: u8 = 95;

/// Measures on one CPU; the error is why the kernel has no such figures, in one line.
pub(crate) fn measure(tracefs: &Tracefs, cpu: u16, for_ns: u64) -> Result<KernelNoise, String> {
    // Neither may pass the other on the way: the runtime goes down first.
    let settings = [
        ("osnoise/runtime_us", RUNTIME_US.to_string()),
        ("osnoise/period_us", PERIOD_US.to_string()),
    ];
    let tracer = KernelTracer::start(tracefs, "osnoise", cpu, &settings)?;
    raise(cpu)?;
    sleep_for(for_ns);
    let found = parse(&tracer.stop()?);
    match found.looked_ns {
        0 => Err("the osnoise tracer measured nothing".into()),
        _ => Ok(KernelNoise { cpu, ..found }),
    }
}

/// Gives the tracer's thread of this CPU its priority.
fn raise(cpu: u16) -> Result<(), String> {
    let name = format!("osnoise/{cpu}");
    let processes = fs::read_dir("/proc").map_err(|error| format!("/proc: {error}"))?;
    let is_it = |pid: &i32| {
        let comm = fs::read_to_string(format!("/proc/{pid}/comm"));
        comm.is_ok_and(|comm| comm.trim_end() == name)
    };
    let mut numbers = processes
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let thread = numbers
        .find(is_it)
        .ok_or_else(|| format!("the thread {name} of the osnoise tracer is not there"))?;
    let priority = PRIORITY;
    attributes::set(thread, Policy::Fifo { priority }).map_err(|error| format!("{name}: {error}"))
}

/// Reads osnoise's lines: behind the time stamp the microseconds looked, those of noise, the per cent
/// left, the largest noise, and how often hardware, NMIs, interrupts, SoftIRQs and threads
/// interfered. Other lines are passed over. Pure.
fn parse(text: &str) -> KernelNoise {
    let mut sum = KernelNoise::default();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        // The stamp ends with a colon; a thread's name may hold one, but not a number before it.
        let mut words = line.split_whitespace();
        let is_stamp = |word: &str| {
            let number = word.strip_suffix(':').map(str::parse::<f64>);
            number.is_some_and(|number| number.is_ok())
        };
        if !words.any(is_stamp) {
            continue;
        }
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
        assert_eq!(parse(DOCUMENTED), expected);
    }

    #[test]
    fn lines_of_anything_else_are_passed_over() {
        let text = "x-1 [000] .... 81.6: 1 2 3\n81.6:\n : : 5\n\0\n\
            x-1 [000] .... 81.6: 1000000 190 99.9 9 18 0 1007 18 1 7\n\
            x-1 [000] .... 81.6: 1000000 -190 99.9 9 18 0 1007 18 1\n";
        assert_eq!(parse(text), KernelNoise::default());
    }
}
