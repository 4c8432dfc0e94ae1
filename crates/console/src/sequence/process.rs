//! Measures each run in a separate process, which shows the live view on the same terminal, knows how many
//! runs follow, and ends with the process that started it.

use super::Executor;
use crate::ordered_process::OrderedProcess;
use crate::run_order::{OrderedRun, RunOrder, RunPart};
use crate::terminal::live_view_fits;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};
use wakepath_measure::Interrupt;
use wakepath_scenario::units::parse_duration;

/// Time of a run in addition to its cycles, before the first has ended.
const OVERHEAD: Duration = Duration::from_secs(5);

/// Orders runs from `wakepath internal run`.
pub struct ProcessExecutor {
    /// The wakepath that measures.
    program: PathBuf,
    interrupt: Interrupt,
    /// Whether the runs show the live view.
    is_shown: bool,
    /// Time of all runs so far.
    elapsed: Duration,
    count: u32,
    /// Expected time of the first.
    guess: Duration,
}

impl ProcessExecutor {
    /// For runs of this length, as it is given on the command line.
    pub fn new(program: PathBuf, interrupt: Interrupt, block: &str, wants_plain: bool) -> Self {
        let block = parse_duration(block).map_or(Duration::ZERO, Duration::from_nanos);
        Self {
            program,
            interrupt,
            is_shown: live_view_fits(wants_plain),
            elapsed: Duration::ZERO,
            count: 0,
            guess: block + OVERHEAD,
        }
    }
}

impl Executor for ProcessExecutor {
    fn execute(
        &mut self,
        run: OrderedRun,
        name: &str,
        remaining: u32,
    ) -> io::Result<Option<String>> {
        let each = match self.count {
            0 => self.guess,
            count => self.elapsed / count,
        };
        let begun = Instant::now();
        let order = RunOrder {
            run,
            part: RunPart {
                name: name.to_owned(),
                parent: std::process::id().cast_signed(),
                then_ms: (each * remaining).as_millis() as u64,
                is_shown: self.is_shown,
            },
        };
        let stderr = if self.is_shown {
            Stdio::inherit()
        } else {
            Stdio::piped()
        };
        let failed = OrderedProcess::start(&self.program, "run", &order, stderr)?.wait()?;
        self.elapsed += begun.elapsed();
        self.count += 1;
        Ok(failed)
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.requested()
    }
}
