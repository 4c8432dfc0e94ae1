//! Summarises a run's samples for an archive.
//!
//! Histograms by minute, counts, sums, the worst cycles. It holds one thread's batch of samples at
//! a time and writes nothing.

use crate::error::{FleetArchiveError, Result};
use crate::histogram::{Bin, Histogram};
use crate::name::run_number;
use crate::record::{Outlier, ThreadRow};
use crate::table::{TableWriter, Values};
use wakepath_archive::{Run, SegmentRecord, ThreadRecord};
use wakepath_assess::window_end;
use wakepath_timeline::Sample;

/// Worst cycles to keep of each thread in each segment.
const WORST: usize = 32;

/// Most skipped due times of a run, each of which is a separate value.
const MOST_SKIPPED: u64 = 5_000_000;

const MINUTE_NS: u64 = 60_000_000_000;

/// The quantities with histograms. The names are values of the column `metric`.
pub(crate) const METRICS: [&str; 4] = ["latency", "skipped", "execution", "response"];
const LATENCY: usize = 0;
const SKIPPED: usize = 1;
const EXECUTION: usize = 2;
const RESPONSE: usize = 3;

/// Most rows of histograms to hold before packing them.
const ROWS_HELD: usize = 1 << 19;

/// Data kept from a run's samples.
pub(crate) struct Gathered {
    pub rows: Vec<ThreadRow>,
    pub outliers: Vec<Outlier>,
    /// The histograms as a table: the object for queries over the fleet.
    pub histograms: Vec<u8>,
}

/// Reads all samples of a run. Counts are compared with the manifest's.
pub(crate) fn gather(run: &Run) -> Result<Gathered> {
    let refused = |why: String| FleetArchiveError::Refused {
        path: run.directory().to_owned(),
        why,
    };
    let (mut rows, mut outliers) = (Vec::new(), Vec::new());
    let mut histograms = Bins::new(run_number(&run.manifest.run_id));
    let imported = run.manifest.imported.as_ref();
    let watched = imported.is_some_and(|imported| imported.is_made_of_events());
    let mut skipped = 0_u64;
    for segment in &run.manifest.segments {
        for thread in &segment.threads {
            // It was never started.
            if thread.due.start_ns == 0 {
                continue;
            }
            let missing = thread.expected.saturating_sub(thread.recorded);
            skipped = skipped.saturating_add(missing);
            if skipped > MOST_SKIPPED {
                return Err(refused(format!(
                    "it says that more than {MOST_SKIPPED} of its due times have no sample"
                )));
            }
            let mut one = OneThread::new(segment, thread, &mut histograms).map_err(&refused)?;
            one.read(run).map_err(|error| match error {
                Fault::Archive(error) => error,
                Fault::Contradiction(why) => refused(format!(
                    "segment {}, thread {}: {why}",
                    segment.segment, thread.thread
                )),
            })?;
            // A program watched from outside has only traced segments, which then give its verdict.
            one.row.traced &= !watched;
            one.keep_the_worst();
            rows.push(one.row);
            outliers.extend(one.worst);
        }
    }
    Ok(Gathered {
        rows,
        outliers,
        histograms: histograms.finish()?,
    })
}

enum Fault {
    Archive(FleetArchiveError),
    Contradiction(String),
}

impl From<wakepath_archive::ArchiveError> for Fault {
    fn from(error: wakepath_archive::ArchiveError) -> Self {
        Self::Archive(error.into())
    }
}

const BEYOND: &str = "its times add up to more than 292 years";

struct OneThread<'a> {
    thread: &'a ThreadRecord,
    segment: u32,
    row: ThreadRow,
    worst: Vec<Outlier>,
    /// The minute under way, and its histogram of each metric.
    minute: u64,
    now: [Histogram; METRICS.len()],
    bins: &'a mut Bins,
}

