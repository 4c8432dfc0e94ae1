//! Status lines of other tools than cyclictest, a summary of each thread: cyclicdeadline (with an
//! interval and no priority), signaltest (the other way round) and jitterdebugger (with a CPU).

use crate::form::{Fit, Reader};
use crate::imported::{counted_lacks, undue_lacks};
use crate::status_lines::{Statuses, bare, has_lines, take};
use crate::{Form, ImportError, Imported, Measured, Thread, Values};
use wakepath_timeline::Lack;

pub(crate) const CYCLICDEADLINE: Form = Form {
    word: "cyclicdeadline",
    written_by: "cyclicdeadline -q -D 60",
    uses: &[],
    reader: Reader::Text(
        |text| Fit::certain_if(has_lines(text, &["I"], &["P"])),
        |text, _| {
            let mut found = read(text, "cyclicdeadline", Measured::Latency, "wake-up latency")?;
            found.scheduler = Some("DEADLINE");
            Ok(found)
        },
    ),
};

pub(crate) const SIGNALTEST: Form = Form {
    word: "signaltest",
    written_by: "signaltest -q -l 10000",
    uses: &[],
    reader: Reader::Text(
        |text| Fit::certain_if(has_lines(text, &["P"], &["I"])),
        |text, _| {
            let measures = "time from a signal's sending to its arrival, once around";
            read(text, "signaltest", Measured::Handover, measures)
        },
    ),
};

pub(crate) const JITTERDEBUGGER: Form = Form {
    word: "jitterdebugger-text",
    written_by: "jitterdebugger -D 60",
    uses: &[],
    reader: Reader::Text(
        |text| Fit::certain_if(has_lines(text, &["A"], &["P", "I"])),
        |text, _| {
            let mut found = read(text, "jitterdebugger", Measured::Latency, "wake-up latency")?;
            // It serves due times that it missed late, and skips none.
            found.lacks.retain(|lack| *lack != Lack::SkippedPeriods);
            Ok(found)
        },
    ),
};

fn read(
    text: &str,
    tool: &'static str,
    measured: Measured,
    measures: &'static str,
) -> Result<Imported, ImportError> {
    let mut statuses = Statuses::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = bare(line);
        if line.trim_start().starts_with("T:") {
            take(&mut statuses, number, &line)?;
        }
    }
    let mut threads = Vec::new();
    for (number, status) in statuses.iter().filter(|(_, status)| status.cycles > 0) {
        let found = status.histogram(1_000);
        let found = found.ok_or_else(|| ImportError::whole("it is not a latency"))?;
        let name = match status.cpu {
            Some(cpu) => format!("CPU {cpu}"),
            None => format!("thread {number}"),
        };
        let interval = status.interval.and_then(|us| us.checked_mul(1_000));
        threads.push(Thread {
            period_ns: interval.filter(|ns| *ns > 0),
            priority: status
                .priority
                .filter(|own| *own <= 99)
                .map(|own| (own, false)),
            ..Thread::new(name, status.cpu, Values::Histogram(found))
        });
    }
    if threads.is_empty() {
        return Err(ImportError::whole("no thread measured a cycle"));
    }
    Ok(Imported {
        tool,
        measures,
        measured,
        lacks: if measured.has_due_times() {
            counted_lacks(&threads)
        } else {
            undue_lacks(&threads)
        },
        threads,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Asked;

    fn figures(form: &Form, text: &str) -> (Imported, Vec<(u64, Option<i64>)>) {
        assert_eq!(Form::of_file(text.as_bytes()).unwrap(), form);
        let found = form.read(text.as_bytes(), &Asked::default()).unwrap();
        let figures = found.threads.iter().map(|thread| match &thread.values {
            Values::Histogram(found) => (found.count(), found.max_ns),
            _ => panic!("{thread:?}"),
        });
        let figures = figures.collect();
        (found, figures)
    }

    #[test]
    fn the_last_lines_of_real_files_are_the_figures() {
        let (found, all) = figures(
            &JITTERDEBUGGER,
            include_str!("../tests/fixtures/jitterdebugger-v.txt"),
        );
        assert_eq!(all, [(245, Some(515_000)), (230, Some(50_000))]);
        assert_eq!(found.threads[1].cpu, Some(1));
        let (found, all) = figures(
            &SIGNALTEST,
            include_str!("../tests/fixtures/signaltest.txt"),
        );
        assert_eq!(all, [(200, Some(79_000)), (200, Some(10_113_000))]);
        assert_eq!(found.threads[0].priority, Some((80, false)));
        let (found, all) = figures(
            &CYCLICDEADLINE,
            include_str!("../tests/fixtures/cyclicdeadline.txt"),
        );
        assert_eq!(all, [(201, Some(122_000))]);
        assert_eq!(found.threads[0].period_ns, Some(5_000_000));
        assert_eq!(found.scheduler, Some("DEADLINE"));
    }
}
