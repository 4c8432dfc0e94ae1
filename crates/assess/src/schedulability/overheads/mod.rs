//! Overheads from recorded runs or from a file, each cost known or named as unknown. Zero is never
//! taken for what was not measured without saying so.

mod read;

pub use read::{OverheadsError, Taken};

use super::delay_table::DelayTable;
use serde_json::{Value, json};
use wakepath_scenario::SetOverheads;
use wakepath_schedulability::Overheads;
use wakepath_schedulability::overheads::Costs;

/// The shortest time between ticks that Linux can be built with, in nanoseconds: taken where ticks
/// were seen and their period was not.
const SHORTEST_TICK_PERIOD_NS: u64 = 1_000_000;

/// Costs, with the names of those that are not known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownOverheads {
    /// Costs at numbers of tasks, ascending and never falling.
    points: Vec<(usize, Costs)>,
    cache_delay_ns: u64,
    /// By working set; before `cache_delay_ns`.
    cache_delays: DelayTable,
    /// The unknown costs, which count as 0, in words.
    pub unknown: Vec<&'static str>,
    /// Their source, in words; empty: there are none.
    pub source: String,
}

const ALL: [&str; 9] = [
    "timer lateness (event)",
    "release",
    "scheduling",
    "context switch",
    "inter-processor interrupt",
    "timer tick",
    "tick period",
    "longest kernel section",
    "cache-related delay",
];

impl KnownOverheads {
    /// None at all: all are named as unknown.
    pub fn none() -> Self {
        Self {
            unknown: ALL.to_vec(),
            ..Self::default()
        }
    }

    /// Those that a task set's file gives.
    pub fn of_file(given: &SetOverheads) -> Self {
        let costs = [
            given.event_ns,
            given.release_ns,
            given.scheduling_ns,
            given.switch_ns,
            given.ipi_ns,
            given.tick_ns,
            given.tick_period_ns,
            given.section_ns,
            given.cache_delay_ns,
        ];
        let by_size = !given.cache_delays.is_empty();
        let unknown = ALL
            .iter()
            .zip(&costs)
            .filter(|(name, cost)| cost.is_none() && !(by_size && **name == ALL[8]));
        Self {
            unknown: unknown.map(|(name, _)| *name).collect(),
            points: vec![(0, costs_of(costs.map(|cost| cost.unwrap_or(0))))],
            cache_delay_ns: given.cache_delay_ns.unwrap_or(0),
            cache_delays: DelayTable::given(&given.cache_delays),
            source: "given in the file".into(),
        }
    }

    /// Takes from a file the costs that a run can't measure: the longest kernel section and cache delays;
    /// all costs if no run was traced.
    #[must_use]
    pub fn with_file(mut self, given: &SetOverheads) -> Self {
        if self.points.is_empty() {
            let of_file = Self::of_file(given);
            self.unknown.retain(|name| of_file.unknown.contains(name));
            self.points = of_file.points;
            self.source += "; the others given in the file";
        }
        if let Some(section_ns) = given.section_ns {
            for (_, costs) in &mut self.points {
                costs.section_ns = costs.section_ns.max(section_ns);
            }
            self.unknown.retain(|name| *name != ALL[7]);
        }
        if given.cache_delay_ns.is_some() || !given.cache_delays.is_empty() {
            self.cache_delay_ns = given.cache_delay_ns.unwrap_or(0);
            self.cache_delays = DelayTable::given(&given.cache_delays);
            self.unknown.retain(|name| *name != ALL[8]);
        }
        self
    }

    /// The delay of a job without a known working set, in nanoseconds, if it depends on one.
    pub(super) fn without_working_set_ns(&self, moves: bool) -> Option<u64> {
        self.cache_delays.delay(0, moves)
    }

    /// The largest working set whose delay is known, in bytes.
    pub(super) fn largest_working_set_bytes(&self) -> Option<u64> {
        self.cache_delays.largest_bytes()
    }

    /// Whether any cost was put in.
    pub fn any(&self) -> bool {
        !self.points.is_empty() || !self.cache_delays.is_empty()
    }

    pub(super) fn to_json(&self) -> Value {
        let points = self.points.iter().map(|(tasks, costs)| {
            json!({
                "tasks": tasks,
                "event_ns": costs.event_ns,
                "release_ns": costs.release_ns,
                "scheduling_ns": costs.scheduling_ns,
                "switch_ns": costs.switch_ns,
                "ipi_ns": costs.ipi_ns,
                "tick_ns": costs.tick_ns,
                "tick_period_ns": costs.tick_period_ns,
                "section_ns": costs.section_ns,
            })
        });
        json!({
            "source": self.source,
            "unknown": self.unknown,
            "cache_delay_ns": self.cache_delay_ns,
            "cache_delays": self.cache_delays.to_json(),
            "by_tasks": points.collect::<Vec<_>>(),
        })
    }
}

