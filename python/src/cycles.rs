//! A periodic loop that releases Python's lock (the GIL) while it waits, and its sections.
//!
//! It times two sections itself: the wait for the lock after waking, and the garbage collector.

use crate::Error;
use crate::said::{Texts, arguments};
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::thread::{self, ThreadId};
use std::time::Duration;
use wakepath_rt::{Activation, Due, Overrun};

/// From the first instruction of a cycle until Python runs.
const LOCK: &str = "waiting for the GIL";
/// The section of the garbage collector, when it runs within a cycle.
const COLLECTOR: &str = "garbage collection";

/// A cycle: its due time and the time of its first instruction, in nanoseconds on
/// `CLOCK_MONOTONIC`.
#[pyclass(frozen, get_all, module = "wakepath")]
pub(crate) struct Cycle {
    number: u64,
    due_ns: u64,
    wake_ns: u64,
}

#[pymethods]
impl Cycle {
    /// First instruction − due time.
    #[getter]
    fn latency_ns(&self) -> i64 {
        self.wake_ns.wrapping_sub(self.due_ns).cast_signed()
    }

    fn __repr__(&self) -> String {
        format!(
            "Cycle(number={}, due_ns={}, wake_ns={})",
            self.number, self.due_ns, self.wake_ns
        )
    }
}

/// A loop under way.
struct Running {
    cycles: wakepath_rt::Loop,
    under_way: Option<Activation>,
    lock: wakepath_rt::Section,
    collector: wakepath_rt::Section,
    texts: Texts,
}

impl Running {
    fn finish(&mut self) {
        if let Some(activation) = self.under_way.take() {
            self.cycles.finish(activation);
        }
    }

    fn began(&mut self, activation: Activation) -> Cycle {
        let cycle = Cycle {
            number: activation.cycle,
            due_ns: activation.due_ns,
            wake_ns: activation.wake_ns,
        };
        self.under_way = Some(activation);
        cycle
    }
}

/// A periodic loop of the thread that makes it.
#[pyclass(frozen, subclass, module = "wakepath._native")]
pub(crate) struct Loop {
    thread: ThreadId,
    name: String,
    period_ns: u64,
    is_driven: bool,
    // Only its own thread locks it, and never twice; the lock is needed because Python can pass the
    // object to another thread.
    running: Mutex<Option<Running>>,
}

impl Loop {
    fn running(&self) -> PyResult<MutexGuard<'_, Option<Running>>> {
        let name = &self.name;
        if thread::current().id() != self.thread {
            return Err(PyRuntimeError::new_err(format!(
                "the loop `{name}` belongs to the thread that made it: create it in the thread that runs it"
            )));
        }
        match self.running.try_lock() {
            Ok(running) => Ok(running),
            // The earlier panic has been reported.
            Err(TryLockError::Poisoned(running)) => Ok(running.into_inner()),
            Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(format!(
                "the loop `{name}` waits already"
            ))),
        }
    }

    fn with<R>(&self, act: impl FnOnce(&mut Running) -> R) -> PyResult<Option<R>> {
        Ok(self.running()?.as_mut().map(act))
    }

    fn closed(&self) -> PyErr {
        PyRuntimeError::new_err(format!("the loop `{}` is closed", self.name))
    }
}

fn overrun_named(word: &str) -> PyResult<Overrun> {
    Ok(match word {
        "skip" => Overrun::Skip,
        "catch-up" => Overrun::CatchUp,
        "stop" => Overrun::Stop,
        _ => {
            let why = format!("overrun is \"skip\", \"catch-up\" or \"stop\", not {word:?}");
            return Err(PyValueError::new_err(why));
        }
    })
}

