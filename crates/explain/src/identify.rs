//! Finds a loop's thread if the recording does not name it: the one that was current on the sample's CPU at
//! its first instruction. It votes over cycles; one event stream serves all loops.

use foldhash::{HashMap, HashMapExt};
use wakepath_timeline::{KernelEvent, Sample, What};

/// Votes for the thread of each of several loops.
#[derive(Debug)]
pub struct Identifier {
    loops: Vec<std::vec::IntoIter<Sample>>,
    next: Vec<Option<Sample>>,
    votes: Vec<HashMap<u32, u32>>,
    current: HashMap<u16, u32>,
}

impl Identifier {
    /// For loops with these samples, each by cycle; a hundred of each are plenty.
    pub fn new(loops: Vec<Vec<Sample>>) -> Self {
        let mut loops: Vec<_> = loops.into_iter().map(Vec::into_iter).collect();
        Self {
            next: loops.iter_mut().map(Iterator::next).collect(),
            votes: vec![HashMap::new(); loops.len()],
            loops,
            current: HashMap::new(),
        }
    }

    /// Takes an event. Returns whether more are wanted.
    pub fn event(&mut self, event: &KernelEvent) -> bool {
        for number in 0..self.loops.len() {
            while let Some(sample) = self.next[number].filter(|s| s.wake_ns < event.at_ns) {
                if let Some(&thread) = self.current.get(&sample.cpu).filter(|&&id| id != 0) {
                    *self.votes[number].entry(thread).or_default() += 1;
                }
                self.next[number] = self.loops[number].next();
            }
        }
        match &event.what {
            What::Switch { next, .. } => self.current.insert(event.cpu, next.id),
            What::Lost { .. } => self.current.remove(&event.cpu),
            _ => None,
        };
        self.next.iter().any(Option::is_some)
    }

    /// The thread of each loop; `None` if no cycle shows it, or fewer than half agree.
    pub fn threads(&self) -> Vec<Option<u32>> {
        let winner = |votes: &HashMap<u32, u32>| {
            let all: u32 = votes.values().sum();
            let (&thread, &most) = votes.iter().max_by_key(|(_, votes)| **votes)?;
            (2 * most > all).then_some(thread)
        };
        self.votes.iter().map(winner).collect()
    }
}

/// The thread of each loop, from a stream that is read only as far as needed.
pub fn identify(
    loops: Vec<Vec<Sample>>,
    events: impl IntoIterator<Item = KernelEvent>,
) -> Vec<Option<u32>> {
    let mut identifier = Identifier::new(loops);
    for event in events {
        if !identifier.event(&event) {
            break;
        }
    }
    identifier.threads()
}
