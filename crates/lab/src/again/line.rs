//! Protocol between wakepath and the emulator's plugin.
//!
//! First wakepath sends its orders. Then the plugin sends readings of the clock by the guest's user
//! code, and transitions, and waits each time; wakepath requests blocks until it needs no more. The
//! other side is `plugin/plugin.rs`; all words have 64 bits, in the host's order.

use crate::cost::{Parameters, Spent};
use crate::sections::{Locked, Note, Transition, Watched, of_words};
use crate::window::{Block, Counted, Flow, Mark};
use std::io::{self, Read, Write};

const MARK: u64 = 1;
const BLOCKS: u64 = 2;
const TRANSITIONS: u64 = 4;
const COST: u64 = 5;
const GO_ON: u64 = 0;
const WANTED: u64 = 1;
const COST_WANTED: u64 = 2;
/// Bytes of a block, and of a transition, on the line.
const BLOCK_BYTES: usize = 32;
const TRANSITION_BYTES: usize = 16;
/// Most transitions in one message.
const MOST_AT_ONCE: u64 = 4096;

/// Notes that the plugin takes in addition to readings of the clock.
#[derive(Debug, Clone, Default)]
pub struct Noting {
    /// Whether to note transitions.
    pub transitions: bool,
    /// Addresses from here on are the kernel's.
    pub kernel_from: u64,
    /// The place of the count of reasons not to preempt in the CPU's own data.
    pub count_at: u64,
    /// Addresses to watch.
    pub watched: Vec<Watched>,
    /// The core's figures, if costs are counted.
    pub costs: Option<Parameters>,
}

/// Requested blocks: those between two instruction counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// The first.
    pub from: u64,
    /// The last; `u64::MAX`: until now.
    pub until: u64,
}

/// Receives the plugin's messages. Blocks that it requests come next.
pub trait Listener {
    /// A reading of the clock.
    fn marked(&mut self, mark: Mark) -> Option<Since>;
    /// Origins of locks among the transitions that come next, if they are noted.
    fn locked(&mut self, _: &[Locked]) {}
    /// Transitions, in their order.
    fn changed(&mut self, transitions: &[Transition]) -> Option<Since>;
    /// Requested blocks; it can request more.
    fn executed(&mut self, blocks: Counted) -> Option<Since>;
    /// Cost up to the next reading of the clock, if costs are counted.
    fn spent(&mut self, _: Spent) {}
    /// After a reading: the instruction whose cost it needs next, if any.
    fn cost_wanted(&mut self) -> Option<u64> {
        None
    }
    /// Cost up to that instruction, in quarters of a cycle.
    fn cost(&mut self, _: u64) {}
}

/// Sends the plugin its orders and listens until the emulator ends.
///
/// # Errors
/// A message that can't be parsed. The end of the connection isn't an error: the emulator can end
/// at any time.
pub fn attend(
    mut line: impl Read + Write,
    noting: &Noting,
    listener: &mut impl Listener,
) -> io::Result<()> {
    order(&mut line, noting)?;
    while let Some([tag]) = words(&mut line)? {
        let mut wanted = match tag {
            MARK => {
                let [count, halts, count_at_halt, address] = needed(&mut line)?;
                if noting.costs.is_some() {
                    let [instructions, code, data, lines] = needed(&mut line)?;
                    listener.spent(Spent {
                        instructions,
                        code,
                        data,
                        lines,
                    });
                }
                let wanted = listener.marked(Mark {
                    count,
                    halts,
                    count_at_halt,
                    address,
                });
                while let Some(at) = listener.cost_wanted() {
                    say(&mut line, &[COST_WANTED, at, 0])?;
                    let [COST, cost] = needed(&mut line)? else {
                        return Err(not_understood());
                    };
                    listener.cost(cost);
                }
                wanted
            }
            TRANSITIONS => {
                let (locked, transitions) = transitions(&mut line)?;
                listener.locked(&locked);
                listener.changed(&transitions)
            }
            _ => return Err(not_understood()),
        };
        while let Some(Since { from, until }) = wanted {
            say(&mut line, &[WANTED, from, until])?;
            wanted = listener.executed(blocks(&mut line)?);
        }
        say(&mut line, &[GO_ON, 0, 0])?;
    }
    Ok(())
}

fn order(line: &mut impl Write, noting: &Noting) -> io::Result<()> {
    let places = noting.watched.iter();
    let places = places.flat_map(|place| [place.from, place.to, place.why as u64]);
    let first = [
        noting.transitions.into(),
        noting.kernel_from,
        noting.count_at,
        noting.watched.len() as u64,
    ];
    let costs = noting.costs.map(|parameters| parameters.words());
    let words = first.into_iter().chain(places);
    let words = words.chain([costs.is_some().into()]);
    let words: Vec<u64> = words.chain(costs.into_iter().flatten()).collect();
    say(line, &words)
}

