//! Size and use of the kernel's buffers. Pure; the machine's figures are passed in.

use wakepath_archive::TraceMode;

use crate::error::{ProbeError, Result};

/// Bytes that a busy CPU records in a second: 300 000 events of 40 bytes. Measured under loads: 60 000 to 200
/// 000 events a second.
const BYTES_A_SECOND: u64 = 12_000_000;
/// Time that is recorded besides the cycles: starting the loop, ending it.
const BESIDE_NS: u64 = 2_000_000_000;
/// Below this not even a second of a busy CPU has room.
const LEAST: u64 = 1 << 20;
/// More is a burden without use: such a segment is drained.
const MOST: u64 = 256 << 20;
/// Share of the available memory that all buffers together may take.
const SHARE: u64 = 8;

/// The user's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BufferWish {
    /// `None`: whichever fits the segments.
    pub mode: Option<TraceMode>,
    /// Bytes of each CPU's buffer; `None`: chosen.
    pub bytes: Option<u64>,
}

/// The choice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BufferChoice {
    /// Flight recorder or drained.
    pub mode: TraceMode,
    /// Bytes of each CPU's buffer.
    pub bytes: u64,
}

/// Chooses for segments of `segment_ns` on `cpus` CPUs with `available` bytes of memory. Without a wish: a
/// flight recorder that holds the longest segment of a busy CPU, or a drained buffer if that would take too
/// much.
///
/// # Errors
/// [`ProbeError::LittleMemory`].
pub fn choose(
    wish: BufferWish,
    segment_ns: u64,
    cpus: usize,
    available: u64,
) -> Result<BufferChoice> {
    let room = available / SHARE / cpus.max(1) as u64;
    if room < LEAST {
        return Err(ProbeError::LittleMemory {
            available: available >> 20,
            least: LEAST >> 10,
            cpus,
        });
    }
    let needed = (segment_ns + BESIDE_NS).div_ceil(1_000_000_000) * BYTES_A_SECOND;
    let most = room.min(MOST);
    let mode = wish.mode.unwrap_or(if needed <= most {
        TraceMode::FlightRecorder
    } else {
        TraceMode::Drained
    });
    let bytes = match (wish.bytes, mode) {
        (Some(bytes), _) => bytes.min(room),
        (None, TraceMode::Drained) => (2 * BYTES_A_SECOND).min(most),
        (None, _) => needed,
    };
    Ok(BufferChoice {
        mode,
        bytes: bytes.clamp(LEAST, room),
    })
}

/// `MemAvailable` of `/proc/meminfo`, in bytes.
pub fn available_memory(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    #[test]
    fn a_short_segment_is_held_whole() {
        let choice = choose(BufferWish::default(), 5_000_000_000, 1, 8 * GIB).unwrap();
        assert_eq!(choice.mode, TraceMode::FlightRecorder);
        assert_eq!(choice.bytes, 84_000_000);
    }

    #[test]
    fn a_long_segment_is_drained_through_a_buffer_of_seconds() {
        let choice = choose(BufferWish::default(), 600_000_000_000, 1, 8 * GIB).unwrap();
        assert_eq!(choice.mode, TraceMode::Drained);
        assert_eq!(choice.bytes, 24_000_000);
    }

    #[test]
    fn a_small_board_gives_an_eighth_of_what_is_free_and_no_more() {
        let wish = BufferWish {
            mode: Some(TraceMode::FlightRecorder),
            bytes: Some(GIB),
        };
        let choice = choose(wish, 600_000_000_000, 2, GIB).unwrap();
        assert_eq!(choice.bytes, GIB / 16);
    }

    #[test]
    fn too_little_memory_is_said() {
        let error = choose(BufferWish::default(), 1, 4, 16 << 20).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("16 MiB of memory are available")
        );
    }

    #[test]
    fn free_memory_is_read_from_the_kernels_text() {
        let text = "MemTotal:       24683728 kB\nMemAvailable:   24089000 kB\n";
        assert_eq!(available_memory(text), Some(24_089_000 << 10));
        assert_eq!(available_memory("MemTotal: 5 kB\n"), None);
    }
}
