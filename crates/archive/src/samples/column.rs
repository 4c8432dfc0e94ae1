//! The columns of the Parquet file: their values in a sample, and their encoding.
//!
//! Due time, wake time and end are not stored: due = start + cycle · period, wake = due + latency,
//! end = wake + execution, all exact to the nanosecond.

use wakepath_timeline::{DueTimes, Sample, SampleFlags};

/// One column.
pub(crate) struct Column {
    pub name: &'static str,
    /// Few different values: 32 bits, dictionary. Otherwise 64 bits, delta-packed.
    pub is_narrow: bool,
    /// Left out of the file if it is 0 in every sample; read as 0 then.
    pub is_omitted_if_zero: bool,
    pub get: fn(&Sample) -> i64,
    /// Restores a value, `None` if it is impossible in this column. Columns are restored in the
    /// order of [`ALL`], which the times depend on.
    pub set: fn(&mut Sample, i64, DueTimes) -> Option<()>,
}

/// Name of the column with the segment's number.
pub(crate) const SEGMENT: &str = "segment";
/// Name of the column with the thread's number.
pub(crate) const THREAD: &str = "thread";

/// All columns that depend on the sample, in the file's order, after segment and thread.
pub(crate) const ALL: [Column; 8] = [
    Column {
        name: "cycle",
        is_narrow: false,
        is_omitted_if_zero: false,
        get: |sample| sample.cycle as i64,
        set: |sample, value, due| {
            sample.cycle = value as u64;
            sample.due_ns = due.due_ns(sample.cycle);
            Some(())
        },
    },
    Column {
        name: "latency_ns",
        is_narrow: false,
        is_omitted_if_zero: false,
        get: Sample::latency_ns,
        set: |sample, value, _| {
            sample.wake_ns = sample.due_ns.wrapping_add_signed(value);
            sample.end_ns = sample.wake_ns;
            Some(())
        },
    },
    Column {
        name: "execution_ns",
        is_narrow: false,
        is_omitted_if_zero: true,
        get: Sample::execution_ns,
        set: |sample, value, _| {
            sample.end_ns = sample.wake_ns.wrapping_add_signed(value);
            Some(())
        },
    },
    Column {
        name: "work_ns",
        is_narrow: false,
        is_omitted_if_zero: true,
        get: |sample| sample.work_ns.into(),
        set: |sample, value, _| value.try_into().ok().map(|value| sample.work_ns = value),
    },
    Column {
        name: "cpu_time_ns",
        is_narrow: false,
        is_omitted_if_zero: true,
        get: |sample| sample.cpu_time_ns.into(),
        set: |sample, value, _| {
            value
                .try_into()
                .ok()
                .map(|value| sample.cpu_time_ns = value)
        },
    },
    Column {
        name: "involuntary_switches",
        is_narrow: true,
        is_omitted_if_zero: true,
        get: |sample| sample.involuntary_switches.into(),
        set: |sample, value, _| {
            value
                .try_into()
                .ok()
                .map(|value| sample.involuntary_switches = value)
        },
    },
    Column {
        name: "cpu",
        is_narrow: true,
        is_omitted_if_zero: true,
        get: |sample| sample.cpu.into(),
        set: |sample, value, _| value.try_into().ok().map(|value| sample.cpu = value),
    },
    Column {
        name: "flags",
        is_narrow: true,
        is_omitted_if_zero: true,
        get: |sample| sample.flags.0.into(),
        set: |sample, value, _| {
            value
                .try_into()
                .ok()
                .map(|value| sample.flags = SampleFlags(value))
        },
    },
];

/// Which columns a file needs: those in which some sample is not 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Columns([bool; ALL.len()]);

impl Columns {
    /// Takes account of one more sample.
    pub(crate) fn note(&mut self, sample: &Sample) {
        for (needed, column) in self.0.iter_mut().zip(&ALL) {
            *needed = *needed || (column.get)(sample) != 0;
        }
    }

    /// The columns to write.
    pub(crate) fn needed(self) -> impl Iterator<Item = &'static Column> {
        ALL.iter()
            .zip(self.0)
            .filter(|(c, needed)| *needed || !c.is_omitted_if_zero)
            .map(|(c, _)| c)
    }
}
