//! How often the 95 % bounds of `wakepath bound` hold, gates included, over families of series with a known
//! law: `cargo run --release -p wakepath-extremes --example bound_coverage -- [RUNS] [FAMILY]`. The table in
//! `docs/reference/benchmarks.md` sums it up. Simulation with a fixed seed; nothing is measured.

#[path = "../fixtures/known_tails.rs"]
mod known_tails;

use known_tails::{Coverage, EXPECTED, families};

const CYCLES: [usize; 2] = [10_000, 60_000];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs: u32 = match arguments.next().map(|word| word.parse()) {
        None => 400,
        Some(Ok(runs)) => runs,
        Some(Err(_)) => panic!("give the number of runs of each family, and a part of its name"),
    };
    let wanted = arguments.next().unwrap_or_default();
    let heads: Vec<String> = CYCLES
        .iter()
        .flat_map(|cycles| EXPECTED.map(|exceed| format!("{cycles}, np = {exceed}")))
        .collect();
    println!("| family | {} |", heads.join(" | "));
    println!("|---|{}", "---|".repeat(heads.len()));
    for (number, family) in (0..).zip(families()) {
        let name = family.to_string();
        if !name.contains(&wanted) {
            continue;
        }
        let mut cells: Vec<String> = Vec::new();
        for cycles in CYCLES {
            let found = Coverage::new(&family, cycles, runs, number);
            cells.extend(found.iter().map(ToString::to_string));
        }
        println!("| {name} | {} |", cells.join(" | "));
    }
}
