//! An explainer fed with the events of a trace and with the gaps between its kept windows.

use super::Out;
use super::covered::Gaps;
use wakepath_archive::{ArchiveError, TraceEvents};
use wakepath_explain::Explainer;

/// Feeds it to the end; `out` takes the cycles.
///
/// # Errors
/// When the trace can't be read.
pub(crate) fn feed(
    explainer: &mut Explainer,
    events: TraceEvents,
    mut gaps: Gaps<'_>,
    out: Out<'_>,
) -> Result<(), ArchiveError> {
    for event in events {
        let event = event?;
        if let Some(until_ns) = gaps.before(event.at_ns) {
            explainer.gap(until_ns);
        }
        explainer.event(&event, &mut *out);
    }
    explainer.finish(out);
    Ok(())
}
