//! A chain of ROS 2 in words: how many messages came to its end, and where the others ended.

use super::why::why;
use std::fmt::Write;
use wakepath_ros2::{ChainFound, Figures, Hop, Lost, LostBy};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::{length, three_digits};

/// How many messages came to the end, and after how long.
pub(super) fn headline(chain: &ChainFound, limit_ns: Option<u64>) -> String {
    let (from, to) = (&chain.chain.from, &chain.chain.to);
    let mut line = format!("chain {from} to {to}: ");
    if chain.begun == 0 {
        let _ = write!(
            line,
            "no message was published on {from}, or only by nodes that were made before the recording"
        );
        return line;
    }
    if !chain.end_is_known {
        let _ = write!(
            line,
            "no node and no topic {to} was seen; of a node that was made before the recording the name is unknown: \
             end the chain at a topic"
        );
        return line;
    }
    let _ = write!(
        line,
        "{} of {} came to the end",
        chain.ended,
        counted(chain.begun, "message", "messages")
    );
    if chain.under_way > 0 {
        let _ = write!(
            line,
            " ({} under way when the recording ended)",
            chain.under_way
        );
    }
    if let Some(of) = chain.latency_ns {
        let [median, p99, max] = [of.median, of.p99, of.max].map(three_digits);
        let _ = write!(line, "; latency median {median}, p99 {p99}, max {max}");
    }
    if let (Some(above), Some(limit_ns)) = (chain.above, limit_ns) {
        let _ = write!(line, "; {above} above {}", length(limit_ns));
    }
    line
}

/// How long messages waited for a callback, and how long it worked on them.
pub(super) fn hop(hop: &Hop) -> String {
    let of = |figures: Option<Figures>| {
        figures.map_or_else(
            || "unknown".into(),
            |of| format!("{} (max {})", three_digits(of.median), three_digits(of.max)),
        )
    };
    format!(
        "{}: waited {}, worked {}",
        hop.callback,
        of(hop.waiting_ns),
        of(hop.working_ns)
    )
}

/// The messages that did not come to the end; none if no message can come to such an end.
pub(super) fn ended_early(chain: &ChainFound) -> Vec<String> {
    let lost_ones = chain.lost.iter().filter(|_| chain.end_is_known);
    lost_ones.map(lost).collect()
}

/// Those that ended at the place where most did, for the same reason.
pub(super) fn most_ended_early(chain: &ChainFound) -> Option<String> {
    let most = chain.lost.iter().max_by_key(|of| of.count);
    most.filter(|_| chain.end_is_known).map(lost)
}

/// Why the latest messages came late, a line for each.
pub(super) fn latest(chain: &ChainFound, began_ns: u64) -> impl Iterator<Item = String> {
    chain.latest.iter().map(move |end| {
        let at = end.late.at_ns.saturating_sub(began_ns) as f64 / 1e9;
        let [whole, waited, worked] = [end.latency_ns, end.late.latency_ns, end.worked_ns]
            .map(|ns| three_digits(ns.cast_signed()));
        let callback = &end.callback;
        if end.worked_ns > end.late.latency_ns {
            return format!("{whole}: {callback} worked for {worked} from {at:.3} s on");
        }
        format!(
            "{whole}: {callback} began {waited} after its message at {at:.3} s: {}",
            why(&end.late)
        )
    })
}

fn lost(lost: &Lost) -> String {
    let count = counted(lost.count, "message", "messages");
    let why = match &lost.by {
        LostBy::NothingLeadsOn => "the callback published nothing that leads on".to_owned(),
        LostBy::Overwritten { callback, depth } => format!(
            "newer ones took their place in the queue of {callback}, which holds {depth}: a greater depth of its \
             QoS keeps more"
        ),
        LostBy::BeforeFirst { callback } => {
            format!(
                "published before the first that {callback} took: it was made, discovered or ready only later"
            )
        }
        LostBy::Missed { callback } => {
            format!("{callback} took newer ones, but not these; its queue could hold them")
        }
        LostBy::Unrecorded => "events were lost while they were under way".to_owned(),
        LostBy::NotTaken => "no watched callback took them, nor newer ones".to_owned(),
    };
    format!("{count} ended at {}: {why}", lost.topic)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_message_has_the_hop_that_took_longest() {
        let latest = |waited_ns: u64, worked_ns: u64| {
            let late = serde_json::json!({
                "at_ns": 3_000_000_000_u64, "thread": 7, "gap_ns": 0, "latency_ns": waited_ns, "holders": [],
                "more_holders": 0, "held_ns": 0, "unheld": null, "account": null,
            });
            let end = serde_json::json!({
                "latency_ns": 12_000_000, "callback": "filter: /scan", "worked_ns": worked_ns, "late": late,
            });
            let found = serde_json::json!({
                "from": "/scan", "to": "/motor", "begun": 1, "ended": 1, "under_way": 0, "latency_ns": null,
                "above": 1, "hops": [], "lost": [], "end_is_known": true, "latest": [end],
            });
            // As a run's file of callbacks is read again.
            let found: ChainFound = serde_json::from_value(found).unwrap();
            let text = serde_json::to_string(&found).unwrap();
            let found: ChainFound = serde_json::from_str(&text).unwrap();
            super::latest(&found, 1_000_000_000).next().unwrap()
        };
        assert_eq!(
            latest(10_000_000, 1_000_000),
            "12.0 ms: filter: /scan began 10.0 ms after its message at 2.000 s: no callback held its thread for \
             10.0 ms: the cause is unknown"
        );
        assert_eq!(
            latest(1_000_000, 11_000_000),
            "12.0 ms: filter: /scan worked for 11.0 ms from 2.000 s on"
        );
    }

    #[test]
    fn a_screen_shows_where_most_messages_ended() {
        let lost = |count: u64, by: LostBy| Lost {
            topic: "/pose".into(),
            by,
            count,
        };
        let callback = || "motor: /pose".to_owned();
        let chain = ChainFound {
            chain: "/image:/motor".parse().unwrap(),
            begun: 9,
            ended: 2,
            under_way: 1,
            above: None,
            latency_ns: None,
            hops: Vec::new(),
            end_is_known: true,
            latest: Vec::new(),
            lost: vec![
                lost(2, LostBy::NotTaken),
                lost(
                    4,
                    LostBy::Missed {
                        callback: callback(),
                    },
                ),
            ],
        };
        let shown = most_ended_early(&chain).unwrap();
        assert_eq!(
            shown,
            "4 messages ended at /pose: motor: /pose took newer ones, but not these; its queue could hold them"
        );
        assert_eq!(ended_early(&chain).len(), 2);
        assert_eq!(
            headline(&chain, None),
            "chain /image to /motor: 2 of 9 messages came to the end (1 under way when the recording ended)"
        );
        let mistyped = ChainFound {
            end_is_known: false,
            ..chain
        };
        assert!(headline(&mistyped, None).contains("no node and no topic /motor was seen"));
        assert_eq!(most_ended_early(&mistyped), None);
    }
}
