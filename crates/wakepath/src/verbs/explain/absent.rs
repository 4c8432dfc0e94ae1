//! Why a cycle that was asked for can't be explained: it never ran, or its events are not there. It explains none that
//! can be.

use wakepath_archive::{ArchiveError, Run, SegmentRecord, ThreadRecord, Trace};
use wakepath_timeline::one_line;
use wakepath_verdict::counted;

/// One sentence for each loop and segment that may have been meant; at most this many.
const MOST: usize = 4;

/// Says it.
pub fn why(run: &Run, cycle: u64, segment: Option<u32>) -> Result<String, ArchiveError> {
    let all = &run.manifest.segments;
    let records = all
        .iter()
        .filter(|of| segment.is_none_or(|wanted| wanted == of.segment));
    let mut found = Vec::new();
    let mut beyond = 0;
    for record in records {
        let is_traced = Trace::open(run.directory(), record.segment)?.is_some();
        // If no segment is named, only one with events can have been meant.
        if !is_traced && segment.is_none() {
            continue;
        }
        for thread in &record.threads {
            if found.len() == MOST {
                beyond += 1;
                continue;
            }
            let samples = run.samples(record.segment, thread.thread)?;
            let of = named(record, thread);
            found.push(match samples.binary_search_by_key(&cycle, |of| of.cycle) {
                Ok(_) if is_traced => {
                    format!("{of}: its events were not kept, or were overwritten")
                }
                Ok(_) => format!("{of}: the segment was not traced"),
                Err(at) => match (at.checked_sub(1).map(|at| samples[at]), samples.get(at)) {
                    (_, None) if cycle >= thread.expected => {
                        format!(
                            "{of}: its cycles are 0 to {}",
                            thread.expected.saturating_sub(1)
                        )
                    }
                    (Some(before), _) => format!(
                        "{of}: no cycle ran at that due time; the one before is cycle {}",
                        before.cycle
                    ),
                    (None, Some(after)) => format!(
                        "{of}: no cycle ran at that due time; the first is cycle {}",
                        after.cycle
                    ),
                    (None, None) => format!("{of}: no cycle ran at all"),
                },
            });
        }
    }
    if found.is_empty() {
        return Ok(match segment {
            Some(segment) => format!(
                "there is no segment {segment}; they are 0 to {}",
                all.len().saturating_sub(1)
            ),
            None => "no segment was traced".into(),
        });
    }
    if beyond > 0 {
        found.push(counted(beyond, "more loop", "more loops"));
    }
    Ok(found.join("; "))
}

fn named(record: &SegmentRecord, thread: &ThreadRecord) -> String {
    format!("segment {}, {}", record.segment, one_line(&thread.name))
}
