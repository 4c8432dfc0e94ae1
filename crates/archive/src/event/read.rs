//! Deserialises events.
//!
//! Written by hand, because the derived reader of a tagged enum buffers its input, and was a fifth
//! of the code of every program that reads runs.

use super::{Ending, Event};
use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

impl<'de> Deserialize<'de> for Event {
    /// Only from JSON: the text is read twice, for the kind and then as that kind.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Box::<RawValue>::deserialize(from)?;
        read(text.get().as_bytes()).map_err(D::Error::custom)
    }
}

#[derive(Deserialize)]
struct Named {
    event: String,
}

#[derive(Deserialize)]
struct Noted {
    text: String,
}

#[derive(Deserialize)]
struct Ended {
    ending: Ending,
}

/// The error for anything else; an event of a later version's kind isn't an error.
fn read(json: &[u8]) -> serde_json::Result<Event> {
    fn of<T: DeserializeOwned>(json: &[u8], kind: fn(T) -> Event) -> serde_json::Result<Event> {
        serde_json::from_slice(json).map(kind)
    }
    let named: Named = serde_json::from_slice(json)?;
    match named.event.as_str() {
        "run-started" => of(json, Event::RunStarted),
        "facts-taken" => of(json, Event::FactsTaken),
        "segment-started" => of(json, Event::SegmentStarted),
        "segment-ended" => of(json, Event::SegmentEnded),
        "tracing-set-up" => of(json, Event::TracingSetUp),
        "segment-traced" => of(json, Event::SegmentTraced),
        "kernel-latency" => of(json, Event::KernelLatency),
        "kernel-noise" => of(json, Event::KernelNoise),
        "kernel-sections" => of(json, |sections| Event::KernelSections(Box::new(sections))),
        "core-latency" => of(json, Event::CoreLatency),
        "imported" => of(json, Event::Imported),
        "note" => of(json, |Noted { text }| Event::Note { text }),
        "run-ended" => of(json, |Ended { ending }| Event::RunEnded { ending }),
        _ => Ok(Event::Unknown),
    }
}