impl<'a> OneThread<'a> {
    fn new(
        segment: &SegmentRecord,
        thread: &'a ThreadRecord,
        bins: &'a mut Bins,
    ) -> std::result::Result<Self, String> {
        let whole = |what: &str, value: u64| {
            let whole = i64::try_from(value);
            whole.map_err(|_| format!("its {what}, {value}, is not a count"))
        };
        Ok(Self {
            thread,
            segment: segment.segment,
            row: ThreadRow {
                segment: segment.segment.into(),
                thread: thread.thread.into(),
                name: thread.name.clone(),
                phase: segment.phase.clone(),
                repetition: segment.repetition.into(),
                policy: thread.requested.to_string(),
                traced: segment.traced,
                period_ns: whole("period", thread.due.period_ns)?,
                first_cycle: whole("first judged cycle", thread.first_judged_cycle)?,
                end_cycle: 0,
                expected: whole("expected count", thread.expected)?,
                recorded: whole("recorded count", thread.recorded)?,
                lost: thread
                    .lost
                    .map(|lost| whole("lost count", lost))
                    .transpose()?,
                executed: 0,
                skipped: 0,
                latency_sum_ns: 0,
                skipped_sum_ns: 0,
                execution_sum_ns: 0,
                response_sum_ns: 0,
            },
            worst: Vec::new(),
            minute: 0,
            now: Default::default(),
            bins,
        })
    }

    fn read(&mut self, run: &Run) -> std::result::Result<(), Fault> {
        let thread = self.thread;
        let wrong = |why: &str| Fault::Contradiction(why.to_owned());
        // If the run was stopped, the window's end depends on the last cycle, so the samples are
        // read twice.
        let (mut last, mut recorded) = (None, 0_u64);
        for batch in run.batches(self.segment, thread.thread)? {
            for sample in batch? {
                if last.is_some_and(|last| last >= sample.cycle) {
                    return Err(wrong("its cycles are out of order"));
                }
                last = Some(sample.cycle);
                recorded += 1;
            }
        }
        if recorded != thread.recorded {
            return Err(wrong(&format!(
                "{recorded} samples are there instead of {}",
                thread.recorded
            )));
        }
        if last.is_some_and(|last| last >= thread.expected) {
            return Err(wrong("it has a cycle after its end"));
        }
        let end = window_end(thread, last);
        let first = thread.first_judged_cycle;
        if end < first {
            return Err(wrong("its judged part ends before it begins"));
        }
        self.row.end_cycle = end as i64;
        let mut next = first;
        for batch in run.batches(self.segment, thread.thread)? {
            for sample in batch? {
                if sample.cycle < first {
                    continue;
                }
                for cycle in next..sample.cycle.min(end) {
                    self.skip(cycle, sample.wake_ns)?;
                }
                next = sample.cycle.saturating_add(1).min(end);
                if sample.cycle < end {
                    self.execute(&sample)?;
                }
            }
        }
        for cycle in next..end {
            self.skip(cycle, thread.due.due_ns(end))?;
        }
        self.end_minute()
    }

    fn execute(&mut self, sample: &Sample) -> std::result::Result<(), Fault> {
        let outlier = Outlier {
            segment: self.row.segment,
            thread: self.row.thread,
            cycle: sample.cycle as i64,
            latency_ns: sample.latency_ns(),
            execution_ns: sample.execution_ns(),
            response_ns: sample.response_ns(),
        };
        self.row.executed += 1;
        self.count(sample.cycle, LATENCY, outlier.latency_ns)?;
        self.count(sample.cycle, EXECUTION, outlier.execution_ns)?;
        self.count(sample.cycle, RESPONSE, outlier.response_ns)?;
        self.worst.push(outlier);
        if self.worst.len() >= 64 * WORST {
            self.keep_the_worst();
        }
        Ok(())
    }

