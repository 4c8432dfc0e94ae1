//! Explains recorded runs, and says how far that is.

use crate::progress::Progress;
use crate::tell;
use wakepath_archive::{Run, command_about};
use wakepath_assess::explanation::{
    self, Along, ExplainError, ExplainedRun, Nobody, Order, SegmentLoops,
};
use wakepath_directory::Directory;
use wakepath_explain::{Explained, Explanation};

/// Writes the explanation of a traced run next to it. A failure here takes nothing from the measurement:
/// the events are there, and `wakepath explain` tries again.
pub fn explain(directory: &Directory) {
    let explained = Run::open_in(directory)
        .map_err(ExplainError::from)
        .and_then(|run| write_beside(&run, directory));
    match explained {
        Ok(None) => {}
        Ok(Some(_)) => tell!(
            "why late cycles were late: {}",
            command_about("explain", &directory.path().display().to_string(), "")
        ),
        Err(error) => tell!("warning: the run is recorded, but not explained: {error}"),
    }
}

/// As [`explanation::write_beside`], with progress.
///
/// # Errors
/// As there.
pub fn write_beside(run: &Run, directory: &Directory) -> Result<Option<Explanation>, ExplainError> {
    let mut nobody = Nobody;
    let mut shown = Shown::new(run, &mut nobody);
    explanation::write_beside(run, directory, &mut shown)
}

/// As [`explanation::explain`], with progress.
///
/// # Errors
/// As there.
pub fn explained(
    run: &Run,
    order: &Order,
    along: &mut dyn Along,
) -> Result<ExplainedRun, ExplainError> {
    explanation::explain(run, order, &mut Shown::new(run, along))
}

/// Shows how many events are explained, while another reads along.
struct Shown<'a> {
    along: &'a mut dyn Along,
    progress: Progress,
    read: u64,
    all: u64,
}

impl<'a> Shown<'a> {
    fn new(run: &Run, along: &'a mut dyn Along) -> Self {
        let traces = run.manifest.segments.iter();
        let traces = traces.filter_map(|of| of.trace.as_ref());
        Self {
            along,
            progress: Progress::new("explaining events"),
            read: 0,
            all: traces.map(|of| of.events).sum(),
        }
    }
}

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.progress.end();
    }
}

impl Along for Shown<'_> {
    fn segment(&mut self, loops: &SegmentLoops<'_>) -> Result<(), ExplainError> {
        self.along.segment(loops)
    }

    fn cycle(
        &mut self,
        loops: &SegmentLoops<'_>,
        number: usize,
        cycle: &Explained,
    ) -> Result<(), ExplainError> {
        self.along.cycle(loops, number, cycle)
    }

    fn span(&mut self, cpu: u16, span_ns: (u64, u64), name: &str) -> Result<(), ExplainError> {
        self.along.span(cpu, span_ns, name)
    }

    fn read(&mut self, events: u64) {
        self.read += events;
        self.progress.tell(self.read as usize, self.all as usize);
    }

    fn wants_spans(&self) -> bool {
        self.along.wants_spans()
    }
}
