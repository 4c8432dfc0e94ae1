//! A run's samples as MCAP, which Foxglove and PlotJuggler open: a topic for each thread of each
//! condition, a message of JSON for each cycle. It goes batch by batch, and never back in the file.

use super::mcap_writer::{ChannelId, McapWriter};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Write};
use wakepath_archive::{ArchiveError, Run};
use wakepath_timeline::{Sample, SampleFlags};

/// Why a run could not be written as MCAP.
#[derive(Debug, thiserror::Error)]
pub enum McapExportError {
    /// The run can't be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It has no samples to write.
    #[error("{0}: an imported histogram has no samples; `--format json` has its figures")]
    NoSamples(String),
    /// Nobody takes what is written.
    #[error("cannot write the MCAP file: {0}")]
    Write(#[from] io::Error),
}

/// Names of the schemas, which tell viewers that a message is a cycle or a stretch of skipped ones.
const CYCLE: &str = "wakepath.Cycle";
const SKIPPED: &str = "wakepath.Skipped";

/// A cycle. Times are nanoseconds; times not measured have no field.
const CYCLE_SCHEMA: &str = r#"{"title":"wakepath.Cycle","type":"object","properties":{
"cycle":{"type":"integer","description":"number of the due time that it served"},
"latency_ns":{"type":"integer","description":"first instruction less due time"},
"execution_ns":{"type":"integer","description":"end of the work less first instruction"},
"response_ns":{"type":"integer","description":"end of the work less due time"},
"work_ns":{"type":"integer","description":"what the work itself timed"},
"cpu_time_ns":{"type":"integer","description":"the thread's time on a CPU"},
"involuntary_switches":{"type":"integer"},
"cpu":{"type":"integer","description":"where it woke"},
"warm_up":{"type":"boolean","description":"recorded, not judged"},
"due_already_past":{"type":"boolean","description":"late because the cycle before ran over"}}}"#;

/// Due times at which no cycle began, logged at the first of them.
const SKIPPED_SCHEMA: &str = r#"{"title":"wakepath.Skipped","type":"object","properties":{
"first_cycle":{"type":"integer","description":"number of the first due time that was skipped"},
"count":{"type":"integer","description":"how many were skipped one after the other"}}}"#;

/// Writes all samples of a run. A message's log time is its first instruction, its publish time the
/// due time, in nanoseconds on the measured machine's `CLOCK_MONOTONIC`.
///
/// # Errors
/// As [`McapExportError`] says.
pub fn mcap(run: &Run, to: &mut impl Write) -> Result<(), McapExportError> {
    let manifest = &run.manifest;
    let imported = manifest.imported.as_ref();
    if imported.is_some_and(|imported| !imported.histograms.is_empty()) {
        return Err(McapExportError::NoSamples(
            run.directory().display().to_string(),
        ));
    }
    let library = concat!("wakepath ", env!("CARGO_PKG_VERSION"));
    let mut writer = McapWriter::new(to, library)?;
    writer.metadata("wakepath", &about(run))?;
    let cycle = writer.schema(CYCLE, CYCLE_SCHEMA);
    let skipped = writer.schema(SKIPPED, SKIPPED_SCHEMA);
    let has_work = imported.is_none_or(|imported| imported.has_work());
    let mut text = Vec::new();
    // A condition's repetitions are one topic, whose messages are counted on.
    let mut channels: BTreeMap<_, [ChannelId; 2]> = BTreeMap::new();
    for segment in &manifest.segments {
        for thread in &segment.threads {
            let topic = topic(&[&segment.phase, &segment.condition, &thread.name]);
            let metadata = BTreeMap::from([
                ("phase".into(), segment.phase.clone()),
                ("condition".into(), segment.condition.clone()),
                ("thread".into(), thread.name.clone()),
                ("period_ns".into(), thread.due.period_ns.to_string()),
            ]);
            let [cycles, gaps] = match channels.entry((topic, metadata)) {
                Entry::Occupied(known) => *known.get(),
                Entry::Vacant(new) => {
                    let (topic, metadata) = new.key();
                    let cycles = writer.channel(cycle, topic, metadata)?;
                    let gaps = format!("{topic}/skipped");
                    let gaps = writer.channel(skipped, &gaps, metadata)?;
                    *new.insert([cycles, gaps])
                }
            };
            let mut next = 0;
            for batch in run.batches(segment.segment, thread.thread)? {
                for sample in batch? {
                    if sample.cycle > next {
                        text.clear();
                        let count = sample.cycle - next;
                        write!(text, "{{\"first_cycle\":{next},\"count\":{count}}}")?;
                        let due_ns = thread.due.due_ns(next);
                        writer.message(gaps, due_ns, due_ns, &text)?;
                    }
                    next = sample.cycle + 1;
                    text.clear();
                    message(&mut text, &sample, has_work)?;
                    writer.message(cycles, sample.wake_ns, sample.due_ns, &text)?;
                }
            }
        }
    }
    Ok(writer.finish()?)
}

