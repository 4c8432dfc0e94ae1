//! A table with a line for each cycle: wakepath's own export, which comes back whole, or any logger's
//! with named columns. Which column is what is `columns`' work, where cycles are due `rows`'.

mod columns;
mod number;
mod record;
mod rows;

use crate::form::{self, Fit};
use crate::{Asked, Form, ImportError, Imported, Place, Thread, Unit, Use, Values};
use columns::{Columns, Role};
use record::Records;
use rows::{Growing, Line};
use std::borrow::Cow;
use wakepath_timeline::count::counted;
use wakepath_timeline::{Lack, Sample, SampleFlags};

/// As many lines as are held in memory: 2.4 GB of samples.
const MOST_LINES: usize = 50_000_000;
/// As many threads as a recording can number.
const MOST_THREADS: usize = 10_000;

pub(crate) const FORM: Form = Form {
    word: "csv",
    written_by: "wakepath export --format csv",
    uses: &[Use::Columns],
    reader: form::Reader::Text(fits, read),
};

/// Any table: a first record of names or numbers that have a separator between them, or one name
/// that is known.
fn fits(text: &str) -> Fit {
    let (mut records, mut cells) = (Records::new(text), Vec::new());
    if !matches!(records.next(&mut cells), Ok(Some(_))) {
        return Fit::No;
    }
    let (first, is_known) = (
        cells.len(),
        cells.iter().any(|cell| columns::is_known(cell)),
    );
    if !matches!(records.next(&mut cells), Ok(Some(_))) {
        return if is_known { Fit::Possible } else { Fit::No };
    }
    let begins_with_digit = |cell: &Cow<'_, str>| cell.starts_with(|c: char| c.is_ascii_digit());
    let is_table = first == cells.len() && cells.iter().any(begins_with_digit);
    if is_table && (is_known || first > 1) {
        Fit::Possible
    } else {
        Fit::No
    }
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let mut records = Records::new(text);
    let mut cells = Vec::new();
    let Some(first_line) = records.next(&mut cells)? else {
        return Err(ImportError::whole("holds no line"));
    };
    let (columns, named) = Columns::find(first_line, &cells, asked)?;
    let reader = Reader::new(columns, records.decimal_comma(), asked)?;
    let width = cells.len();
    let mut threads: Vec<(Key, Growing)> = Vec::new();
    let mut lines = 0;
    let mut last = if named {
        records.next(&mut cells)?
    } else {
        Some(first_line)
    };
    let mut at = 0;
    while let Some(line) = last {
        lines += 1;
        if cells.len() != width || lines > MOST_LINES {
            let why = if cells.len() != width {
                format!(
                    "{}, but the first line has {width}: truncated?",
                    counted(cells.len() as u64, "cell", "cells")
                )
            } else {
                format!("more than {MOST_LINES} lines: import a part of the file")
            };
            return Err(ImportError::at(line, why));
        }
        let key = reader.key(line, &cells)?;
        // Lines of one thread mostly come together.
        if threads.get(at).is_none_or(|(known, _)| *known != key) {
            at = match threads.iter().position(|(known, _)| *known == key) {
                Some(at) => at,
                None if threads.len() == MOST_THREADS => {
                    let why = format!("more than {MOST_THREADS} threads");
                    return Err(ImportError::at(line, why));
                }
                None => {
                    threads.push((key, Growing::default()));
                    threads.len() - 1
                }
            };
        }
        let (_, growing) = &mut threads[at];
        growing.take(line, reader.line(line, &cells)?)?;
        last = records.next(&mut cells)?;
    }
    if threads.is_empty() {
        return Err(ImportError::whole("holds names of columns and no cycle"));
    }
    reader.imported(threads, asked)
}

/// Whose line it is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    thread: String,
    place: Option<Place>,
}

struct Reader {
    columns: Columns,
    due: Option<(usize, Unit)>,
    /// The first instruction by itself, or how late it was.
    start: Option<(usize, Unit)>,
    latency: Option<(usize, Unit)>,
    /// Whether numbers have a comma for a point, where something else separates cells.
    decimal_comma: bool,
    /// The first cycle that is judged and the end, which only cycles with numbers can have.
    judged: Option<(usize, usize)>,
}

