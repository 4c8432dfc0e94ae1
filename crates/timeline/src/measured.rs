//! Meaning of another tool's values: only a latency from a due time is compared with a criterion.

/// Kind of values that a recording has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Measured {
    /// From a due time to the first instruction.
    #[default]
    Latency,
    /// Time taken from a thread that wants the CPU all the time.
    Noise,
    /// From one thread's signal, message or release to the thread that it wakes.
    Handover,
}

impl Measured {
    /// Title of a column.
    pub fn title(self) -> &'static str {
        match self {
            Self::Latency => "wake-up latency",
            Self::Noise => "noise",
            Self::Handover => "handover time",
        }
    }

    /// Whether there are due times, so that a criterion applies.
    pub fn has_due_times(self) -> bool {
        self == Self::Latency
    }
}
