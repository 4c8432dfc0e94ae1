//! What runs when in the worst window of a task, a row for each task and one for interrupts and
//! blocking, with the due time and the deadline of the worst job.

use super::Figure;
use super::plot::{Plot, slug};
use super::scale::Linear;
use wakepath_assess::Schedulability;
use wakepath_schedulability::{Runs, Window};
use wakepath_timeline::{duration, one_line};

const ROW: f64 = 24.0;
/// Characters of a name that fit next to the rows.
const NAME: usize = 28;

/// The worst window of a task.
pub(crate) fn draw(answer: &Schedulability, window: &Window) -> Figure {
    let name = |task: usize| one_line(&answer.set.tasks[task].name).clone();
    let mut rows: Vec<Runs> = Vec::new();
    for stretch in &window.stretches {
        let row = row_of(&stretch.what);
        if !rows.contains(&row) {
            rows.push(row);
        }
    }
    // Interrupts and blocking first, then by priority; the task itself last.
    rows.sort_by_cached_key(|row| match row {
        Runs::Interrupt(_) => (0, 0),
        Runs::Blocking => (1, 0),
        Runs::Task(task) => (2, u32::MAX - answer.set.tasks[*task].priority),
    });
    let mut plot = Plot::rows(rows.len(), ROW, 190.0, 40.0);
    let begins = (window.due_ns as f64 / 1e6).min(0.0);
    let ends = (window.end_ns as f64 / 1e6).max(window.deadline_ns as f64 / 1e6);
    // The axis counts from the due time or the window's start, whichever is first.
    let axis = Linear {
        most: ends - begins,
        from: plot.left,
        to: plot.right,
    };
    let at = |ms: f64| axis.at(ms - begins);
    let title = if window.due_ns < 0 {
        "ms from the due time"
    } else {
        "ms from the start of the window"
    };
    plot.numbers_below(axis, "", title);
    let mut told = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let y = plot.top + place as f64 * ROW;
        let label = match row {
            Runs::Task(task) => name(*task),
            Runs::Interrupt(_) => "interrupts".into(),
            Runs::Blocking => "blocking".into(),
        };
        let short: String = if label.chars().count() > NAME {
            label.chars().take(NAME - 1).chain(['…']).collect()
        } else {
            label.to_string()
        };
        plot.text("end", plot.left - 8.0, y + ROW * 0.7, &short);
        plot.group(place, &[]);
        let mut sum = 0;
        for stretch in &window.stretches {
            if row_of(&stretch.what) != *row {
                continue;
            }
            let ns = stretch.to_ns - stretch.from_ns;
            sum += ns;
            let (from, to) = (stretch.from_ns as f64 / 1e6, stretch.to_ns as f64 / 1e6);
            let what = match &stretch.what {
                Runs::Interrupt(what) => (*what).to_owned(),
                _ => label.to_string(),
            };
            let hint = format!(
                "{what}: {} from {from} ms",
                duration::three_digits(ns.cast_signed())
            );
            let (x, end) = (at(from), at(to));
            plot.rect("body", [x, y + 4.0, (end - x).max(0.5), ROW - 8.0], &hint);
        }
        plot.ungroup();
        told.push(format!(
            "{label} {}",
            duration::three_digits(sum.cast_signed())
        ));
    }
    for (ns, what) in [(window.due_ns, "due"), (window.deadline_ns, "deadline")] {
        let x = at(ns as f64 / 1e6);
        plot.line("limit", [x, plot.top, x, plot.bottom]);
        let (class, beside) = match what {
            "due" => ("limit", x + 3.0),
            _ => ("limit end", x - 3.0),
        };
        plot.text(class, beside, plot.top - 8.0, what);
    }
    let title = format!(
        "{}: the window of its worst job, {} from due time to end",
        name(window.task),
        duration::three_digits_up(u64::try_from(window.response_ns()).unwrap_or(0))
    );
    plot.done(
        format!("window-{}", slug(&name(window.task))),
        title.clone(),
        "The CPU's work in the worst case: each stretch with the switches around it. The left line is \
         the due time of the worst job, the right one its deadline.",
        format!("{title}. {}.", told.join("; ")),
    )
}

/// Interrupts share a row.
fn row_of(what: &Runs) -> Runs {
    match what {
        Runs::Interrupt(_) => Runs::Interrupt("interrupts"),
        other => other.clone(),
    }
}
