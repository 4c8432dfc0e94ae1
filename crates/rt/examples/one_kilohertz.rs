//! A loop of 1 kHz that does nothing: `wakepath record -- ./one_kilohertz NAME`.

use std::time::Duration;
use wakepath_rt::Loop;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let name = std::env::args().nth(1).unwrap_or_else(|| "rust".into());
    let mut cycles = Loop::new(&name, Duration::from_millis(1))?;
    while let Some(activation) = cycles.wait() {
        cycles.finish(activation);
    }
    Ok(())
}