fn say(line: &mut impl Write, words: &[u64]) -> io::Result<()> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    match line.write_all(&bytes) {
        // The emulator ended while it waited; the next read returns the end.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

fn transitions(line: &mut impl Read) -> io::Result<(Vec<Locked>, Vec<Transition>)> {
    let [count] = needed(line)?;
    if count > MOST_AT_ONCE {
        return Err(not_understood());
    }
    let mut bytes = vec![0; count as usize * TRANSITION_BYTES];
    line.read_exact(&mut bytes)?;
    let long = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
    let (mut locked, mut transitions) = (Vec::new(), Vec::with_capacity(count as usize));
    for bytes in bytes.chunks_exact(TRANSITION_BYTES) {
        let words = [long(&bytes[..8]), long(&bytes[8..])];
        match of_words(words).ok_or_else(not_understood)? {
            Note::Changed(transition) => transitions.push(transition),
            Note::Locked(lock) => locked.push(lock),
        }
    }
    Ok((locked, transitions))
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

/// Reads `COUNT` words, or fails.
fn needed<const COUNT: usize>(line: &mut impl Read) -> io::Result<[u64; COUNT]> {
    words(line)?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

/// Reads `COUNT` words, or none if the connection ended before the first.
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
        "can't parse the message of the emulator's plugin",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::{Watch, What};
    use std::os::unix::net::UnixStream;

    /// Requests the blocks after the first reading, once.
    #[derive(Default)]
    struct Heard {
        marks: Vec<Mark>,
        transitions: Vec<Transition>,
        blocks: Vec<Counted>,
    }

    impl Listener for Heard {
        fn marked(&mut self, mark: Mark) -> Option<Since> {
            self.marks.push(mark);
            (self.marks.len() == 1).then_some(Since {
                from: 2_000,
                until: u64::MAX,
            })
        }

        fn changed(&mut self, transitions: &[Transition]) -> Option<Since> {
            self.transitions.extend(transitions);
            None
        }

        fn executed(&mut self, blocks: Counted) -> Option<Since> {
            self.blocks.push(blocks);
            None
        }
    }

    fn send(line: &mut UnixStream, words: &[u64]) {
        say(line, words).unwrap();
    }

    #[test]
    fn what_is_told_is_heard_and_blocks_come_where_they_are_wanted() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let noting = Noting {
            transitions: true,
            kernel_from: 1 << 63,
            count_at: 0x10,
            watched: vec![Watched {
                from: 5,
                to: 6,
                why: Watch::Entry,
            }],
            costs: None,
        };
        let plugin = std::thread::spawn(move || {
            let ordered: [u64; 8] = words(&mut theirs).unwrap().unwrap();
            send(&mut theirs, &[MARK, 2_500, 1, 2_000, 0x7000]);
            let wanted: [u64; 3] = words(&mut theirs).unwrap().unwrap();
            send(&mut theirs, &[BLOCKS, 1, 2_490, 0x10, 0x20, 0x30]);
            theirs.write_all(&10_u32.to_ne_bytes()).unwrap();
            theirs.write_all(&3_u32.to_ne_bytes()).unwrap();
            let then: [u64; 3] = words(&mut theirs).unwrap().unwrap();
            send(&mut theirs, &[TRANSITIONS, 1, 5 << 56 | 2_700, 0]);
            let last: [u64; 3] = words(&mut theirs).unwrap().unwrap();
            (ordered, [wanted, then, last])
        });
        let mut heard = Heard::default();
        attend(ours, &noting, &mut heard).unwrap();
        let (ordered, answers) = plugin.join().unwrap();
        assert_eq!(ordered, [1, 1 << 63, 0x10, 1, 5, 6, Watch::Entry as u64, 0]);
        let nothing = [GO_ON, 0, 0];
        assert_eq!(answers, [[WANTED, 2_000, u64::MAX], nothing, nothing]);
        let block = Block {
            start: 0x10,
            end: 0x20,
            target: 0x30,
            executed: 10,
            flow: Flow::Return,
        };
        assert_eq!(heard.blocks[0].blocks, [block]);
        assert_eq!(heard.blocks[0].before, 2_490);
        assert_eq!(heard.marks[0].count, 2_500);
        let to_user = Transition {
            count: 2_700,
            what: What::ToUser,
        };
        assert_eq!(heard.transitions, [to_user]);
    }

    #[test]
    fn a_line_that_ends_is_no_error_and_one_that_is_cut_short_or_talks_nonsense_is() {
        let said = |words: &[u64]| {
            let (ours, mut theirs) = UnixStream::pair().unwrap();
            send(&mut theirs, words);
            drop(theirs);
            attend(ours, &Noting::default(), &mut Heard::default())
        };
        assert!(said(&[]).is_ok());
        assert!(said(&[TRANSITIONS, 0]).is_ok());
        assert!(said(&[MARK, 1]).is_err());
        assert!(said(&[77, 1, 0, 0, 0]).is_err());
        assert!(said(&[TRANSITIONS, 1 << 40]).is_err());
        assert!(said(&[TRANSITIONS, 1, 0, 0]).is_err());
    }
}