impl Reader {
    fn new(columns: Columns, decimal_comma: bool, asked: &Asked<'_>) -> Result<Self, ImportError> {
        let reader = Self {
            decimal_comma,
            due: columns.time(Role::Due),
            start: columns.time(Role::Start),
            latency: columns.time(Role::Latency),
            judged: columns
                .index_of(Role::Cycle)
                .and(columns.index_of(Role::FirstJudgedCycle))
                .zip(columns.index_of(Role::EndCycle)),
            columns,
        };
        let why = match (reader.due, reader.start, reader.latency) {
            (_, None, None) => {
                "has neither `start`, when a cycle began, nor `latency`: name it with --columns"
            }
            (None, Some(_), None) => {
                "has `start` but not `due`, the time when a cycle should begin: its lateness is \
                 unknown; name the column with --columns"
            }
            (None, _, Some(_)) if asked.period_ns.is_none() => {
                "has latencies and no due times: give --period"
            }
            _ => return Ok(reader),
        };
        Err(ImportError::whole(why))
    }

    fn key(&self, line: usize, cells: &[Cow<'_, str>]) -> Result<Key, ImportError> {
        let text = |role| {
            let at: Option<usize> = self.columns.index_of(role);
            at.map(|at| as_written(&cells[at]).to_owned())
        };
        let count = |role| match self.columns.index_of(role) {
            None => Ok(0),
            Some(at) => whole::<u32>(line, role, &cells[at]),
        };
        let place = match (text(Role::Condition), text(Role::Phase)) {
            (None, None) => None,
            (condition, phase) => Some(Place {
                segment: count(Role::Segment)?,
                repetition: count(Role::Repetition)?,
                phase: phase.unwrap_or_else(|| "imported".into()),
                condition: condition.unwrap_or_default(),
            }),
        };
        Ok(Key {
            thread: text(Role::Thread).unwrap_or_else(|| "loop".into()),
            place,
        })
    }

    fn line(&self, line: usize, cells: &[Cow<'_, str>]) -> Result<Line, ImportError> {
        let time = |role: Role, (at, unit): (usize, Unit)| {
            let cell = &*cells[at];
            let cell = if self.decimal_comma {
                Cow::Owned(cell.replacen(',', ".", 1))
            } else {
                Cow::Borrowed(cell)
            };
            number::nanoseconds(&cell, unit).ok_or_else(|| {
                let why = format!(
                    "{:?} in column {} is not a time",
                    cells[at],
                    columns::word(role)
                );
                ImportError::at(line, why)
            })
        };
        let may_be = |role: Role| match self.columns.time(role) {
            Some(place) if !cells[place.0].is_empty() => time(role, place).map(Some),
            _ => Ok(None),
        };
        let flag = |role: Role, flag: SampleFlags| match self.columns.index_of(role) {
            None => Ok(SampleFlags::default()),
            Some(at) => match &*cells[at] {
                "0" | "" | "false" => Ok(SampleFlags::default()),
                "1" | "true" => Ok(flag),
                other => {
                    let why = format!("{other:?} in column {} is not 0 or 1", columns::word(role));
                    Err(ImportError::at(line, why))
                }
            },
        };
        let due_ns = self.due.map(|at| time(Role::Due, at)).transpose()?;
        let beyond = || ImportError::at(line, "its times are out of range");
        let latency_ns = match (due_ns, self.start, self.latency) {
            (Some(due), Some(at), _) => {
                time(Role::Start, at)?.checked_sub(due).ok_or_else(beyond)?
            }
            (_, _, Some(at)) => time(Role::Latency, at)?,
            _ => 0,
        };
        let start_ns = due_ns.map(|due| due.checked_add(latency_ns).ok_or_else(beyond));
        let start_ns = start_ns.transpose()?;
        let end = may_be(Role::End)?.zip(start_ns);
        let execution_ns = match (end, may_be(Role::Response)?, may_be(Role::Execution)?) {
            (Some((end, start)), ..) => Some(end.checked_sub(start).ok_or_else(beyond)?),
            (None, Some(response), _) => Some(response.checked_sub(latency_ns).ok_or_else(beyond)?),
            (None, None, execution) => execution,
        };
        if execution_ns.is_some_and(|ns| ns < 0) {
            return Err(ImportError::at(line, "its work ends before it begins"));
        }
        let mut sample = Sample {
            flags: flag(Role::WarmUp, SampleFlags::WARM_UP)?
                .with(flag(Role::DueAlreadyPast, SampleFlags::DUE_ALREADY_PAST)?)
                .with(flag(
                    Role::SleepInterrupted,
                    SampleFlags::SLEEP_INTERRUPTED,
                )?)
                .with(flag(Role::WorkFault, SampleFlags::WORK_FAULT)?)
                .with(flag(Role::Unanswered, SampleFlags::UNANSWERED)?),
            ..Sample::default()
        };
        let short = |ns: i64| {
            let why = "a time of work that is negative or longer than 4 s";
            u32::try_from(ns).map_err(|_| ImportError::at(line, why))
        };
        if let Some(ns) = may_be(Role::Work)? {
            sample.work_ns = short(ns)?;
            sample.flags = sample.flags.with(SampleFlags::HAS_WORK_TIME);
        }
        if let Some(ns) = may_be(Role::CpuTime)? {
            sample.cpu_time_ns = short(ns)?;
            sample.flags = sample.flags.with(SampleFlags::HAS_CPU_TIME);
        }
        if let Some(at) = self.columns.index_of(Role::Switches)
            && !cells[at].is_empty()
        {
            sample.involuntary_switches = whole(line, Role::Switches, &cells[at])?;
            sample.flags = sample.flags.with(SampleFlags::HAS_SWITCHES);
        }
        if let Some(at) = self.columns.index_of(Role::Cpu) {
            sample.cpu = whole(line, Role::Cpu, &cells[at])?;
        }
        let cycle = match self.columns.index_of(Role::Cycle) {
            None => None,
            Some(at) => Some(whole(line, Role::Cycle, &cells[at])?),
        };
        let judged = match self.judged {
            None => None,
            Some((first, end)) => Some((
                whole(line, Role::FirstJudgedCycle, &cells[first])?,
                whole(line, Role::EndCycle, &cells[end])?,
            )),
        };
        Ok(Line {
            due_ns,
            latency_ns,
            execution_ns,
            cycle,
            judged,
            sample,
        })
    }

    fn imported(
        &self,
        threads: Vec<(Key, Growing)>,
        asked: &Asked<'_>,
    ) -> Result<Imported, ImportError> {
        let ours = self.columns.are_ours();
        let mut made = Vec::new();
        let (mut uneven, mut work) = (false, true);
        for (key, growing) in threads {
            let row = growing.row(&key.thread, asked.period_ns)?;
            uneven |= row.is_uneven;
            work &= row.has_work;
            made.push(Thread {
                place: key.place,
                ..Thread::new(key.thread, None, Values::Row(row.row))
            });
        }
        let mut lacks = Vec::new();
        if uneven {
            lacks.push(Lack::UnevenDueTimes);
        }
        match self.due {
            None => lacks.extend([Lack::SkippedPeriodsInferred, Lack::DueTimes]),
            Some(_) if !ours => lacks.push(Lack::LostLines),
            Some(_) => {}
        }
        if self.judged.is_none() {
            lacks.push(Lack::AfterLastLine);
        }
        if !work {
            lacks.push(Lack::EndOfWork);
        }
        match ours {
            true => lacks.push(Lack::Loads),
            false if self.columns.index_of(Role::WarmUp).is_none() => lacks.push(Lack::WarmUp),
            false => {}
        }
        lacks.extend([Lack::EffectivePolicy, Lack::Machine]);
        let periods = made.iter().map(|thread| match &thread.values {
            Values::Row(row) => row.due.period_ns,
            _ => 0,
        });
        let shortest = periods.min();
        Ok(Imported {
            tool: if ours { "wakepath" } else { "CSV" },
            measures: "due times and first instructions as the file has them",
            lacks,
            threads: made,
            period_ns: shortest,
            ..Imported::default()
        })
    }
}

/// A name without the mark that keeps a spreadsheet from taking it for a formula.
fn as_written(cell: &str) -> &str {
    let bare = cell.strip_prefix('\'');
    bare.filter(|bare| bare.starts_with(['=', '+', '-', '@', '\t', '\r']))
        .unwrap_or(cell)
}

fn whole<T: std::str::FromStr>(line: usize, role: Role, cell: &str) -> Result<T, ImportError> {
    cell.parse().map_err(|_| {
        let why = format!(
            "{cell:?} in column {} is not a valid number",
            columns::word(role)
        );
        ImportError::at(line, why)
    })
}

#[cfg(test)]
mod tests;