    fn keep_the_worst(&mut self) {
        let by_response = |worst: &Outlier| (std::cmp::Reverse(worst.response_ns), worst.cycle);
        self.worst.sort_by_key(by_response);
        self.worst.truncate(WORST);
    }

    fn skip(&mut self, cycle: u64, until_ns: u64) -> std::result::Result<(), Fault> {
        self.row.skipped += 1;
        let suffered = until_ns.wrapping_sub(self.thread.due.due_ns(cycle)) as i64;
        self.count(cycle, SKIPPED, suffered)
    }

    fn count(&mut self, cycle: u64, metric: usize, value: i64) -> std::result::Result<(), Fault> {
        let sum = match metric {
            LATENCY => &mut self.row.latency_sum_ns,
            SKIPPED => &mut self.row.skipped_sum_ns,
            EXECUTION => &mut self.row.execution_sum_ns,
            _ => &mut self.row.response_sum_ns,
        };
        let beyond = || Fault::Contradiction(BEYOND.to_owned());
        *sum = sum.checked_add(value).ok_or_else(beyond)?;
        let due = self.thread.due;
        let minute = due.due_ns(cycle).wrapping_sub(due.start_ns) / MINUTE_NS;
        if minute != self.minute {
            self.end_minute()?;
            self.minute = minute;
        }
        self.now[metric].add(value);
        Ok(())
    }

    fn end_minute(&mut self) -> std::result::Result<(), Fault> {
        for (metric, histogram) in METRICS.iter().zip(&mut self.now) {
            let histogram = std::mem::take(histogram);
            let bins = histogram.bins();
            let bins = bins.ok_or_else(|| Fault::Contradiction(BEYOND.to_owned()))?;
            for bin in bins {
                self.bins
                    .push(&self.row, self.minute, metric, bin, histogram.is_exact());
            }
        }
        self.bins.pack_if_many().map_err(Fault::Archive)
    }
}

/// Bins of histograms on their way into a table.
struct Bins {
    run: i64,
    table: TableWriter,
    keys: [Vec<i64>; 3],
    metrics: Vec<&'static str>,
    figures: [Vec<i64>; 3],
    exact: Vec<bool>,
}

impl Bins {
    fn new(run: i64) -> Self {
        Self {
            run,
            table: TableWriter::new(&["upper_ns", "sum_ns"]),
            keys: Default::default(),
            metrics: Vec::new(),
            figures: Default::default(),
            exact: Vec::new(),
        }
    }

    fn push(&mut self, row: &ThreadRow, minute: u64, metric: &'static str, bin: Bin, exact: bool) {
        let keys = [row.segment, row.thread, minute as i64];
        let figures = [bin.upper_ns, bin.count, bin.sum_ns];
        self.keys
            .iter_mut()
            .zip(keys)
            .for_each(|(all, one)| all.push(one));
        self.figures
            .iter_mut()
            .zip(figures)
            .for_each(|(all, one)| all.push(one));
        self.metrics.push(metric);
        self.exact.push(exact);
    }

    fn pack_if_many(&mut self) -> Result<()> {
        if self.exact.len() >= ROWS_HELD {
            self.pack()
        } else {
            Ok(())
        }
    }

    fn pack(&mut self) -> Result<()> {
        let [segment, thread, minute] = std::mem::take(&mut self.keys).map(Values::Integers);
        let [upper, samples, sum] = std::mem::take(&mut self.figures).map(Values::Integers);
        self.table.write(&[
            ("run", Values::Integers(vec![self.run; self.exact.len()])),
            ("segment", segment),
            ("thread", thread),
            ("minute", minute),
            ("metric", Values::Words(std::mem::take(&mut self.metrics))),
            ("upper_ns", upper),
            ("samples", samples),
            ("sum_ns", sum),
            ("exact", Values::Flags(std::mem::take(&mut self.exact))),
        ])
    }

    fn finish(mut self) -> Result<Vec<u8>> {
        self.pack()?;
        self.table.finish()
    }
}
