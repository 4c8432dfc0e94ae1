//! The work that a run's loads report, added up for a table. Whether a load's work was enough was decided
//! when it was measured.

use serde::Serialize;
use wakepath_archive::SegmentRecord;
use wakepath_timeline::{DeviceAtWork, LoadProof};

/// A load over all segments of a phase.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoadSummary {
    /// The phase.
    pub phase: String,
    /// The load; with its place among them where a phase has several of a name: `fio (2)`.
    pub load: String,
    /// Worker processes, or copies of the program.
    pub workers: u32,
    /// Work done per second of the measured segments.
    pub per_second: f64,
    /// Of what.
    pub unit: String,
    /// Whether it worked in every segment.
    pub working: bool,
    /// Differences from the order, and why it did not work.
    pub notes: Vec<String>,
    #[serde(skip)]
    device: Option<DeviceAtWork>,
    /// Which one of its name in each segment, from 1.
    #[serde(skip)]
    place: usize,
    #[serde(skip)]
    work_done: f64,
    #[serde(skip)]
    seconds: f64,
}

pub(crate) fn summarise(segments: &[SegmentRecord]) -> Vec<LoadSummary> {
    let mut summaries: Vec<LoadSummary> = Vec::new();
    // Show only the load during judged cycles.
    for segment in segments.iter().filter(|segment| !segment.traced) {
        for (index, proof) in segment.loads.iter().enumerate() {
            let before = segment.loads[..index].iter();
            let place = 1 + before.filter(|one| is_alike(one, proof)).count();
            let known = summaries.iter_mut().position(|known| {
                let same = (&known.phase, &known.load, &known.unit, known.place)
                    == (&segment.phase, &proof.name, &proof.unit, place);
                same && known.device.as_ref().map(which) == proof.device.as_ref().map(which)
            });
            let index = known.unwrap_or_else(|| {
                summaries.push(LoadSummary {
                    phase: segment.phase.clone(),
                    load: proof.name.clone(),
                    workers: proof.workers,
                    per_second: 0.0,
                    unit: proof.unit.clone(),
                    working: true,
                    notes: Vec::new(),
                    device: None,
                    place,
                    work_done: 0.0,
                    seconds: 0.0,
                });
                summaries.len() - 1
            });
            let summary = &mut summaries[index];
            summary.work_done += proof.work_done;
            summary.seconds += proof.seconds;
            if summary.seconds > 0.0 {
                summary.per_second = summary.work_done / summary.seconds;
            }
            if let Some(device) = &proof.device {
                match &mut summary.device {
                    Some(known) => known.busy_seconds += device.busy_seconds,
                    none => *none = Some(device.clone()),
                }
            }
            summary.working &= proof.working;
            for note in proof.notes.iter().chain(&proof.reason) {
                if !summary.notes.contains(note) {
                    summary.notes.push(note.clone());
                }
            }
        }
    }
    for summary in &mut summaries {
        if let Some(device) = &summary.device {
            summary.notes.insert(0, described(device, summary.seconds));
        }
    }
    number(&mut summaries);
    summaries
}

/// Whether two loads of a segment would be one row of the table.
fn is_alike(one: &LoadProof, other: &LoadProof) -> bool {
    (&one.name, &one.unit) == (&other.name, &other.unit)
        && one.device.as_ref().map(which) == other.device.as_ref().map(which)
}

fn which(device: &DeviceAtWork) -> (&str, &str) {
    (&device.interface, &device.name)
}

/// Tells loads of one name by their places, in the order of the scenario.
fn number(summaries: &mut [LoadSummary]) {
    let several: Vec<bool> = summaries
        .iter()
        .map(|summary| {
            let mut all = summaries.iter();
            all.any(|other| {
                other.place > 1
                    && (&other.phase, &other.load, &other.unit)
                        == (&summary.phase, &summary.load, &summary.unit)
            })
        })
        .collect();
    for (summary, _) in summaries.iter_mut().zip(several).filter(|(_, is)| *is) {
        summary.load = format!("{} ({})", summary.load, summary.place);
    }
}

/// The device, and the share of `seconds` that it was at work.
fn described(device: &DeviceAtWork, seconds: f64) -> String {
    let share = match seconds > 0.0 {
        // Batches end a little before or after the readings do.
        true => (device.busy_seconds / seconds).min(1.0),
        false => 0.0,
    };
    format!(
        "{}, {}: busy {:.0} % of the time by its own clock",
        device.name,
        device.driver,
        share * 100.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proof(name: &str, work_done: f64) -> LoadProof {
        LoadProof {
            name: name.into(),
            unit: "CPU seconds".into(),
            work_done,
            seconds: 2.0,
            working: true,
            ..LoadProof::default()
        }
    }

    #[test]
    fn two_loads_of_one_name_are_two_rows_over_all_segments() {
        let segment = |first, second| SegmentRecord {
            segment: 0,
            phase: "storage".into(),
            repetition: 0,
            condition: "FIFO 80".into(),
            traced: false,
            trace: None,
            ended: true,
            threads: Vec::new(),
            loads: vec![proof("fio", first), proof("cpu", 8.0), proof("fio", second)],
        };
        let rows = summarise(&[segment(1.0, 4.0), segment(3.0, 8.0)]);
        let rows: Vec<(&str, f64)> = rows
            .iter()
            .map(|row| (row.load.as_str(), row.per_second))
            .collect();
        assert_eq!(rows, [("fio (1)", 1.0), ("cpu", 4.0), ("fio (2)", 3.0)]);
    }
}
