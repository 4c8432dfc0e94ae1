//! Restores minutes and worst cycles after a kill or a power cut.
//!
//! Reads the segments that were being written again from their logs, because minutes and worst
//! cycles were only in memory.

use crate::history::{Entry, HistoryWriter, read_history};
use crate::minutes::Minutes;
use crate::recent::{Recent, Seen};
use crate::worst::Worst;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io;
use wakepath_archive::{Content, LogReader};
use wakepath_directory::{Directory, Trust};
use wakepath_measure::recorder::DoubtedDueTimes;
use wakepath_scenario::Criterion;
use wakepath_timeline::Sample;

/// Name of the file.
const NAME: &str = "open.json";

/// A segment that is being written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) segment: String,
    pub(crate) name: String,
    pub(crate) criterion: Option<Criterion>,
    pub(crate) period_ns: u64,
    pub(crate) offset_ns: i64,
    /// The loop's ring, and its cycle number that is the segment's cycle 0, for a recorder that
    /// resumes.
    pub(crate) ring: u32,
    pub(crate) base: u64,
    pub(crate) process: u32,
    /// Due times that it did not believe. Earlier versions did not write them.
    #[serde(default)]
    pub(crate) doubted: DoubtedDueTimes,
}

/// Notes which are being written.
pub(crate) fn note(directory: &Directory, open: &[Open]) -> io::Result<()> {
    directory.put(NAME, &serde_json::to_vec(open)?)
}

/// State of a loop when its recorder ended.
#[derive(Debug)]
pub(crate) struct Left {
    pub(crate) name: String,
    /// The cycle after its last.
    pub(crate) cycle: u64,
    pub(crate) doubted: DoubtedDueTimes,
}

/// State of each loop, by process and ring.
pub(crate) type Reached = BTreeMap<(u32, u32), Left>;

/// Adds samples that are in no minute yet; returns the state of each loop.
pub(crate) fn replay(
    directory: &Directory,
    segments: &Directory,
    history: &mut HistoryWriter,
    worst: &mut Worst,
) -> io::Result<Reached> {
    let open: Vec<Open> = match directory.read(NAME)? {
        None => return Ok(Reached::new()),
        Some(text) => serde_json::from_slice(&text).unwrap_or_default(),
    };
    let mut done: BTreeMap<String, u64> = BTreeMap::new();
    let is_of_one = |text: &str| open.iter().any(|of| text.contains(&of.segment));
    if !open.is_empty() {
        read_history(directory.path(), is_of_one, |entry| {
            if let Entry::Minute(minute) = entry {
                let to = done.entry(minute.segment).or_default();
                *to = minute.to_cycle.max(*to);
            }
        })?;
    }
    let mut reached = Reached::new();
    for of in &open {
        let from = done.get(&of.segment).copied().unwrap_or(0);
        let to = one(of, from, segments, history, worst)?;
        let left = Left {
            name: of.name.clone(),
            cycle: of.base + to,
            doubted: of.doubted.clone(),
        };
        reached.insert((of.process, of.ring), left);
    }
    history.sync()?;
    worst.write(directory)?;
    Ok(reached)
}

/// Forgets the segments that aren't resumed, once the history has all of them. The others stay in
/// the list until they are listed again: if the recorder is killed before that, their counts exist
/// nowhere else.
pub(crate) fn forget_all_but(directory: &Directory, reached: &Reached) -> io::Result<()> {
    let Some(text) = directory.read(NAME)? else {
        return Ok(());
    };
    let mut open: Vec<Open> = serde_json::from_slice(&text).unwrap_or_default();
    open.retain(|of| reached.contains_key(&(of.process, of.ring)));
    note(directory, &open)
}

/// Takes in the samples of a segment from this cycle on; returns the cycle after its last.
fn one(
    of: &Open,
    from: u64,
    segments: &Directory,
    history: &mut HistoryWriter,
    worst: &mut Worst,
) -> io::Result<u64> {
    let mut minutes = Minutes::new(
        &of.name,
        of.criterion.as_ref(),
        of.period_ns,
        of.offset_ns.into(),
    );
    let mut recent = Recent::default();
    let mut next = from;
    let mut each = |sample: &Sample| -> io::Result<()> {
        let seen = Seen {
            name: &of.name,
            segment: &of.segment,
            base: 0,
            offset_ns: of.offset_ns.into(),
        };
        recent.push(*sample, &seen, worst, &[]);
        if sample.cycle < from {
            return Ok(());
        }
        if let (Some(mut minute), _) = minutes.add(sample) {
            minute.segment.clone_from(&of.segment);
            minute.to_cycle = next;
            history.append(&Entry::Minute(Box::new(minute)))?;
        }
        next = sample.cycle + 1;
        Ok(())
    };
    let path = segments.path_of(&of.segment);
    // A segment with an unreadable log adds nothing; its cycles count as lost.
    let Ok(Ok(mut log)) =
        Directory::to_write(&path, Trust::Own).map(|directory| LogReader::open_in(&directory))
    else {
        return Ok(from);
    };
    while let Ok(Some(block)) = log.next_block() {
        if let Content::Samples { samples, .. } = block.content {
            samples.iter().try_for_each(&mut each)?;
        }
    }
    if let Some(mut minute) = minutes.take() {
        minute.segment.clone_from(&of.segment);
        minute.to_cycle = next;
        history.append(&Entry::Minute(Box::new(minute)))?;
    }
    Ok(next)
}
