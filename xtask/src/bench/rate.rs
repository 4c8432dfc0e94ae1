//! The highest rate that one CPU's loop keeps without a skipped period on an otherwise idle machine.

use super::measured::{self, Measured};
use super::{highest_cpu, program};
use crate::arguments::Arguments;
use crate::{place, table};
use std::process::ExitCode;

/// Rates in kHz.
const RATES: [u64; 11] = [1, 5, 10, 15, 20, 25, 30, 40, 50, 75, 100];

/// Increases the rate in steps and prints the results. The exit code shows whether 20 kHz is
/// sustained.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let runs: usize = arguments.value("--runs", 3)?;
    let seconds: u64 = arguments.value("--seconds", 3)?;
    let cpu: usize = arguments.value("--cpu", highest_cpu()?)?;
    let program = program(&mut arguments)?;
    arguments.end()?;
    let directory = place::scratch("rate")?;
    println!(
        "FIFO 99 on CPU {cpu}, {runs} runs of {seconds} s at each rate, nothing else started; the \
         hypervisor's other guests and this machine's own work are not under control."
    );
    let mut rows = vec![row([
        "rate",
        "run",
        "scheduled",
        "executed",
        "skipped",
        "median",
        "max",
        "",
    ])];
    let (mut always, mut once) = (0, 0);
    for rate in RATES {
        let mut kept = 0;
        for run in 1..=runs {
            let scenario = scenario(rate, seconds, cpu);
            let directory = directory.join(format!("{rate}-{run}"));
            let found = measured::finish(measured::start(&program, &scenario, &directory)?)?;
            kept += usize::from(found.skipped == 0 && found.invalid.is_none());
            rows.push(shown(rate, run, &found));
        }
        if kept == runs && always_so_far(always, rate) {
            always = rate;
        }
        if kept > 0 {
            once = rate;
        }
    }
    print!("{}", table::aligned(&rows, &[0, 1, 2, 3, 4, 5, 6]));
    println!(
        "Kept without a skipped period in every run, and so at every lower rate: {always} kHz"
    );
    println!("Kept in at least one run: {once} kHz");
    let _ = std::fs::remove_dir_all(&directory);
    Ok(if always >= 20 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Whether `rate` is the next one after `always`: a rate above one that was not kept doesn't count.
fn always_so_far(always: u64, rate: u64) -> bool {
    let below = RATES
        .iter()
        .rev()
        .find(|one| **one < rate)
        .copied()
        .unwrap_or(0);
    always == below
}

fn scenario(kilohertz: u64, seconds: u64, cpu: usize) -> String {
    format!(
        "name = \"rate-{kilohertz}\"\nrate = \"{kilohertz} kHz\"\nduration = \"{seconds} s\"\n\
         warm-up = \"200 ms\"\ncpu = {cpu}\npolicies = [\"FIFO 99\"]\n\
         cpu-dma-latency = \"0 us\"\n\n[criterion]\ndeadline = \"1 period\"\n"
    )
}

fn shown(rate: u64, run: usize, found: &Measured) -> Vec<String> {
    let microseconds = |value: f64| format!("{:.1} µs", value / 1e3);
    row([
        &format!("{rate} kHz"),
        &run.to_string(),
        &found.scheduled.to_string(),
        &found.executed.to_string(),
        &found.skipped.to_string(),
        &microseconds(found.median),
        &microseconds(found.max),
        found.invalid.as_deref().unwrap_or(""),
    ])
}

fn row<const COLUMNS: usize>(cells: [&str; COLUMNS]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::{KnownCpus, Scenario};

    #[test]
    fn every_scenario_reads() {
        for rate in RATES {
            let text = scenario(rate, 3, 0);
            let read = Scenario::parse(&text, "rate.toml", &KnownCpus::first(1));
            assert!(read.is_ok(), "{rate} kHz: {:?}", read.err());
        }
    }

    #[test]
    fn a_rate_above_a_lost_one_does_not_count() {
        assert!(always_so_far(0, 1));
        assert!(always_so_far(10, 15));
        assert!(!always_so_far(10, 20));
    }
}
