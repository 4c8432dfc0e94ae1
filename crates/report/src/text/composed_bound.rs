//! The bound composed of sections of kernel code, in words: of a file's or of the run's own, what it consists of, and why
//! there is none. It composes nothing.

use std::fmt::Write;
use wakepath_archive::SectionsEffect;
use wakepath_assess::{BoundMetric, Bounds, Composed, RecordedSections};
use wakepath_timeline::number::three_digits;
use wakepath_timeline::{duration, one_line};
use wakepath_verdict::count;

pub(super) fn write(bounds: &Bounds, prose: &mut String) -> std::fmt::Result {
    match &bounds.composed {
        Some(composed) => write_composed(composed, prose)?,
        None if !bounds.recorded.is_empty() => {
            for recorded in &bounds.recorded {
                write_recorded(recorded, prose)?;
            }
            write_refused(&bounds.recorded, prose)?;
        }
        // Sections bound latencies alone.
        None if bounds.metric != BoundMetric::Latency => {}
        None => writeln!(
            prose,
            "no bound composed of sections of kernel code: the run recorded none; fix: put trace = \
             {{ sections = \"2 s\" }} into the scenario, or give --sections FILE"
        )?,
    }
    Ok(())
}

/// The bound composed from a phase's own sections, and the recording's share in it.
fn write_recorded(recorded: &RecordedSections, text: &mut String) -> std::fmt::Result {
    let Some(composed) = &recorded.composed else {
        return Ok(());
    };
    write_composed(composed, text)?;
    if recorded.effect.with.samples > 0 {
        writeln!(
            text,
            "{}",
            effect_line(recorded.observed_ns, &recorded.effect)
        )?;
    }
    if recorded.lost > 0 {
        writeln!(
            text,
            "{} events were lost: a section across them is in no figure",
            count(recorded.lost)
        )?;
    }
    Ok(())
}

/// Each reason once, with the places that it is of.
fn write_refused(all: &[RecordedSections], text: &mut String) -> std::fmt::Result {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for one in all {
        let Some(why) = &one.refused else { continue };
        let place = format!("{}, CPU {}", one_line(&one.phase), one.cpu);
        match told.iter_mut().find(|(known, _)| known == why) {
            Some((_, places)) => places.push(place),
            None => told.push((why, vec![place])),
        }
    }
    for (why, places) in told {
        writeln!(
            text,
            "bound composed of sections of kernel code ({}): refused: {}",
            places.join("; "),
            one_line(why)
        )?;
    }
    Ok(())
}

/// What recording sections does to wake-ups.
fn effect_line(observed_ns: u64, effect: &SectionsEffect) -> String {
    let times = |with: i64, without: i64| match without {
        1.. => format!(" ({} times)", three_digits(with as f64 / without as f64)),
        _ => String::new(),
    };
    let of = |with: i64, without: i64| {
        format!(
            "{} instead of {}{}",
            duration::three_digits(with),
            duration::three_digits(without),
            times(with, without)
        )
    };
    let (with, without) = (&effect.with, &effect.without);
    format!(
        "probe effect: while these events were recorded ({}), a thread of FIFO 95 woke after {} in the median, \
         after {} at most; the sections hold the recording too, and so does the bound",
        duration::three_digits(observed_ns as i64),
        of(with.median_ns, without.median_ns),
        of(with.largest_ns, without.largest_ns)
    )
}

fn write_composed(composed: &Composed, text: &mut String) -> std::fmt::Result {
    let parts = composed.made_of.iter();
    let parts: Vec<String> = parts
        .map(|(what, ns)| format!("{} ({})", duration::three_digits_up(*ns), one_line(what)))
        .collect();
    writeln!(
        text,
        "bound composed of sections of kernel code ({}): {} = {}; for the thread of the highest \
         priority on its CPU, and for sections no longer than these",
        one_line(&composed.source),
        duration::three_digits_up(composed.latency_ns),
        parts.join(" + ")
    )?;
    if let Some(ns) = composed.contradicted_by_ns {
        writeln!(
            text,
            "COMPOSITION AT FAULT: {} was observed, above that bound; a section or an interrupt is \
             longer than given, or something else than a section held the thread up",
            duration::apart_from(ns.cast_signed(), composed.latency_ns.cast_signed())
        )?;
    }
    Ok(())
}
