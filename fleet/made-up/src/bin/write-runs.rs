//! Writes generated runs: `write-runs DIRECTORY RUNS CYCLES`.
//!
//! For benchmarks of an archive.

use std::path::PathBuf;
use wakepath_fleet_made_up::MadeUp;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, runs, cycles] = &arguments[..] else {
        panic!("write-runs DIRECTORY RUNS CYCLES");
    };
    let (runs, cycles): (u64, u64) = (runs.parse().unwrap(), cycles.parse().unwrap());
    for number in 0..runs {
        let run = MadeUp {
            cycles,
            ..MadeUp::number(number)
        };
        run.write(&PathBuf::from(directory).join(&run.run_id));
    }
}
