//! The rounds as figures and tables: shifts against the untraced loop of the same round, the cost of
//! an event, ratios against the other tracers. Pure.

use super::passages::{Passed, TOGETHER};
use super::tracer::{Traced, Tracer};
use crate::bench::ratio::Ratios;
use crate::table::aligned;
use std::fmt::Write;
use std::time::Duration;

/// Figures of one round with one tracer.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    pub median_ns: f64,
    pub p999_ns: Option<f64>,
    pub traced: Traced,
    /// How long it recorded.
    pub seconds: f64,
    /// The load's figures, if it ran.
    pub passed: Option<Passed>,
}

/// By round, then by tracer; the first is the run without one.
type Rounds = [Vec<Option<Round>>];

/// Largest shift of the median in an idle machine, as a share of the untraced one.
const IDLE_SHARE: f64 = 0.05;
/// Largest shift under load, in nanoseconds.
const LOADED_NS: f64 = 1_000.0;
/// Largest share of a CPU for the reader.
const READER: f64 = 0.01;
/// Index of the evaluated tracer: the one that `--trace` chooses for segments that fit.
const OURS: usize = 1;

/// The tables, and whether a target was missed.
pub fn report(tracers: &[Tracer], idle: &Rounds, loaded: &Rounds) -> (String, bool) {
    let mut text = String::new();
    for (name, rounds) in [("idle", idle), ("loaded", loaded)] {
        let _ = write!(text, "\n{name}\n{}", table(tracers, rounds, loaded));
    }
    let _ = write!(text, "\n{}", ratios(tracers, loaded));
    let (said, missed) = targets(idle, loaded);
    let _ = write!(text, "\n{said}");
    (text, missed)
}

fn of<T>(rounds: &Rounds, place: usize, value: impl Fn(&Round) -> Option<T>) -> Vec<T> {
    let rounds = rounds.iter().filter_map(|round| round.get(place)?.as_ref());
    rounds.filter_map(value).collect()
}

/// A figure of a tracer less that of the untraced loop, round by round.
fn shifts(rounds: &Rounds, place: usize, value: impl Fn(&Round) -> Option<f64>) -> Ratios {
    let shift = |round: &Vec<Option<Round>>| {
        Some(value(round.get(place)?.as_ref()?)? - value(round.first()?.as_ref()?)?)
    };
    Ratios::new(rounds.iter().filter_map(shift))
}

fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    Ratios::new(values).median()
}

/// Least time of a passage in nanoseconds.
fn passage_ns(loaded: &Rounds, place: usize) -> Option<f64> {
    let least = of(loaded, place, |round| Some(round.passed?.least));
    let least: Option<Duration> = least.into_iter().min();
    Some(least?.as_nanos() as f64 / f64::from(TOGETHER))
}

/// Events of a passage: as our own probe counts them, since all record the same.
fn events_each(loaded: &Rounds) -> Option<f64> {
    let each = of(loaded, OURS, |round| {
        Some(round.traced.events? as f64 / round.passed?.passages as f64)
    });
    median(each)
}

/// Cost of an event in nanoseconds: the extra time of a passage divided by its events.
fn event_ns(loaded: &Rounds, place: usize) -> Option<f64> {
    let more = passage_ns(loaded, place)? - passage_ns(loaded, 0)?;
    Some(more / events_each(loaded)?)
}

