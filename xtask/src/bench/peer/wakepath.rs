//! wakepath on the given terms.

use super::thread::Watch;
use super::{Figures, PERIOD_US, Terms};
use crate::bench::measured;
use std::path::Path;

/// Runs it to its end, with its run in `directory`.
pub fn run(program: &Path, terms: Terms, directory: &Path) -> Result<Figures, String> {
    let child = measured::start(program, &scenario(terms), directory)?;
    let watch = Watch::start(child.id(), terms);
    let measured = measured::finish(child)?;
    if let Some(reasons) = measured.invalid {
        return Err(format!("wakepath's run is not valid: {reasons}"));
    }
    let watched = watch.finish()?;
    Ok(Figures {
        median: measured.median,
        mean: measured.mean,
        p99: measured.p99,
        max: measured.max,
        executed: usize::try_from(measured.executed).unwrap_or(usize::MAX),
        cpu_time: watched.cpu_time_each,
        page_faults: Some(measured.page_faults),
    })
}

fn scenario(terms: Terms) -> String {
    let Terms {
        policy,
        cpu,
        cycles,
        warm_up,
    } = terms;
    let policy = policy.name();
    let warm_up_ms = warm_up * PERIOD_US / 1000;
    format!(
        "name = \"peer\"\nperiod = \"{PERIOD_US} us\"\ncycles = {cycles}\n\
         warm-up = \"{warm_up_ms} ms\"\ncpu = {cpu}\npolicies = [\"{policy}\"]\n\
         timer-slack = \"leave\"\ncpu-dma-latency = \"0 us\"\n\n[criterion]\n\
         deadline = \"1 period\"\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::peer::Policy;
    use wakepath_scenario::{KnownCpus, Scenario};

    #[test]
    fn the_scenarios_read() {
        for policy in [Policy::Fifo, Policy::Other] {
            let text = scenario(Terms {
                policy,
                cpu: 1,
                cycles: 5000,
                warm_up: 500,
            });
            let read = Scenario::parse(&text, "peer.toml", &KnownCpus::first(2));
            assert_eq!(read.expect("it reads").cycles, 5000);
        }
    }
}
