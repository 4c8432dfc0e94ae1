//! Data that an imported recording lacks.
//!
//! Code derives unknown figures from the values; recordings store the sentences.

use std::borrow::Cow;
use std::fmt;

/// Something that a run of wakepath records and this recording does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lack {
    /// Periods at which no cycle ran are not counted.
    SkippedPeriods,
    /// Skipped periods are not recorded; they follow from latencies beyond a period, as the tool's
    /// own loop skips.
    SkippedPeriodsInferred,
    /// A wake-up that never came leaves no event.
    MissedWakeUps,
    /// Time between the due time and the wake-up, and between the switch and the first instruction.
    BeforeWakeUp,
    /// Values beyond the histogram's range have at most a count, but no size.
    OverflowedValues,
    /// Number of values beyond the histogram's range.
    OverflowCount,
    /// Every value but the extremes and the mean.
    Quantiles,
    /// How wide the histogram's bins are.
    BinWidth,
    /// Values are not in the order of time.
    Order,
    /// When cycles were due is not recorded.
    DueTimes,
    /// When work ended is not recorded.
    ExecutionTimes,
    /// No event shows the end of the loop's work.
    EndOfWork,
    /// Its last samples might not have been written.
    LastSamples,
    /// Warm-up is mixed in.
    WarmUp,
    /// Policy and affinity are the requested ones, not read back.
    EffectivePolicy,
    /// Only the machine's kernel is known.
    Machine,
    /// A missing line can't be distinguished from a skipped period.
    LostLines,
    /// Due times after a thread's last line.
    AfterLastLine,
    /// The loads' work and proofs.
    Loads,
    /// Due times differ from whole periods, and were moved there.
    UnevenDueTimes,
    /// Due times are those of the thread's timer.
    OwnDueTimes,
    /// Cycles begin with a switch and end with sleep.
    FirstInstructions,
    /// Cost of tracing.
    Untraced,
    /// Digits below a microsecond.
    BelowMicroseconds,
    /// When the timers of these threads expired: something else wakes them.
    Timers {
        /// Their names, with commas.
        threads: String,
    },
    /// When some cycles of these threads were due: the thread was not woken before them.
    DueTimesOfSomeCycles {
        /// Their names, with commas.
        threads: String,
    },
    /// The times for which these threads' timers were programmed.
    ProgrammedTimes {
        /// Their names, with commas.
        threads: String,
    },
    /// In the words of the run itself: of an import, or of another version.
    Other(String),
}

