//! Callbacks, executors and chains of ROS 2 in words and tables, for a terminal and for a page.

mod chain;
mod executors;
mod late;
mod page;
mod rows;
mod shown;
mod text;
mod why;

pub(crate) use page::write;
pub use shown::Room as Ros2Room;
pub use text::{ros2_first_above, ros2_text};

use wakepath_assess::watched::Ros2Figures;
use wakepath_ros2::{Kind, Row};
use wakepath_timeline::count::counted;
use wakepath_timeline::duration::three_digits;

/// A callback's row, and its name.
type Named<'a> = (&'a Row, &'a str);

/// Sentences about what is missing.
fn remarks(figures: &Ros2Figures) -> Vec<String> {
    let unknown = figures.callbacks.iter();
    let unknown = unknown.filter(|row| row.callback.kind == Kind::Unknown);
    let unknown = match unknown.count() as u64 {
        0 => None,
        unknown => Some(format!(
            "{} made before the recording or while events were lost, so that node and due times are unknown: \
             start the nodes after the recording, as `wakepath watch -- ros2 launch …` does",
            counted(unknown, "callback was", "callbacks were")
        )),
    };
    let unnamed = figures.callbacks.iter().filter(|row| {
        let kind = &row.callback.kind;
        matches!(kind, Kind::Control { is_unnamed, .. } if *is_unnamed)
    });
    let unnamed = match unnamed.count() as u64 {
        0 => None,
        unnamed => Some(format!(
            "{} made before the recording, so that only addresses are known: start ros2_control's manager after the recording",
            counted(unnamed, "controller was", "controllers were")
        )),
    };
    let unpaired = match figures.unpaired {
        0 => None,
        unpaired => Some(format!(
            "{} left out, whose beginning or end was not recorded",
            counted(unpaired, "run of a callback is", "runs of callbacks are")
        )),
    };
    let lost = match figures.lost_ns {
        0 => None,
        lost_ns => Some(format!(
            "events of {} in all were lost: callbacks that ran then are not counted, and gaps across that time are left out",
            three_digits(lost_ns.cast_signed())
        )),
    };
    unknown
        .into_iter()
        .chain(unnamed)
        .chain(unpaired)
        .chain(lost)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn controllers_without_a_name_are_counted_with_how_to_get_it() {
        let row = |number: u64, is_unnamed: bool| {
            json!({
                "number": number, "process": 1, "handle": number, "node": "controller 0x9",
                "kind": {"control": {"part": "update", "is_unnamed": is_unnamed}}, "symbol": null,
                "count": 1, "period_ns": null, "threads": [1], "latency_ns": null, "skipped": null,
                "gap_ns": null, "waited_ns": null, "run_ns": null, "late": null, "worst": [],
            })
        };
        let figures = json!({
            "callbacks": [row(0, true), row(1, false)], "executors": [], "chains": [],
            "limit_ns": null, "began_ns": 0, "unpaired": 0, "unnamed_messages": 0, "lost_ns": 0,
        });
        let figures: Ros2Figures = serde_json::from_value(figures).unwrap();
        assert_eq!(
            remarks(&figures),
            [
                "1 controller was made before the recording, so that only addresses are known: start ros2_control's \
                 manager after the recording"
            ]
        );
    }
}