#[pymethods]
impl Loop {
    #[new]
    #[pyo3(signature = (name, period_ns, driven = false, overrun = None))]
    fn new(
        py: Python<'_>,
        name: String,
        period_ns: u64,
        driven: bool,
        overrun: Option<&str>,
    ) -> PyResult<Self> {
        let period = Duration::from_nanos(period_ns);
        let overrun = overrun.map(overrun_named).transpose()?;
        if driven && overrun.is_some() {
            return Err(PyValueError::new_err(format!(
                "the loop `{name}` is driven by another clock, which says what cycle is next: leave out overrun"
            )));
        }
        // If a recorder started the program, this waits for the beginning while other threads make
        // their loops.
        let made = py.detach(|| {
            if driven {
                wakepath_rt::Loop::driven(&name, period)
            } else {
                wakepath_rt::Loop::with_overrun(&name, period, overrun.unwrap_or_default())
            }
        });
        let mut cycles = made.map_err(|why| match why {
            wakepath_rt::LoopError::Wait(_) => Error::new_err(why.to_string()),
            _ => PyValueError::new_err(why.to_string()),
        })?;
        let lock = cycles.section(LOCK, None);
        let collector = cycles.section(COLLECTOR, None);
        Ok(Self {
            thread: thread::current().id(),
            name,
            period_ns,
            is_driven: driven,
            running: Mutex::new(Some(Running {
                cycles,
                under_way: None,
                lock,
                collector,
                texts: Texts::default(),
            })),
        })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Cycle>> {
        self.wait(py)
    }

    /// Ends the cycle under way and waits for the next due time; `None` when the recording is over.
    fn wait(&self, py: Python<'_>) -> PyResult<Option<Cycle>> {
        let mut running = self.running()?;
        let Some(running) = running.as_mut() else {
            return Err(self.closed());
        };
        if self.is_driven {
            return Err(PyRuntimeError::new_err(format!(
                "the loop `{}` is driven by another clock: begin() its cycles instead of waiting",
                self.name
            )));
        }
        running.finish();
        let woken = py.detach(|| {
            let woken = running.cycles.wait()?;
            running.cycles.begin(running.lock);
            Some(woken)
        });
        let Some(activation) = woken else {
            return Ok(None);
        };
        running.cycles.end(running.lock);
        Ok(Some(running.began(activation)))
    }

    /// Begins a cycle of a driven loop, now; `None` when the recording is over. Without a due time it is
    /// estimated. A cycle that was not finished is finished first.
    #[pyo3(signature = (due_ns = None))]
    fn begin(&self, due_ns: Option<u64>) -> PyResult<Option<Cycle>> {
        let mut running = self.running()?;
        let Some(running) = running.as_mut() else {
            return Err(self.closed());
        };
        if !self.is_driven {
            return Err(PyRuntimeError::new_err(format!(
                "the loop `{}` has a clock of its own: make it with driven=True to begin its cycles",
                self.name
            )));
        }
        running.finish();
        let begun = running
            .cycles
            .begin_cycle(due_ns.map_or(Due::Estimated, Due::At));
        Ok(begun.map(|activation| running.began(activation)))
    }

    /// Says a value of this cycle.
    fn value(&self, name: &str, value: f64) -> PyResult<()> {
        let said = self.with(|running| {
            let name = running.texts.kept(name)?;
            running.cycles.value(name, value);
            Ok(())
        })?;
        said.unwrap_or(Ok(()))
    }

    /// Writes a line to the loop's log: `{}` by `{}`, formatted by the recorder.
    #[pyo3(signature = (format, *values))]
    fn log(&self, format: &str, values: &Bound<'_, PyTuple>) -> PyResult<()> {
        let mut texts = Vec::new();
        let values = arguments(values, &mut texts)?;
        let said = self.with(|running| {
            let format = running.texts.kept(format)?;
            running.cycles.log(format, &values);
            Ok(())
        })?;
        said.unwrap_or(Ok(()))
    }

    /// Ends the cycle under way, if one is.
    fn finish(&self) -> PyResult<()> {
        self.with(Running::finish)?.ok_or_else(|| self.closed())
    }

    /// Gives the loop up.
    fn close(&self) -> PyResult<()> {
        let mut running = self.running()?;
        if let Some(mut running) = running.take() {
            running.finish();
        }
        Ok(())
    }

    /// A part of the cycle that is timed: a context manager.
    #[pyo3(signature = (name, budget_ns = 0))]
    fn section(this: Bound<'_, Self>, name: &str, budget_ns: u64) -> PyResult<Section> {
        if !(1..=32).contains(&name.len()) || name.contains(char::is_control) {
            return Err(PyValueError::new_err(format!(
                "a section has a name of 1 to 32 bytes without control characters, not {name:?}"
            )));
        }
        let budget = (budget_ns != 0).then(|| Duration::from_nanos(budget_ns));
        let of = this.get();
        let section = of.with(|running| running.cycles.section(name, budget))?;
        Ok(Section {
            section: section.ok_or_else(|| of.closed())?,
            name: name.to_owned(),
            of: this.unbind(),
        })
    }

    /// Callback for `gc.callbacks`: the collector's time within a cycle of this loop's thread is a
    /// section.
    fn note_collector(&self, phase: &str, _about: &Bound<'_, PyAny>) {
        if thread::current().id() != self.thread {
            return;
        }
        let _ = self.with(|running| match (phase, &running.under_way) {
            ("start", Some(_)) => running.cycles.begin(running.collector),
            ("stop", Some(_)) => running.cycles.end(running.collector),
            _ => {}
        });
    }

    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    /// Its period in nanoseconds.
    #[getter]
    fn period_ns(&self) -> u64 {
        self.period_ns
    }

    /// Due times at which no cycle ran.
    #[getter]
    fn skipped(&self) -> PyResult<u64> {
        let skipped = self.with(|running| running.cycles.skipped())?;
        skipped.ok_or_else(|| self.closed())
    }

    /// Whether a recorder has its samples.
    #[getter]
    fn is_recorded(&self) -> PyResult<bool> {
        let is_recorded = self.with(|running| running.cycles.is_recorded())?;
        is_recorded.ok_or_else(|| self.closed())
    }
}

/// A timed part of a loop's cycle.
#[pyclass(frozen, module = "wakepath")]
pub(crate) struct Section {
    of: Py<Loop>,
    section: wakepath_rt::Section,
    name: String,
}

#[pymethods]
impl Section {
    /// Its name.
    #[getter]
    fn name(&self) -> &str {
        &self.name
    }

    fn __enter__(&self) -> PyResult<()> {
        self.of
            .get()
            .with(|running| running.cycles.begin(self.section))
            .map(drop)
    }

    fn __exit__(
        &self,
        _kind: &Bound<'_, PyAny>,
        _error: &Bound<'_, PyAny>,
        _trace: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        let ended = self
            .of
            .get()
            .with(|running| running.cycles.end(self.section));
        ended.map(|_| false)
    }
}