fn table(tracers: &[Tracer], rounds: &Rounds, loaded: &Rounds) -> String {
    let head = [
        "",
        "median, µs",
        "shift, µs",
        "(rounds)",
        "p99.9, µs",
        "(rounds)",
        "ns an event",
        "events/s",
        "lost",
        "reader, % CPU",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let micros = |ns: Option<f64>| ns.map_or("–".into(), |ns| format!("{:.1}", ns / 1e3));
    let spread = |ratios: &Ratios| match ratios.spread() {
        Some((low, high)) => format!("{:.1} … {:.1}", low / 1e3, high / 1e3),
        None => "–".into(),
    };
    for (place, tracer) in tracers.iter().enumerate() {
        let p999 = Ratios::new(of(rounds, place, |round| round.p999_ns));
        let shift = shifts(rounds, place, |round| Some(round.median_ns));
        let rate = of(rounds, place, |round| {
            Some(round.traced.events? as f64 / round.seconds)
        });
        let lost = of(rounds, place, |round| round.traced.lost);
        let reader = of(rounds, place, |round| Some(round.traced.reader * 100.0));
        let traced = *tracer != Tracer::Nothing;
        let only = |text: String| if traced { text } else { String::new() };
        let whole = |value: Option<f64>| value.map_or("–".into(), |value| format!("{value:.0}"));
        rows.push(vec![
            tracer.name().to_owned(),
            micros(median(of(rounds, place, |round| Some(round.median_ns)))),
            only(micros(shift.median())),
            only(spread(&shift)),
            micros(p999.median()),
            spread(&p999),
            only(whole(event_ns(loaded, place))),
            only(whole(median(rate))),
            only(if lost.is_empty() {
                "–".into()
            } else {
                lost.iter().sum::<u64>().to_string()
            }),
            only(median(reader).map_or("–".into(), |share| format!("{share:.2}"))),
        ]);
    }
    aligned(&rows, &[1, 2, 3, 4, 5, 6, 7, 8, 9])
}

/// Our cost of an event over that of each other tracer.
fn ratios(tracers: &[Tracer], loaded: &Rounds) -> String {
    let mut text = String::new();
    for (place, tracer) in tracers.iter().enumerate().skip(1) {
        if *tracer == Tracer::Own {
            continue;
        }
        let ratio = event_ns(loaded, OURS).zip(event_ns(loaded, place));
        let ratio = ratio.map_or("not measured".into(), |(own, other)| {
            format!("{:.2}", own / other)
        });
        let (own, other) = (Tracer::Own.name(), tracer.name());
        let _ = writeln!(text, "cost of an event, {own} / {other}: {ratio}");
    }
    text
}

fn targets(idle: &Rounds, loaded: &Rounds) -> (String, bool) {
    let shift = |rounds| shifts(rounds, OURS, |round| Some(round.median_ns)).median();
    let untraced = median(of(idle, 0, |round| Some(round.median_ns)));
    let share = shift(idle).zip(untraced).map(|(shift, all)| shift / all);
    let all = || {
        of(idle, OURS, |r| Some(r.traced))
            .into_iter()
            .chain(of(loaded, OURS, |r| Some(r.traced)))
    };
    let reader = all().map(|traced| traced.reader).reduce(f64::max);
    let lost: u64 = all().filter_map(|traced| traced.lost).sum();
    let rate = median(of(loaded, OURS, |round| {
        Some(round.traced.events? as f64 / round.seconds)
    }));
    let lines = [
        (
            share.map(|share| share < IDLE_SHARE),
            format!(
                "median shift, idle: {:.1} %, asked under {:.0} %",
                share.unwrap_or(f64::NAN) * 100.0,
                IDLE_SHARE * 100.0
            ),
        ),
        (
            shift(loaded).map(|shift| shift < LOADED_NS),
            format!(
                "median shift, loaded: {:.2} µs, asked under {:.0} µs",
                shift(loaded).unwrap_or(f64::NAN) / 1e3,
                LOADED_NS / 1e3
            ),
        ),
        (
            reader.map(|reader| reader < READER),
            format!(
                "reader: {:.2} % of a CPU at most, asked under {:.0} %",
                reader.unwrap_or(f64::NAN) * 100.0,
                READER * 100.0
            ),
        ),
        (
            rate.map(|_| lost == 0),
            format!(
                "lost: {lost} events, asked none at 500000 events/s; there were {:.0}",
                rate.unwrap_or(f64::NAN)
            ),
        ),
    ];
    let tails = [("idle", idle), ("loaded", loaded)].map(|(name, rounds)| {
        let tail = |place| Ratios::new(of(rounds, place, |round| round.p999_ns));
        let compared = tail(OURS).median().zip(tail(0).spread());
        let (ours, low, high) = compared.map_or((f64::NAN, f64::NAN, f64::NAN), |(ours, of)| {
            (ours / 1e3, of.0 / 1e3, of.1 / 1e3)
        });
        (
            // Tracing can't make it faster, so a lower value is noise.
            compared.map(|_| ours <= high),
            format!(
                "p99.9, {name}: {ours:.0} µs, asked within the untraced rounds' {low:.0} … {high:.0} µs"
            ),
        )
    });
    let mut text = String::new();
    let mut missed = false;
    for (met, line) in lines.into_iter().chain(tails) {
        missed |= met != Some(true);
        let word = match met {
            Some(true) => "met",
            Some(false) => "MISSED",
            None => "not measured",
        };
        let _ = writeln!(text, "{word}: {line}");
    }
    (text, missed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(median_ns: f64, least_us: u64, events: u64) -> Option<Round> {
        Some(Round {
            median_ns,
            p999_ns: Some(median_ns * 2.0),
            traced: Traced {
                events: Some(events),
                lost: Some(0),
                reader: 0.001,
            },
            seconds: 1.0,
            passed: Some(Passed {
                passages: 1_000,
                least: Duration::from_micros(least_us),
            }),
        })
    }

    #[test]
    fn the_cost_of_an_event_is_the_longer_passage_over_its_events() {
        // 50 passages: 250 µs without, 300 µs with; 6 events each: 1000 ns / 6.
        let rounds = [vec![round(5_000.0, 250, 0), round(5_100.0, 300, 6_000)]];
        assert_eq!(event_ns(&rounds, 1).map(f64::round), Some(167.0));
        let (text, missed) = targets(&rounds, &rounds);
        // p99.9 is 10.2 µs, and 10.0 µs untraced.
        assert!(missed, "{text}");
        assert!(text.contains("met: median shift, idle: 2.0 %"), "{text}");
        assert!(text.contains("MISSED: p99.9, idle: 10 µs"), "{text}");
        let wider = [vec![round(5_200.0, 250, 0), None], rounds[0].clone()];
        let (text, missed) = targets(&wider, &wider);
        assert!(!missed, "{text}");
    }

    #[test]
    fn a_tracer_that_never_ran_has_met_nothing() {
        let rounds = [vec![round(5_000.0, 250, 0), None]];
        let (text, missed) = targets(&rounds, &rounds);
        assert!(missed && text.contains("not measured"), "{text}");
        let all = [Tracer::Nothing, Tracer::Own];
        assert!(table(&all, &rounds, &rounds).contains('–'));
    }
}
