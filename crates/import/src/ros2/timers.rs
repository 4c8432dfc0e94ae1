//! Timers as threads of an import, and what there is to say of their due times.

use crate::{Row, Thread, Values};
use wakepath_ros2::{Callback, Seen, TimerTasks};
use wakepath_timeline::{Lack, shortened};

/// The tasks, and what there is to say of them.
pub(super) struct Timers {
    pub(super) threads: Vec<Thread>,
    pub(super) lacks: Vec<Lack>,
}

impl Timers {
    /// The timers among what was seen; `lost` events are missing.
    pub(super) fn new(seen: &Seen, lost: u64) -> Self {
        let TimerTasks { tasks, left_out } = TimerTasks::new(seen);
        let mut threads: Vec<Thread> = Vec::new();
        let mut lacks = Vec::new();
        for task in tasks {
            lacks.push(Lack::Other(format!(
                "due times of {}{}: {}",
                task.name,
                symbol(&seen.callbacks[task.callback]),
                task.due_by
            )));
            let row = Row {
                due: task.due,
                samples: task.samples,
                lost,
                judged: None,
            };
            let number = match task.threads[..] {
                [only] => Some(only),
                _ => None,
            };
            threads.push(Thread {
                number,
                ..Thread::new(task.name, None, Values::Row(row))
            });
        }
        if !left_out.is_empty() {
            let text = format!("timers: left out {}", left_out.join(", "));
            lacks.push(Lack::Other(text));
        }
        Self { threads, lacks }
    }
}

/// The function that it is, in brackets.
fn symbol(callback: &Callback) -> String {
    let symbol = callback.symbol.as_ref();
    symbol.map_or(String::new(), |of| format!(" ({})", shortened(of, 60)))
}