fn about(run: &Run) -> BTreeMap<String, String> {
    let manifest = &run.manifest;
    let mut about = BTreeMap::from([
        ("run".into(), manifest.run_id.clone()),
        ("measured by".into(), manifest.tool.name.clone()),
        ("version".into(), manifest.tool.version.clone()),
        ("started".into(), manifest.started.clone()),
        (
            "clock".into(),
            "CLOCK_MONOTONIC of the measured machine".into(),
        ),
        ("scenario".into(), manifest.scenario.toml.clone()),
    ]);
    if let Some(imported) = &manifest.imported {
        let lacks: Vec<_> = imported.lacks.iter().map(|lack| lack.text()).collect();
        about.insert("lacks".into(), lacks.join("\n"));
    }
    about
}

fn message(text: &mut Vec<u8>, sample: &Sample, has_work: bool) -> io::Result<()> {
    let has = |flag| sample.flags.contains(flag);
    let latency = sample.latency_ns();
    write!(
        text,
        "{{\"cycle\":{},\"latency_ns\":{latency}",
        sample.cycle
    )?;
    if has_work {
        let (execution, response) = (sample.execution_ns(), sample.response_ns());
        write!(
            text,
            ",\"execution_ns\":{execution},\"response_ns\":{response}"
        )?;
    }
    if has(SampleFlags::HAS_WORK_TIME) {
        write!(text, ",\"work_ns\":{}", sample.work_ns)?;
    }
    if has(SampleFlags::HAS_CPU_TIME) {
        write!(text, ",\"cpu_time_ns\":{}", sample.cpu_time_ns)?;
    }
    if has(SampleFlags::HAS_SWITCHES) {
        let switches = sample.involuntary_switches;
        write!(text, ",\"involuntary_switches\":{switches}")?;
    }
    write!(
        text,
        ",\"cpu\":{},\"warm_up\":{},\"due_already_past\":{}}}",
        sample.cpu,
        sample.is_warm_up(),
        has(SampleFlags::DUE_ALREADY_PAST),
    )
}

/// A topic of names: viewers make a tree of the parts between slashes.
fn topic(parts: &[&str]) -> String {
    let plain = |part: &&str| -> String {
        let kept = part.chars().map(|c| match c {
            c if c.is_alphanumeric() || "-_.".contains(c) => c,
            _ => '_',
        });
        kept.collect()
    };
    let parts: Vec<String> = parts.iter().map(plain).collect();
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topics_are_trees_of_plain_names() {
        assert_eq!(
            topic(&["idle", "OTHER nice -1", "a/b\n"]),
            "/idle/OTHER_nice_-1/a_b_"
        );
    }

    #[test]
    fn schemas_are_json_and_tell_every_field_of_a_message() {
        let sample = Sample {
            flags: SampleFlags::HAS_CPU_TIME
                .with(SampleFlags::HAS_SWITCHES)
                .with(SampleFlags::HAS_WORK_TIME),
            ..Sample::default()
        };
        let mut text = Vec::new();
        message(&mut text, &sample, true).unwrap();
        let message: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let schema: serde_json::Value = serde_json::from_str(CYCLE_SCHEMA).unwrap();
        let fields = |of: &serde_json::Value| -> Vec<String> {
            let mut names: Vec<String> = of.as_object().unwrap().keys().cloned().collect();
            names.sort_unstable();
            names
        };
        assert_eq!(fields(&message), fields(&schema["properties"]));
        assert!(jsonschema::is_valid(&schema, &message));
        let _: serde_json::Value = serde_json::from_str(SKIPPED_SCHEMA).unwrap();
    }
}