impl Lack {
    /// The sentence for a reader.
    pub fn text(&self) -> Cow<'_, str> {
        let (before, after) = match self {
            Self::Timers { .. } => TIMERS,
            Self::DueTimesOfSomeCycles { .. } => DUE_TIMES_OF_SOME_CYCLES,
            Self::ProgrammedTimes { .. } => PROGRAMMED_TIMES,
            Self::Other(text) => return Cow::Borrowed(text),
            fixed => return Cow::Borrowed(fixed.fixed_text()),
        };
        let threads = self.threads().unwrap_or_default();
        Cow::Owned(format!("{before}{threads}{after}"))
    }

    /// The threads that it is about, if not all.
    pub fn threads(&self) -> Option<&str> {
        match self {
            Self::Timers { threads }
            | Self::DueTimesOfSomeCycles { threads }
            | Self::ProgrammedTimes { threads } => Some(threads),
            _ => None,
        }
    }

    fn fixed_text(&self) -> &'static str {
        match self {
            Self::SkippedPeriods => {
                "skipped periods: the tool goes on after a late cycle and does not count what it \
                 skipped"
            }
            Self::SkippedPeriodsInferred => {
                "skipped periods: not recorded; inferred from latencies beyond a period, as the \
                 tool's loop skips"
            }
            Self::MissedWakeUps => {
                "skipped periods: a wake-up that never came leaves no event; they are counted by the \
                 time between wake-ups"
            }
            Self::BeforeWakeUp => {
                "the whole latency: it begins when the kernel wakes the thread, not at the due time, \
                 and ends with the switch to it"
            }
            Self::OverflowedValues => "values beyond the histogram's range: their size is lost",
            Self::OverflowCount => "values beyond the histogram's range: not counted",
            Self::Quantiles => {
                "quantiles: it has the extremes and the mean alone, and misses count as at least one"
            }
            Self::BinWidth => "the width of the histogram's bins: the widest that its lines allow",
            Self::Order => "the order of values: clusters, outages and drift can't be seen",
            Self::DueTimes => "due times: made up from the period",
            Self::ExecutionTimes => "execution and response times: the tool has no work",
            Self::EndOfWork => "execution and response times: no event tells where the work ends",
            Self::LastSamples => "the last samples: the tool may not write them",
            Self::WarmUp => "a warm-up: its first cycles are counted like all others",
            Self::EffectivePolicy => "the policy in effect: it is as asked for, not read back",
            Self::Machine => "facts of the machine",
            Self::LostLines => "lost cycles: a line that is missing looks like a skipped period",
            Self::AfterLastLine => "the end: due times after a thread's last line are not counted",
            Self::Loads => "what its loads did, and what they proved",
            Self::UnevenDueTimes => {
                "instants: due times that lie beside whole periods are moved onto an even row; \
                 latencies and run times are as recorded"
            }
            Self::OwnDueTimes => {
                "due times of its own: a cycle is due when its timer was to expire"
            }
            Self::FirstInstructions => {
                "first instructions and ends of work: a cycle begins when its thread is switched in \
                 and ends when it sleeps"
            }
            Self::Untraced => "untraced repetitions: what tracing costs this program is not known",
            Self::BelowMicroseconds => "digits below a microsecond: the file's text has none",
            Self::Timers { .. }
            | Self::DueTimesOfSomeCycles { .. }
            | Self::ProgrammedTimes { .. }
            | Self::Other(_) => "",
        }
    }

    /// All values with a fixed sentence.
    const KNOWN: [Self; 24] = [
        Self::SkippedPeriods,
        Self::SkippedPeriodsInferred,
        Self::MissedWakeUps,
        Self::BeforeWakeUp,
        Self::OverflowedValues,
        Self::OverflowCount,
        Self::Quantiles,
        Self::BinWidth,
        Self::Order,
        Self::DueTimes,
        Self::ExecutionTimes,
        Self::EndOfWork,
        Self::LastSamples,
        Self::WarmUp,
        Self::EffectivePolicy,
        Self::Machine,
        Self::LostLines,
        Self::AfterLastLine,
        Self::Loads,
        Self::UnevenDueTimes,
        Self::OwnDueTimes,
        Self::FirstInstructions,
        Self::Untraced,
        Self::BelowMicroseconds,
    ];
}

/// A sentence before and after the names of threads.
type Around = (&'static str, &'static str);

const TIMERS: Around = (
    "timers of ",
    ": something else wakes it, and its cycles are due when it was woken",
);
const DUE_TIMES_OF_SOME_CYCLES: Around = (
    "due times of some cycles of ",
    ": the thread was not woken before them, so that their latency counts as 0",
);
const PROGRAMMED_TIMES: Around = (
    "programmed times of ",
    ": its cycles are due when the timer's callback began, and the timer's own lateness is not in \
     their latency",
);

impl From<String> for Lack {
    fn from(text: String) -> Self {
        let within = |(before, after): Around| {
            let rest = text.strip_prefix(before)?;
            rest.strip_suffix(after).map(str::to_owned)
        };
        if let Some(threads) = within(TIMERS) {
            return Self::Timers { threads };
        }
        if let Some(threads) = within(DUE_TIMES_OF_SOME_CYCLES) {
            return Self::DueTimesOfSomeCycles { threads };
        }
        if let Some(threads) = within(PROGRAMMED_TIMES) {
            return Self::ProgrammedTimes { threads };
        }
        let mut known = Self::KNOWN.into_iter();
        let known = known.find(|known| known.fixed_text() == text);
        known.unwrap_or(Self::Other(text))
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for Lack {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for Lack {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_leads_back_to_what_it_says() {
        for known in Lack::KNOWN {
            assert_eq!(Lack::from(known.to_string()), known);
        }
        for threads in ["imu", "imu, motor: left"] {
            let threads = threads.to_owned();
            for named in [
                Lack::Timers {
                    threads: threads.clone(),
                },
                Lack::DueTimesOfSomeCycles {
                    threads: threads.clone(),
                },
                Lack::ProgrammedTimes {
                    threads: threads.clone(),
                },
            ] {
                assert!(named.to_string().contains(&threads));
                assert_eq!(Lack::from(named.to_string()), named);
            }
        }
        let other = "skipped periods: counted, but not by cycle".to_owned();
        assert_eq!(Lack::from(other.clone()), Lack::Other(other));
    }
}
