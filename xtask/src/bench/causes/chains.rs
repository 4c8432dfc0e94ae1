//! The same causes injected into one thread of a chain of three, and how often the chain's late passes are put down to
//! that thread and its cause.

use super::kinds::{KINDS, Kind, Policy};
use super::matrix::Matrix;
use super::watched::{Feed, Program, build};
use super::{Draw, Extent, reaches_goals, report, usable};
use crate::arguments::Arguments;
use crate::bench::{highest_cpu, program};
use crate::place;
use std::path::Path;
use std::process::ExitCode;

/// Kinds that stop the whole program, its sensor included, need a control group, or delay the loop for less than a
/// period.
const OF_LOOPS_ALONE: [&str; 6] = ["stop", "freeze", "timers", "moved", "fair", "paging"];

/// The benchmark with its matrix. Fails below a goal.
pub fn run(mut arguments: Arguments) -> Result<ExitCode, String> {
    let extent = Extent {
        programs: 0,
        cycles: arguments.value("--cycles", 500)?,
        seed: arguments.value("--seed", 1)?,
        cpu: arguments.value("--cpu", highest_cpu()?)?,
        only: arguments.texts("--kind")?,
    };
    let wakepath = program(&mut arguments)?;
    arguments.end()?;
    let matrix = measure(&wakepath, &extent, &mut |line| eprintln!("{line}"))?;
    print!("{}", report(&matrix));
    Ok(if reaches_goals(&matrix) {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// Each kind once in the middle and once at the end of a chain.
fn measure(wakepath: &Path, extent: &Extent, log: &mut dyn FnMut(&str)) -> Result<Matrix, String> {
    let wakepath = std::path::absolute(wakepath).map_err(|error| error.to_string())?;
    let _ = usable(&extent.only, log)?;
    let is_wanted = |kind: &&Kind| {
        let is_named = extent.only.is_empty() || extent.only.iter().any(|name| name == kind.name);
        is_named && kind.policy != Policy::Other && !OF_LOOPS_ALONE.contains(&kind.name)
    };
    let kinds: Vec<&'static Kind> = KINDS.iter().filter(is_wanted).collect();
    let scratch = place::scratch("chains")?;
    let injected = build(&scratch)?;
    let mut matrix = Matrix::default();
    let mut draw = Draw::new(extent.seed);
    for kind in kinds {
        for feed in [Feed::Middle, Feed::End] {
            let directory = scratch.join(kind.name);
            std::fs::create_dir_all(&directory).map_err(|error| error.to_string())?;
            let program = Program {
                wakepath: &wakepath,
                injected: &injected,
                directory: &directory,
                cpu: extent.cpu,
                other_cpu: usize::from(extent.cpu == 0),
                cycles: extent.cycles,
                seed: draw.next() >> 16,
                feed,
                kinds: [kind, kind],
            };
            let outcome = match program.watch_chains() {
                Ok((injected, chains)) => {
                    let ns = injected.iter().map(|of| of.to_ns - of.from_ns).sum();
                    let chain = chains.into_iter().find(|of| of.threads == feed.chain());
                    let chain = chain.unwrap_or_default();
                    matrix.add_chain(kind, ns, &chain);
                    format!("{}: {} late", chain.threads.join(" → "), chain.late)
                }
                Err(why) => format!("not run: {why}"),
            };
            log(&format!("{}, {feed:?}: {outcome}", kind.name));
            let _ = std::fs::remove_dir_all(&directory);
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(matrix)
}
