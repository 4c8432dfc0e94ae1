//! Causes of the late passes of a watched program's chains of threads, out of its trace.

use crate::explanation::{Covered, Out, feed, options};
use wakepath_archive::watch::Session;
use wakepath_archive::{ArchiveError, SegmentTraced, Trace};
use wakepath_explain::watch::Chain;
use wakepath_explain::{CauseFigures, Explainer, LateChains, Places};

/// Causes of the late passes of each chain, by the thread's place in it. The trace is read only if there are any.
///
/// # Errors
/// When the trace can't be read.
pub(super) fn late_parts(
    chains: &[Chain],
    limit_ns: impl Fn(&Chain) -> u64,
    session: &Session,
    (trace, traced, places): (&Trace, &SegmentTraced, Places),
) -> Result<Vec<Vec<(usize, CauseFigures)>>, ArchiveError> {
    let mut late = LateChains::new(chains, limit_ns);
    let loops = late.to_explain();
    if loops.is_empty() {
        return Ok(late.finish());
    }
    let threads: Vec<Option<u32>> = loops.iter().map(|of| Some(of.thread)).collect();
    let options = options(&session.facts, None, Some(traced), trace, &threads, places);
    let mut explainer = Explainer::new(loops, options);
    let covered = Covered::new(trace);
    let out: Out<'_> = &mut |number, part| late.add(number, part);
    feed(&mut explainer, trace.events()?, covered.gaps(), out)?;
    Ok(late.finish())
}
