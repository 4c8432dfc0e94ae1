//! A control loop of 250 Hz in Rust, recorded by `wakepath record -- ./own_loop`.

use std::time::Duration;
use wakepath_rt::{Loop, Preparation, log};

/// A placeholder for reading sensors, computing and writing commands.
fn step(state: f64) -> f64 {
    (0..2_000).fold(state, |state, _| state + (1.0 - state) * 0.001)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for shortfall in Preparation::default().apply()?.shortfalls {
        eprintln!("{shortfall}");
    }
    let mut cycles = Loop::new("control", Duration::from_millis(4))?;
    let compute = cycles.section("compute", Some(Duration::from_micros(200)));
    let mut state = 0.0;
    while let Some(activation) = cycles.wait() {
        state = cycles.time(compute, || step(state));
        if activation.cycle.is_multiple_of(250) {
            log!(cycles, "the state is {:.3}", state);
        }
        cycles.finish(activation);
    }
    println!(
        "the last state is {state:.3}; {} due times skipped",
        cycles.skipped()
    );
    Ok(())
}
