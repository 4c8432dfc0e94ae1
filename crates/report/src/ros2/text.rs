//! Callbacks and chains of ROS 2 for a terminal.

use super::rows::{names, short_table, table};
use super::shown::Room;
use super::{Named, chain, executors, late, remarks, shown};
use std::fmt::Write;
use wakepath_assess::watched::{FirstAbove, Ros2Figures};
use wakepath_timeline::count::counted;

/// Nothing marks the callbacks of rclpy.
const NO_CALLBACK: &str = "ROS 2: no callback of a C++ node (rclcpp) ran, and those of Python nodes (rclpy) can't be \
                           seen: nothing marks them\n";

/// As much of it as there is room for, for a terminal of `columns` columns.
pub fn ros2_text(figures: &Ros2Figures, columns: usize, room: &Room) -> String {
    if figures.callbacks.is_empty() {
        return NO_CALLBACK.into();
    }
    let names = names(&figures.callbacks);
    let names = names.iter().map(String::as_str);
    let all: Vec<Named<'_>> = figures.callbacks.iter().zip(names).collect();
    let shown = shown::rows(&all, room);
    let table = if room.is_whole {
        table(&shown)
    } else {
        short_table(&shown)
    };
    let mut text = table.to_terminal(Some(columns));
    text += &shown::hidden(all.len(), shown.len());
    let late_rows = shown::late(&all, room);
    for (row, name) in &late_rows.shown {
        let Some(headline) = late::headline(row, name, figures.latency_ns) else {
            continue;
        };
        let _ = writeln!(text, "\n{headline}:");
        for line in late::lines(row, figures.began_ns).take(room.runs) {
            let _ = writeln!(text, "  {line}");
        }
    }
    if let more @ 1.. = late_rows.more {
        let more = counted(more, "more callback was", "more callbacks were");
        let _ = writeln!(text, "\n{more} late too: --json has the gaps of each");
    }
    let executors = executors::lines(figures, &all, room.executors);
    for (place, line) in executors.iter().enumerate() {
        let between = if place == 0 { "\n" } else { "" };
        let _ = writeln!(text, "{between}{line}");
    }
    for found in &figures.chains {
        let _ = writeln!(text, "\n{}", chain::headline(found, figures.limit_ns));
        let lines: Vec<String> = if room.is_whole {
            let hops = found.hops.iter().map(chain::hop);
            hops.chain(chain::ended_early(found)).collect()
        } else {
            chain::most_ended_early(found).into_iter().collect()
        };
        let latest = chain::latest(found, figures.began_ns).take(room.runs);
        for line in lines.into_iter().chain(latest) {
            let _ = writeln!(text, "  {line}");
        }
    }
    for remark in remarks(figures) {
        let _ = writeln!(text, "{remark}");
    }
    text
}

/// The run that a watch was to stop at.
pub fn ros2_first_above(of: &FirstAbove, began_ns: u64, above_ns: u64) -> String {
    format!("\n{}\n", late::first_above(of, began_ns, above_ns))
}