fn costs_of(costs: [u64; 9]) -> Costs {
    let [
        event_ns,
        release_ns,
        scheduling_ns,
        switch_ns,
        ipi_ns,
        tick_ns,
        tick_period_ns,
        section_ns,
        _,
    ] = costs;
    Costs {
        event_ns,
        release_ns,
        scheduling_ns,
        switch_ns,
        ipi_ns,
        tick_ns,
        // Ticks whose period is not known come as often as Linux can have them.
        tick_period_ns: match (tick_ns, tick_period_ns) {
            (1.., 0) => SHORTEST_TICK_PERIOD_NS,
            (_, period_ns) => period_ns,
        },
        section_ns,
    }
}

fn between(a: &Costs, b: &Costs, of: impl Fn(u64, u64) -> u64) -> Costs {
    Costs {
        event_ns: of(a.event_ns, b.event_ns),
        release_ns: of(a.release_ns, b.release_ns),
        scheduling_ns: of(a.scheduling_ns, b.scheduling_ns),
        switch_ns: of(a.switch_ns, b.switch_ns),
        ipi_ns: of(a.ipi_ns, b.ipi_ns),
        tick_ns: of(a.tick_ns, b.tick_ns),
        tick_period_ns: of(a.tick_period_ns, b.tick_period_ns),
        section_ns: of(a.section_ns, b.section_ns),
    }
}

impl Overheads for KnownOverheads {
    /// Linear between two measured numbers of tasks, rounded up; the least below, the largest
    /// above.
    fn costs(&self, tasks: usize) -> Costs {
        let above = self.points.iter().find(|(count, _)| *count >= tasks);
        let below = self.points.iter().rev().find(|(count, _)| *count <= tasks);
        match (below, above) {
            (None, None) => Costs::default(),
            (Some((_, costs)), None) | (None, Some((_, costs))) => *costs,
            (Some((from, least)), Some((to, most))) => {
                let (steps, width) = ((tasks - from) as u64, ((to - from) as u64).max(1));
                between(least, most, |a, b| a + ((b - a) * steps).div_ceil(width))
            }
        }
    }

    fn cache_delay_ns(&self, working_set_bytes: u64, moves: bool) -> u64 {
        match self.cache_delays.delay(working_set_bytes, moves) {
            None => self.cache_delay_ns,
            Some(ns) if working_set_bytes == 0 => ns.max(self.cache_delay_ns),
            Some(ns) => ns,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(points: &[(usize, u64)]) -> KnownOverheads {
        let costs = |release_ns| Costs {
            release_ns,
            ..Costs::default()
        };
        KnownOverheads {
            points: points
                .iter()
                .map(|&(tasks, ns)| (tasks, costs(ns)))
                .collect(),
            ..KnownOverheads::default()
        }
    }

    #[test]
    fn costs_between_measured_numbers_of_tasks_are_interpolated_and_rounded_up() {
        let known = known(&[(2, 100), (5, 200)]);
        let release = |tasks| known.costs(tasks).release_ns;
        assert_eq!(
            [
                release(1),
                release(2),
                release(3),
                release(4),
                release(5),
                release(9)
            ],
            [100, 100, 134, 167, 200, 200]
        );
    }

    #[test]
    fn cache_delays_grow_with_the_working_set() {
        let given = SetOverheads {
            cache_delays: vec![(1000, 10), (4000, 31)],
            ..SetOverheads::default()
        };
        let known = KnownOverheads::of_file(&given);
        assert!(!known.unknown.contains(&"cache-related delay"));
        let delay = |bytes| known.cache_delay_ns(bytes, true);
        assert_eq!(
            [delay(1), delay(1000), delay(2500), delay(4000), delay(8000)],
            [10, 10, 21, 31, 62]
        );
        // Nothing is known of the working set: the largest, never nothing.
        assert_eq!(delay(0), 31);
    }

    #[test]
    fn beside_measured_cache_delays_a_file_gives_all_other_costs() {
        let measured = KnownOverheads {
            cache_delays: DelayTable::given(&[(1000, 10)]),
            unknown: ALL[..8].to_vec(),
            ..KnownOverheads::default()
        };
        let given = SetOverheads {
            release_ns: Some(7),
            section_ns: Some(9),
            ..SetOverheads::default()
        };
        let known = measured.with_file(&given);
        let costs = known.costs(3);
        assert_eq!((costs.release_ns, costs.section_ns), (7, 9));
        assert_eq!(known.cache_delay_ns(1000, false), 10);
        assert_eq!(known.unknown.len(), 6, "{:?}", known.unknown);
    }

    #[test]
    fn what_is_not_given_is_named_and_a_tick_without_period_comes_often() {
        let given = SetOverheads {
            event_ns: Some(10),
            tick_ns: Some(2),
            ..SetOverheads::default()
        };
        let known = KnownOverheads::of_file(&given);
        assert_eq!(known.unknown.len(), 7);
        assert!(!known.unknown.contains(&"timer tick"));
        assert_eq!(known.costs(1).tick_period_ns, SHORTEST_TICK_PERIOD_NS);
        assert_eq!(KnownOverheads::none().unknown.len(), 9);
    }
}
