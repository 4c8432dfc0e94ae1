//! One executed cycle as the loop saw it. Skipped periods have no sample: they are the gaps
//! between cycle numbers.

/// Further facts about a cycle, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(transparent)]
pub struct SampleFlags(pub u16);

impl SampleFlags {
    /// The cycle belongs to the warm-up: recorded, never judged.
    pub const WARM_UP: Self = Self(1);
    /// The cycle's due time had already passed when the loop was ready to wait for it, so its
    /// lateness results from an overrun and is not a wake-up latency.
    pub const DUE_ALREADY_PAST: Self = Self(1 << 1);
    /// A signal interrupted the sleep and the loop went back to it.
    pub const SLEEP_INTERRUPTED: Self = Self(1 << 2);
    /// `cpu_time_ns` was measured.
    pub const HAS_CPU_TIME: Self = Self(1 << 3);
    /// `involuntary_switches` was measured.
    pub const HAS_SWITCHES: Self = Self(1 << 4);
    /// `work_ns` was measured by the work itself.
    pub const HAS_WORK_TIME: Self = Self(1 << 5);
    /// The work reported a fault (for example, a controller that received a non-finite state).
    pub const WORK_FAULT: Self = Self(1 << 6);
    /// The cycle's exchange with the loop's surroundings got no correct answer in time: its due
    /// time counts as missed, however early the loop was.
    pub const UNANSWERED: Self = Self(1 << 7);
    /// A thread of a real-time core switched into Linux in this cycle: it was Linux that scheduled it then.
    pub const MODE_SWITCH: Self = Self(1 << 8);

    /// Whether every bit of `other` is set.
    #[inline]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both sets of bits.
    #[inline]
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// One executed cycle: due time, time of its first instruction, end of its work.
///
/// The layout is fixed (`repr(C)`, 48 bytes, no padding): it goes through shared memory from the
/// loop to the recorder and into the crash-safe log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(C)]
pub struct Sample {
    /// Number of the due time that this cycle served, counted from the start of the segment.
    pub cycle: u64,
    /// When the cycle was due: t0 + cycle · period, in nanoseconds on `CLOCK_MONOTONIC`.
    pub due_ns: u64,
    /// First instruction of the cycle, in nanoseconds on `CLOCK_MONOTONIC`.
    pub wake_ns: u64,
    /// End of the cycle's work, in nanoseconds on `CLOCK_MONOTONIC`.
    pub end_ns: u64,
    /// The part of the timed region that the work itself timed (only the controller, without
    /// reading the state and writing the command), in nanoseconds; only with
    /// [`SampleFlags::HAS_WORK_TIME`].
    pub work_ns: u32,
    /// Thread CPU time spent in the cycle, in nanoseconds; only with
    /// [`SampleFlags::HAS_CPU_TIME`].
    pub cpu_time_ns: u32,
    /// Involuntary context switches during the cycle; only with
    /// [`SampleFlags::HAS_SWITCHES`].
    pub involuntary_switches: u16,
    /// CPU on which the cycle woke.
    pub cpu: u16,
    /// Further facts.
    pub flags: SampleFlags,
    /// Always 0; keeps the layout free of padding.
    pub reserved: u16,
}

impl Sample {
    /// Size of a sample in memory and in the log, in bytes.
    pub const BYTES: usize = 48;

    /// Wake-up latency in nanoseconds: first instruction − due time. Negative when a co-kernel's
    /// timer fires early.
    #[inline]
    pub fn latency_ns(&self) -> i64 {
        difference(self.wake_ns, self.due_ns)
    }

    /// Execution time in nanoseconds: end of the work − first instruction.
    #[inline]
    pub fn execution_ns(&self) -> i64 {
        difference(self.end_ns, self.wake_ns)
    }

    /// Response time in nanoseconds: end of the work − due time.
    #[inline]
    pub fn response_ns(&self) -> i64 {
        difference(self.end_ns, self.due_ns)
    }

    /// Whether the cycle belongs to the warm-up.
    #[inline]
    pub fn is_warm_up(&self) -> bool {
        self.flags.contains(SampleFlags::WARM_UP)
    }

    /// The sample as little-endian bytes, the form in which it is logged.
    pub fn to_bytes(&self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[0..8].copy_from_slice(&self.cycle.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.due_ns.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.wake_ns.to_le_bytes());
        bytes[24..32].copy_from_slice(&self.end_ns.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.work_ns.to_le_bytes());
        bytes[36..40].copy_from_slice(&self.cpu_time_ns.to_le_bytes());
        bytes[40..42].copy_from_slice(&self.involuntary_switches.to_le_bytes());
        bytes[42..44].copy_from_slice(&self.cpu.to_le_bytes());
        bytes[44..46].copy_from_slice(&self.flags.0.to_le_bytes());
        bytes[46..48].copy_from_slice(&self.reserved.to_le_bytes());
        bytes
    }

    /// Reads a sample back from its logged form.
    pub fn from_bytes(bytes: &[u8; Self::BYTES]) -> Self {
        let u64_at = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u32_at = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let u16_at = |at: usize| u16::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        Self {
            cycle: u64_at(0),
            due_ns: u64_at(8),
            wake_ns: u64_at(16),
            end_ns: u64_at(24),
            work_ns: u32_at(32),
            cpu_time_ns: u32_at(36),
            involuntary_switches: u16_at(40),
            cpu: u16_at(42),
            flags: SampleFlags(u16_at(44)),
            reserved: u16_at(46),
        }
    }
}

/// `later − earlier` in nanoseconds, signed. Instants are far below 2⁶³ ns (292 years of uptime),
/// so the wrapping difference is exact.
#[inline]
fn difference(later: u64, earlier: u64) -> i64 {
    later.wrapping_sub(earlier) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_layout_has_the_documented_size_and_no_padding() {
        assert_eq!(size_of::<Sample>(), Sample::BYTES);
    }

    #[test]
    fn a_wake_up_before_its_due_time_has_a_negative_latency() {
        let sample = Sample {
            due_ns: 5_000,
            wake_ns: 3_551,
            end_ns: 9_000,
            ..Sample::default()
        };
        assert_eq!(sample.latency_ns(), -1_449);
        assert_eq!(sample.execution_ns(), 5_449);
        assert_eq!(sample.response_ns(), 4_000);
    }

    proptest! {
        #[test]
        fn the_logged_form_gives_back_the_same_sample(bytes in proptest::array::uniform32(any::<u8>()), rest in proptest::array::uniform16(any::<u8>())) {
            let mut whole = [0; Sample::BYTES];
            whole[..32].copy_from_slice(&bytes);
            whole[32..].copy_from_slice(&rest);
            prop_assert_eq!(Sample::from_bytes(&whole).to_bytes(), whole);
        }
    }
}
