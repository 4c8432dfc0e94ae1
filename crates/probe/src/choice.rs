//! Chooses the source that records: a tracefs instance if possible, else perf's rings; and gives the reason.

use wakepath_archive::TraceMode;

use crate::error::{ProbeError, Result};
use crate::instance::Instance;
use crate::perf::PerfRings;
use crate::protocol::Backend;
use crate::source::EventSource;
use crate::stream::Decoder;
use crate::tracefs::Tracefs;
use crate::usdt::Mark;

/// A source, with the decoder for its records.
#[derive(Debug)]
pub struct Chosen {
    /// The source.
    pub source: Box<dyn EventSource>,
    /// Understands its records.
    pub decoder: Decoder,
    /// Why this one, in a few words.
    pub because: String,
}

impl Chosen {
    /// Makes the requested source, or the first available one.
    ///
    /// # Errors
    /// [`ProbeError`], with what would help: of both if neither is available.
    pub fn make(
        wish: Option<Backend>,
        tracefs: &Tracefs,
        cpus: &[u16],
        buffer_bytes: u64,
        mode: TraceMode,
        marks: &[Mark],
    ) -> Result<Self> {
        let instance = || Instance::with_marks(tracefs, cpus, buffer_bytes, marks);
        let perf = || PerfRings::create(tracefs, cpus, buffer_bytes, mode);
        let as_asked = || "as the scenario asks".to_owned();
        match wish {
            Some(Backend::Tracefs) => Ok(Self::new(instance()?, as_asked())),
            Some(Backend::Perf) => Ok(Self::new(perf()?, as_asked())),
            // perf knows nothing of marks.
            None if !marks.is_empty() => match instance() {
                Err(_) if !marks.iter().any(|mark| mark.is_needed) => {
                    Self::make(wish, tracefs, cpus, buffer_bytes, mode, &[])
                }
                made => Ok(Self::new(
                    made?,
                    "the one that records marks of a program".into(),
                )),
            },
            None => match instance() {
                Ok(made) => Ok(Self::new(made, "the cheapest one available".into())),
                Err(of_instance) => match perf() {
                    Ok(made) => Ok(Self::new(
                        made,
                        format!("no tracefs instance: {of_instance}"),
                    )),
                    // Both need tracefs, and the same of it is closed.
                    Err(of_perf) if of_perf.to_string() == of_instance.to_string() => {
                        Err(of_instance)
                    }
                    Err(of_perf) => Err(ProbeError::Neither {
                        instance: Box::new(of_instance),
                        perf: Box::new(of_perf),
                    }),
                },
            },
        }
    }

    fn new((source, decoder): (impl EventSource + 'static, Decoder), because: String) -> Self {
        Self {
            source: Box::new(source),
            decoder,
            because,
        }
    }
}
