//! Cost of recording kernel events to a 1 kHz FIFO loop.
//!
//! wakepath's probe, a plain instance of tracefs and perf record the same events. They take turns
//! with the untraced loop, so that changes of the machine affect all.

mod figures;
mod instance;
mod passages;
mod tracer;

use super::{highest_cpu, measured, program};
use crate::arguments::Arguments;
use crate::place;
use figures::{Round, report};
use passages::Passages;
use std::path::Path;
use std::process::ExitCode;
use tracer::{ALL, Tracer};

/// How much is measured.
#[derive(Debug, Clone, Copy)]
struct Extent {
    rounds: usize,
    seconds: u64,
    cpu: usize,
}

/// The benchmark with its tables. Fails when a target is missed or events were lost.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let extent = Extent {
        rounds: arguments.value("--rounds", 6)?,
        seconds: arguments.value("--seconds", 3)?,
        cpu: arguments.value("--cpu", highest_cpu()?)?,
    };
    let program = program(&mut arguments)?;
    arguments.end()?;
    let mut tracers = Vec::new();
    for tracer in ALL {
        match tracer.missing() {
            Some(why) => println!("not run: {why}"),
            None => tracers.push(tracer),
        }
    }
    let directory = place::scratch("probe")?;
    let mut conditions = Vec::new();
    for loaded in [false, true] {
        let mut rounds = Vec::new();
        for round in 0..extent.rounds {
            let mut turned: Vec<usize> = (0..tracers.len()).collect();
            turned.rotate_left(round % tracers.len());
            let mut found = vec![None; tracers.len()];
            for place in turned {
                let tracer = tracers[place];
                let scratch = directory.join(format!("{loaded}-{round}-{place}"));
                match one(tracer, &program, extent, loaded, &scratch) {
                    Ok(measured) => found[place] = Some(measured),
                    // If one tracer can't run here, the others still can.
                    Err(why) => eprintln!("{}: {why}", tracer.name()),
                }
                let _ = std::fs::remove_dir_all(&scratch);
                eprint!(".");
            }
            eprintln!(
                "{} of {} rounds, loaded: {loaded}",
                round + 1,
                extent.rounds
            );
            rounds.push(found);
        }
        conditions.push(rounds);
    }
    let _ = std::fs::remove_dir_all(&directory);
    println!(
        "FIFO 80 at 1 kHz on CPU {}, {} rounds of {} s with each tracer in turn",
        extent.cpu, extent.rounds, extent.seconds
    );
    let (text, missed) = report(&tracers, &conditions[0], &conditions[1]);
    print!("{text}");
    Ok(if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Runs the loop under one tracer.
fn one(
    tracer: Tracer,
    program: &Path,
    extent: Extent,
    loaded: bool,
    directory: &Path,
) -> Result<Round, String> {
    let running = tracer.start(program, extent.cpu, &directory.join("trace"))?;
    let since = std::time::Instant::now();
    // Runs entirely within the recording, so that the shortest passage is a traced one.
    let load = loaded.then(|| Passages::start(extent.cpu)).transpose()?;
    let measured = measured::start(program, &scenario(extent), &directory.join("loop"))
        .and_then(measured::finish);
    let passed = load.map(Passages::finish).transpose()?;
    let seconds = since.elapsed().as_secs_f64();
    let traced = running.finish()?;
    let measured = measured?;
    if let Some(reasons) = measured.invalid {
        return Err(format!("the loop's run is not valid: {reasons}"));
    }
    Ok(Round {
        median_ns: measured.median,
        p999_ns: measured.p999,
        traced,
        seconds,
        passed,
    })
}

fn scenario(extent: Extent) -> String {
    let Extent { seconds, cpu, .. } = extent;
    format!(
        "name = \"probe\"\nrate = \"1 kHz\"\nduration = \"{seconds} s\"\nwarm-up = \"200 ms\"\n\
         cpu = {cpu}\npolicies = [\"FIFO 80\"]\n\n[criterion]\ndeadline = \"1 period\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::{KnownCpus, Scenario};

    #[test]
    fn the_scenario_reads() {
        let extent = Extent {
            rounds: 1,
            seconds: 3,
            cpu: 1,
        };
        let read = Scenario::parse(&scenario(extent), "probe.toml", &KnownCpus::first(2));
        assert_eq!(read.expect("it reads").cycles, 3000);
    }
}
