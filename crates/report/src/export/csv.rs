//! Every sample as a line of CSV (RFC 4180), batch by batch: a run of any length in little memory.
//! Skipped due times have no line: they are the gaps between cycle numbers, and between the first judged
//! cycle, the lines and the end.

use std::io::{self, Write};
use wakepath_archive::{ArchiveError, Run};
use wakepath_timeline::{Sample, SampleFlags};

/// Why a run could not be written as CSV.
#[derive(Debug, thiserror::Error)]
pub enum CsvError {
    /// The run can't be read.
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    /// It has no samples to write.
    #[error("{0}: an imported histogram has no samples; `--format json` has its figures")]
    NoSamples(String),
    /// Nobody takes what is written.
    #[error("cannot write the CSV: {0}")]
    Write(#[from] io::Error),
}

const HEAD: &str = "segment,repetition,phase,condition,thread,cycle,due_ns,latency_ns,execution_ns,\
                    response_ns,work_ns,cpu_time_ns,involuntary_switches,cpu,warm_up,\
                    due_already_past,sleep_interrupted,work_fault,unanswered,first_judged_cycle,end_cycle\r\n";

/// Writes all samples of a run, by segment, thread and cycle. Times are nanoseconds, `due_ns` on the
/// measured machine's `CLOCK_MONOTONIC`; a cell is empty if nothing was measured.
///
/// # Errors
/// As [`CsvError`] says.
pub fn csv(run: &Run, to: &mut impl Write) -> Result<(), CsvError> {
    if run
        .manifest
        .imported
        .as_ref()
        .is_some_and(|i| !i.histograms.is_empty())
    {
        return Err(CsvError::NoSamples(run.directory().display().to_string()));
    }
    to.write_all(HEAD.as_bytes())?;
    for segment in &run.manifest.segments {
        for thread in &segment.threads {
            let before = format!(
                "{},{},{},{},{}",
                segment.segment,
                segment.repetition,
                cell(&segment.phase),
                cell(&segment.condition),
                cell(&thread.name)
            );
            let after = format!("{},{}", thread.first_judged_cycle, thread.expected);
            for batch in run.batches(segment.segment, thread.thread)? {
                for sample in batch? {
                    line(to, &before, &sample, &after)?;
                }
            }
        }
    }
    to.flush()?;
    Ok(())
}

fn line(to: &mut impl Write, before: &str, sample: &Sample, after: &str) -> io::Result<()> {
    let has = |flag| sample.flags.contains(flag);
    let measured = |flag, value: u32| {
        if has(flag) {
            value.to_string()
        } else {
            String::new()
        }
    };
    write!(
        to,
        "{before},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{after}\r\n",
        sample.cycle,
        sample.due_ns,
        sample.latency_ns(),
        sample.execution_ns(),
        sample.response_ns(),
        measured(SampleFlags::HAS_WORK_TIME, sample.work_ns),
        measured(SampleFlags::HAS_CPU_TIME, sample.cpu_time_ns),
        measured(
            SampleFlags::HAS_SWITCHES,
            sample.involuntary_switches.into()
        ),
        sample.cpu,
        u8::from(sample.is_warm_up()),
        u8::from(has(SampleFlags::DUE_ALREADY_PAST)),
        u8::from(has(SampleFlags::SLEEP_INTERRUPTED)),
        u8::from(has(SampleFlags::WORK_FAULT)),
        u8::from(has(SampleFlags::UNANSWERED)),
    )
}

/// A name as a cell: quoted if necessary, and never a spreadsheet's formula.
fn cell(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) || formula {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_names_stay_in_their_cell() {
        assert_eq!(cell("FIFO 50"), "FIFO 50");
        assert_eq!(cell("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
        assert_eq!(cell("=HYPERLINK(1)"), "\"'=HYPERLINK(1)\"");
    }

    #[test]
    fn what_was_not_measured_is_an_empty_cell() {
        let sample = Sample {
            cycle: 7,
            due_ns: 1_000,
            wake_ns: 1_250,
            end_ns: 1_300,
            cpu: 3,
            work_ns: 40,
            flags: SampleFlags::HAS_WORK_TIME,
            ..Sample::default()
        };
        let mut text = Vec::new();
        line(&mut text, "0,0,idle,FIFO 50,loop", &sample, "5,9").unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(
            text,
            "0,0,idle,FIFO 50,loop,7,1000,250,50,300,40,,,3,0,0,0,0,0,5,9\r\n"
        );
        let columns = |line: &str| line.trim_end().split(',').count();
        assert_eq!(columns(&text), columns(HEAD));
    }
}
