//! Display of a watch under way: the live view on a terminal, a line now and then elsewhere.

use crate::view::{Lines, LiveView, Shared, Standing, Time, Worst, clock};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use wakepath_archive::watch::{Session, Threads};
use wakepath_console::terminal::{OneLine, live_view_fits, tell};
use wakepath_directory::Directory;
use wakepath_measure::watch::News;
use wakepath_timeline::CpuSet;
use wakepath_timeline::duration::three_digits;

/// The first line without a view; each next one after twice the time, up to the longest.
const FIRST_LINE: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(600);

/// Shows a watch.
pub struct Shown {
    standing: Shared,
    live: Option<LiveView>,
    /// Rows by thread.
    rows: BTreeMap<u32, usize>,
    /// Threads whose latest activations have a period.
    periodic: BTreeSet<u32>,
    plainly: bool,
    said: Instant,
    say_after: Duration,
}

impl Shown {
    /// Begins with nothing seen.
    pub fn begin(
        session: &Session,
        directory: &Directory,
        duration: Option<Duration>,
        wants_plain: bool,
    ) -> Self {
        let time = duration.map_or(Time::Open, Time::For);
        let mut standing = Standing::new(Lines::Threads, time);
        let cpus = CpuSet::from(&session.cpus[..]);
        standing.what = format!("watching {} on CPU {cpus}", session.run_name());
        standing.recording = directory.path().in_one_line();
        standing.status = "no thread looks periodic so far".into();
        let standing = Shared::new(standing);
        let live = if live_view_fits(wants_plain) {
            LiveView::start(standing.clone())
        } else {
            None
        };
        Self {
            plainly: live.is_none(),
            standing,
            live,
            rows: BTreeMap::new(),
            periodic: BTreeSet::new(),
            said: Instant::now(),
            say_after: FIRST_LINE,
        }
    }

    /// Its state, for others to look at.
    pub fn standing(&self) -> Shared {
        self.standing.clone()
    }

    /// Takes in what was seen; whether a latency was above the limit.
    pub fn take(&mut self, news: &News, threads: &Threads, above_ns: Option<u64>) -> bool {
        let mut standing = self.standing.lock();
        let passes = |latency_ns: u64| above_ns.is_some_and(|limit| latency_ns > limit);
        let mut is_above = false;
        if let Some((latency_ns, callback)) = &news.callback {
            is_above = passes(*latency_ns);
            let latency = three_digits(latency_ns.cast_signed());
            standing.explained(Worst {
                latency_ns: *latency_ns,
                text: format!("worst so far: {latency} ({callback}); cause follows at the end"),
            });
        }
        let seen = &news.threads;
        for of in seen {
            let Some(thread) = threads.get(&of.thread) else {
                continue;
            };
            let row = *self.rows.entry(of.thread).or_insert_with(|| {
                let policy = thread.policy.as_ref().map(ToString::to_string);
                let name = match policy {
                    Ok(policy) => format!("{} {policy}", thread.name),
                    Err(_) => thread.name.clone(),
                };
                let is_taken = standing.rows.iter().any(|row| row.name == name);
                let name = if is_taken {
                    format!("{name} #{}", of.thread)
                } else {
                    name
                };
                standing.row(&name, "")
            });
            standing.rows[row].is_at(&of.figures);
            let name = standing.rows[row].name.clone();
            for sample in of.samples.iter().filter(|_| !of.is_executing) {
                let latency_ns = u64::try_from(sample.latency_ns()).unwrap_or(0);
                is_above |= passes(latency_ns);
                let latency = three_digits(sample.latency_ns());
                standing.explained(Worst {
                    latency_ns,
                    // Whether its period lasts is known at the end.
                    text: format!("worst so far: {latency} ({name}); cause follows at the end"),
                });
            }
            standing.places.retain(|(of, _)| *of != name);
            let places = of.figures.places.iter().map(|place| (name.clone(), *place));
            standing.places.extend(places);
        }
        if !seen.is_empty() {
            standing.places.sort_by_cached_key(|(_, place)| place.cpu);
            for of in seen {
                if of.is_periodic {
                    self.periodic.insert(of.thread)
                } else {
                    self.periodic.remove(&of.thread)
                };
            }
            let periodic = self.periodic.len();
            // The trace is written once a second, and read when no CPU can still add to what is read.
            standing.status = format!(
                "{periodic} of {} threads look periodic so far; figures lag by about 2 s",
                threads.len()
            );
        }
        let line = self.line(&standing);
        drop(standing);
        if let Some(line) = line {
            tell!("{line}");
            self.said = Instant::now();
            self.say_after = (self.say_after * 2).min(LONGEST);
        }
        is_above
    }

    /// The line without a view, when it is time.
    fn line(&self, standing: &Standing) -> Option<String> {
        if !self.plainly || self.said.elapsed() < self.say_after {
            return None;
        }
        let gone = clock(standing.gone_and_left().0);
        let worst = standing.rows.iter().filter_map(|row| {
            let of = row.totals();
            Some((
                of.max_ns?,
                format!("{}: max {}", row.name, three_digits(of.max_ns?)),
            ))
        });
        let worst = worst
            .max()
            .map_or(String::new(), |(_, text)| format!("; {text}"));
        Some(format!("watched for {gone}: {}{worst}", standing.status))
    }

    /// Takes the view away.
    pub fn end(&mut self) {
        if let Some(mut live) = self.live.take() {
            live.end();
        }
    }
}
