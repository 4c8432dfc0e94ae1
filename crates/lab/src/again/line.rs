//! What wakepath and the emulator's plugin say to each other: at each reading of the clock by the
//! guest's user code the plugin tells it and waits, and wakepath answers with what it wants. The other
//! side is `plugin/plugin.rs`; all words are of 64 bits, in the host's order.

use crate::window::{Block, Counted, Flow, Follower, Found, Mark};
use std::io::{self, Read, Write};
use std::sync::Arc;

const MARK: u64 = 1;
const BLOCKS: u64 = 2;
const GO_ON: u64 = 0;
const WANTED: u64 = 1;
/// Bytes of a block on the line.
const BLOCK_BYTES: usize = 32;

/// The blocks behind a cycle that may be a wanted one.
#[derive(Debug, Clone)]
pub struct Kept {
    /// Which.
    pub found: Found,
    /// The blocks; shared where several cycles end with one reading.
    pub blocks: Arc<Counted>,
}

/// Follows the guest's readings of the clock until the emulator ends, and keeps the blocks of wanted
/// cycles, from the instruction of the number that `since` says on.
///
/// # Errors
/// What is not understood. A line that ends is none: the emulator may end whenever it likes.
pub fn attend(
    mut line: impl Read + Write,
    follower: &mut Follower,
    since: impl Fn(&Found) -> u64,
) -> io::Result<Vec<Kept>> {
    let mut kept = Vec::new();
    while let Some([tag, count, halts, count_at_halt, address]) = words(&mut line)? {
        if tag != MARK {
            return Err(not_understood());
        }
        let found = follower.push(Mark {
            count,
            halts,
            count_at_halt,
            address,
        });
        match found.iter().map(&since).min() {
            Some(first) => {
                answer(&mut line, [WANTED, first])?;
                let blocks = Arc::new(blocks(&mut line)?);
                kept.extend(found.into_iter().map(|found| Kept {
                    found,
                    blocks: Arc::clone(&blocks),
                }));
            }
            None => answer(&mut line, [GO_ON, 0])?,
        }
    }
    Ok(kept)
}

fn answer(line: &mut impl Write, words: [u64; 2]) -> io::Result<()> {
    let [first, second] = words.map(u64::to_ne_bytes);
    match line.write_all(&[first, second].concat()) {
        // It ended while it waited; the next reading says so too.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

fn blocks(line: &mut impl Read) -> io::Result<Counted> {
    let Some([BLOCKS, count, before]) = words(line)? else {
        return Err(not_understood());
    };
    let mut blocks = Vec::new();
    let mut bytes = [0; BLOCK_BYTES];
    for _ in 0..count {
        line.read_exact(&mut bytes)?;
        let long = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().expect("8 bytes"));
        let short = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().expect("4 bytes"));
        blocks.push(Block {
            start: long(0),
            end: long(8),
            target: long(16),
            executed: short(24),
            flow: Flow::of_number(short(28)).ok_or_else(not_understood)?,
        });
    }
    Ok(Counted { before, blocks })
}

/// So many words, or none where the line has ended before the first.
fn words<const COUNT: usize>(line: &mut impl Read) -> io::Result<Option<[u64; COUNT]>> {
    let mut words = [0; COUNT];
    for (index, word) in words.iter_mut().enumerate() {
        let mut bytes = [0; 8];
        match line.read_exact(&mut bytes) {
            Ok(()) => *word = u64::from_ne_bytes(bytes),
            Err(error) if index == 0 && error.kind() == io::ErrorKind::UnexpectedEof => {
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Some(words))
}

fn not_understood() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidData,
        "what the emulator's plugin says can't be understood",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::window::{Clock, Loop};
    use std::os::unix::net::UnixStream;
    use wakepath_timeline::Sample;

    fn send(line: &mut UnixStream, words: &[u64]) {
        for word in words {
            line.write_all(&word.to_ne_bytes()).unwrap();
        }
    }

    fn follower() -> Follower {
        let sample = Sample {
            due_ns: 1_000,
            wake_ns: 1_500,
            end_ns: 1_600,
            ..Sample::default()
        };
        let clock = Clock {
            ns_per_instruction: 1,
            granularity_ns: 1,
        };
        let of = Loop {
            samples: vec![sample],
            wanted: vec![0],
        };
        Follower::new(clock, vec![of])
    }

    #[test]
    fn the_blocks_behind_a_wanted_cycle_are_asked_for_and_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let plugin = std::thread::spawn(move || {
            let mut answers = Vec::new();
            for count in [2_500, 2_600] {
                send(&mut theirs, &[MARK, count, 1, 2_000, 0x7000]);
                let answer: [u64; 2] = words(&mut theirs).unwrap().unwrap();
                answers.push(answer);
            }
            send(&mut theirs, &[BLOCKS, 1, 2_590, 0x10, 0x20, 0x30]);
            theirs.write_all(&10_u32.to_ne_bytes()).unwrap();
            theirs.write_all(&3_u32.to_ne_bytes()).unwrap();
            send(&mut theirs, &[MARK, 9_000, 1, 2_000, 0x7000]);
            let last: [u64; 2] = words(&mut theirs).unwrap().unwrap();
            answers.push(last);
            answers
        });
        let mut follower = follower();
        let kept = attend(ours, &mut follower, |found| found.wake.count - 500).unwrap();
        assert_eq!(
            plugin.join().unwrap(),
            [[GO_ON, 0], [WANTED, 2_000], [GO_ON, 0]]
        );
        assert_eq!(kept.len(), 1);
        assert_eq!(kept[0].found.wake.count, 2_500);
        let block = Block {
            start: 0x10,
            end: 0x20,
            target: 0x30,
            executed: 10,
            flow: Flow::Return,
        };
        assert_eq!(kept[0].blocks.blocks, [block]);
        assert_eq!(kept[0].blocks.before, 2_590);
    }

    #[test]
    fn a_line_that_ends_is_no_error_and_one_that_is_cut_short_or_talks_nonsense_is() {
        let said = |words: &[u64]| {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            send(&mut theirs, words);
            drop(theirs);
            attend(ours, &mut follower(), |_| 0).map(|kept| kept.len())
        };
        assert_eq!(said(&[]).unwrap(), 0);
        assert_eq!(said(&[MARK, 1, 0, 0, 0x7000]).unwrap(), 0);
        assert!(said(&[MARK, 1]).is_err());
        assert!(said(&[77, 1, 0, 0, 0]).is_err());
    }
}
