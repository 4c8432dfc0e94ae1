//! Sessions below one directory: which of them belong together. Those of other processes that ran before or after are
//! another measurement.

use std::collections::{BTreeMap, BTreeSet};
use wakepath_timeline::count::first_and_more;

/// Sessions that are named in an error.
const MOST_NAMED: usize = 4;

/// All sessions so far, each by its directory.
#[derive(Default)]
pub(super) struct Sessions(BTreeMap<String, Session>);

/// The events of a session, or of one trace of it.
#[derive(Default)]
pub(super) struct Session {
    /// Its first and its last event, in nanoseconds on the trace's clock.
    span_ns: Option<(u64, u64)>,
    processes: BTreeSet<u32>,
}

impl Sessions {
    /// Takes the trace that a file `metadata` describes.
    pub(super) fn add(&mut self, metadata: &str, trace: Session) {
        let of = self.0.entry(directory(metadata).to_owned()).or_default();
        for at_ns in trace.span_ns.iter().flat_map(|span| [span.0, span.1]) {
            of.event(at_ns, None);
        }
        of.processes.extend(trace.processes);
    }

    /// Why they can't be one import: one of each group that has neither a time nor a process in common with the others.
    pub(super) fn apart(&self) -> Option<String> {
        let mut groups: Vec<Vec<(&str, &Session)>> = Vec::new();
        for (name, session) in &self.0 {
            let is_near = |group: &Vec<(&str, &Session)>| {
                group.iter().any(|(_, other)| session.belongs_to(other))
            };
            let (near, mut others): (Vec<_>, Vec<_>) = groups.into_iter().partition(is_near);
            let mut group: Vec<(&str, &Session)> = near.into_iter().flatten().collect();
            group.push((name, session));
            others.push(group);
            groups = others;
        }
        if groups.len() < 2 {
            return None;
        }
        groups.sort_by_cached_key(|group| group.iter().filter_map(|(_, of)| of.span_ns).min());
        let names = groups.iter().map(|group| {
            let first = group.first().map_or("", |(name, _)| *name);
            match group.len() {
                0 | 1 => first.to_owned(),
                several => format!("{first} (with {} more)", several - 1),
            }
        });
        let names = first_and_more(names.collect(), MOST_NAMED);
        Some(format!(
            "holds sessions of different processes, recorded one after the other: import one of them: {}",
            names.join(", ")
        ))
    }
}

impl Session {
    /// Takes an event, and the process that made a call of ROS 2.
    pub(super) fn event(&mut self, at_ns: u64, process: Option<u32>) {
        let (from_ns, to_ns) = self.span_ns.unwrap_or((at_ns, at_ns));
        self.span_ns = Some((from_ns.min(at_ns), to_ns.max(at_ns)));
        self.processes.extend(process);
    }

    fn belongs_to(&self, other: &Self) -> bool {
        let overlaps = match (self.span_ns, other.span_ns) {
            (Some(one), Some(two)) => one.0 <= two.1 && two.0 <= one.1,
            _ => true,
        };
        overlaps || !self.processes.is_disjoint(&other.processes)
    }
}

/// The directory of a session: LTTng writes its traces below `ust` and `kernel` there.
fn directory(metadata: &str) -> &str {
    let mut from = 0;
    for part in metadata.split('/') {
        if ["ust", "kernel", "metadata"].contains(&part) {
            return metadata[..from].trim_end_matches('/');
        }
        from += part.len() + 1;
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_traces_of_a_session_have_its_directory() {
        assert_eq!(directory("s-2026/ust/uid/0/64-bit/metadata"), "s-2026");
        assert_eq!(directory("s-2026/kernel/metadata"), "s-2026");
        assert_eq!(directory("a/b/ust/pid/node-7-2026/metadata"), "a/b");
        assert_eq!(directory("ust/uid/0/64-bit/metadata"), "");
        assert_eq!(directory("s/metadata"), "s");
        assert_eq!(directory("metadata"), "");
    }

    #[test]
    fn a_session_that_bridges_two_joins_them() {
        let trace = |span: [u64; 2], process| {
            let mut trace = Session::default();
            span.into_iter()
                .for_each(|at_ns| trace.event(at_ns, process));
            trace
        };
        let mut sessions = Sessions::default();
        sessions.add("a/ust/metadata", trace([10, 20], Some(1)));
        sessions.add("b/ust/metadata", trace([30, 40], Some(2)));
        let apart = sessions.apart().unwrap();
        assert!(apart.ends_with("import one of them: a, b"), "{apart}");
        sessions.add("c/kernel/metadata", trace([15, 35], None));
        assert_eq!(sessions.apart(), None);
    }
}
