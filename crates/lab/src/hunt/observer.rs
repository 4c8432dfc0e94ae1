//! Follows a branch: assigns its sections to the programs and calls that caused them.

use super::section::Section;
use crate::again::{Listener, Since};
use crate::sections::{Course, Kind, Locked, Preemption, Roles, Stretch, Transition, is_lock};
use crate::window::{Counted, Mark as ClockReading, Symbols, Within, within};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use wakepath_guest::hunt::{Mark, Program};

/// Instructions to examine before a section, to find its callers.
const BEFORE: u64 = 100_000;
/// The offset and the prime of FNV-1a with 64 bits (Fowler, Noll, Vo).
const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0100_0000_01b3;

/// The entry of system calls.
const SYSTEM_CALL: &str = "entry_SYSCALL_64";

/// A branch's progress, which another thread watches: programs ended, or [`DONE`].
pub(super) type Progress = AtomicUsize;
/// All programs have ended.
pub(super) const DONE: usize = usize::MAX;

/// Program and call under way.
type At = (usize, Option<usize>);

/// Addresses of a stretch: of the code that took its lock, if it began with one, its entry and its exit.
type Addresses = (Option<u64>, u64, u64);

/// Receives a branch's transitions and marks.
pub(super) struct Observer<'a> {
    symbols: &'a Symbols,
    course: Course,
    progress: &'a Progress,
    told: Vec<Stretch>,
    /// The instructions executed at each mark, and what was under way from there on: a stretch is
    /// reported when the next one begins.
    marks: Vec<(u64, Option<At>)>,
    /// Instructions that each ended program took.
    pub costs: Vec<u64>,
    /// Origins of locks since the last stretch.
    locked: VecDeque<Locked>,
    /// For each program and call and place the longest.
    longest: HashMap<(At, Addresses), u64>,
    /// Program and call under way when the guest fell silent.
    pub last: Option<At>,
    /// Digest of all stretches.
    pub digest: u64,
    /// The section to look into: entry and exit.
    examined: Option<(String, String)>,
    wanted: Option<Stretch>,
    looked_into: u64,
    /// Its content.
    pub within: Option<Within>,
}

impl<'a> Observer<'a> {
    /// `examined` is the section to look into, if any.
    pub fn new(
        symbols: &'a Symbols,
        preemption: Preemption,
        progress: &'a Progress,
        examined: Option<(String, String)>,
    ) -> Self {
        Self {
            symbols,
            course: Course::new(preemption),
            progress,
            told: Vec::new(),
            marks: Vec::new(),
            costs: Vec::new(),
            locked: VecDeque::new(),
            longest: HashMap::new(),
            last: None,
            digest: FNV_OFFSET,
            examined,
            wanted: None,
            looked_into: 0,
            within: None,
        }
    }

    /// For each program its longest section of each entry, exit and call, the longest first.
    pub fn sections(&self, programs: &[Program]) -> Vec<Vec<Section>> {
        let mut by_place: Vec<HashMap<(String, &str, &str), Section>> =
            vec![HashMap::new(); programs.len()];
        let mut all: Vec<_> = self.longest.iter().collect();
        // Of two of the same length the same one each time.
        all.sort_unstable();
        for (((number, call), (by, began, ended)), length) in all {
            let Some(program) = programs.get(*number) else {
                continue;
            };
            let name = call.and_then(|call| program.calls.get(call));
            let name = name.map_or("", |call| call.name.as_str());
            let began = match self.entry(*by, *began) {
                // Without full preemption most sections begin here.
                entry if entry == SYSTEM_CALL && !name.is_empty() => {
                    format!("{SYSTEM_CALL} ({name})")
                }
                other => other,
            };
            let ended = self.name(*ended);
            let place = (began.clone(), ended, name);
            let longest = by_place[*number].entry(place).or_insert_with(|| Section {
                began,
                ended: ended.to_owned(),
                length: 0,
                call: None,
            });
            if longest.length < *length {
                (longest.length, longest.call) = (*length, *call);
            }
        }
        let in_order = |sections: HashMap<_, Section>| {
            let mut sections: Vec<Section> = sections.into_values().collect();
            sections.sort_by(|one, other| {
                let key = |section: &Section| std::cmp::Reverse(section.length);
                (key(one), one.place(), one.call).cmp(&(key(other), other.place(), other.call))
            });
            sections
        };
        by_place.into_iter().map(in_order).collect()
    }

    /// The function that a stretch began in: the one that took the lock, and the lock's in brackets.
    fn entry(&self, by: Option<u64>, began: u64) -> String {
        let name = self.name(began);
        match by {
            // The address after the call.
            Some(by) if is_lock(name) => format!("{} ({name})", self.name(by - 1)),
            _ => name.to_owned(),
        }
    }

    /// The origin of the lock that was taken at this count.
    fn locked_by(&mut self, count: u64) -> Option<u64> {
        while let Some(lock) = self.locked.front() {
            if lock.count >= count {
                return (lock.count == count).then_some(lock.by);
            }
            self.locked.pop_front();
        }
        None
    }

    fn name(&self, address: u64) -> &'a str {
        match address {
            0 => "a halt or a program",
            address => self.symbols.place(address).name(),
        }
    }

    fn take(&mut self, stretch: Stretch) {
        let length = match stretch.kind {
            Kind::Off => stretch.net(),
            Kind::Interrupt => stretch.net(),
            Kind::BeforeScheduler | Kind::Scheduler | Kind::Switch => return,
        };
        let mut earlier = self.marks.iter().rev();
        let at = earlier.find(|(count, _)| *count <= stretch.from);
        let at = at.and_then(|(_, at)| *at);
        let by = match stretch.kind {
            Kind::Off => self.locked_by(stretch.from),
            _ => None,
        };
        let Some(at) = at else {
            return;
        };
        for word in [stretch.from, stretch.to, stretch.began, stretch.ended] {
            self.digest = (self.digest ^ word).wrapping_mul(FNV_PRIME);
        }
        if length == 0 {
            return;
        }
        let key = (at, (by, stretch.began, stretch.ended));
        let longest = self.longest.entry(key).or_default();
        *longest = length.max(*longest);
        if let Some((began, ended)) = &self.examined
            && length > self.looked_into
            && begins_in(began, &self.entry(by, stretch.began))
            && self.name(stretch.ended) == ended
        {
            self.looked_into = length;
            self.wanted = Some(stretch);
        }
    }

    fn next_wanted(&self) -> Option<Since> {
        let stretch = self.wanted.as_ref()?;
        Some(Since {
            from: stretch.from.saturating_sub(BEFORE),
            until: stretch.to,
        })
    }
}

/// Whether a section of this name has this entry.
fn begins_in(section: &str, entry: &str) -> bool {
    let call = section.strip_prefix(entry);
    call.is_some_and(|call| call.is_empty() || entry == SYSTEM_CALL)
}

impl Listener for Observer<'_> {
    fn marked(&mut self, reading: ClockReading) -> Option<Since> {
        let mark = Mark::at(reading.address)?;
        let now = match mark {
            Mark::Done => None,
            Mark::Begins(program) | Mark::Exits(program) => Some((program, None)),
            Mark::Call(program, call) => Some((program, Some(call))),
            Mark::Ended(program) => {
                let mut begins = self.marks.iter().rev();
                let began = begins.find(|(_, at)| *at == Some((program, None)));
                let began = began.map_or(reading.count, |(count, _)| *count);
                self.costs.push(reading.count - began);
                self.progress.store(program + 1, Ordering::Relaxed);
                None
            }
        };
        if mark == Mark::Done {
            self.progress.store(DONE, Ordering::Relaxed);
        }
        self.marks.push((reading.count, now));
        self.last = now;
        None
    }

    fn locked(&mut self, locked: &[Locked]) {
        self.locked.extend(locked);
    }

    fn changed(&mut self, transitions: &[Transition]) -> Option<Since> {
        let roles = Roles(self.symbols);
        for transition in transitions {
            self.course
                .push(*transition, |address| roles.at(address), &mut self.told);
        }
        for stretch in std::mem::take(&mut self.told) {
            self.take(stretch);
        }
        self.next_wanted()
    }

    fn executed(&mut self, blocks: Counted) -> Option<Since> {
        let wanted = self.wanted.take();
        if let Some(stretch) = wanted.filter(|stretch| blocks.before <= stretch.from) {
            self.within = Some(within(&blocks, stretch.from, stretch.to, self.symbols));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sections::{Class, What};
    use wakepath_guest::hunt::{STUB_BYTES, STUBS_AT};

    const LIST: &str = "ffffffff81000000 T hold\nffffffff81000100 T release\n";
    const HOLD: u64 = 0xffff_ffff_8100_0010;
    const RELEASE: u64 = 0xffff_ffff_8100_0110;

    fn mark(observer: &mut Observer<'_>, mark: Mark, count: u64) {
        observer.marked(ClockReading {
            count,
            halts: 0,
            count_at_halt: 0,
            address: STUBS_AT + mark.number() * STUB_BYTES,
        });
    }

    /// A system call with a section of a length in it.
    fn section(observer: &mut Observer<'_>, from: u64, length: u64) {
        let off = Class {
            not_preemptible: true,
            ..Class::default()
        };
        let all = [
            (from, What::ToKernel(HOLD)),
            (from + 5, What::InterruptsOn(HOLD)),
            (from + 100, What::Count(off, HOLD)),
            (from + 100 + length, What::Count(Class::default(), RELEASE)),
            (from + 200 + length, What::ToUser),
        ];
        let all = all.map(|(count, what)| Transition { count, what });
        observer.changed(&all);
    }

    #[test]
    fn a_section_belongs_to_the_program_and_the_call_that_was_under_way() {
        let symbols = Symbols::parse(LIST).unwrap();
        let progress = Progress::default();
        let mut observer = Observer::new(&symbols, Preemption::Full, &progress, None);
        section(&mut observer, 0, 9_000);
        mark(&mut observer, Mark::Begins(0), 10_000);
        mark(&mut observer, Mark::Call(0, 0), 20_000);
        section(&mut observer, 20_100, 300);
        mark(&mut observer, Mark::Call(0, 1), 30_000);
        section(&mut observer, 30_100, 700);
        section(&mut observer, 32_100, 500);
        mark(&mut observer, Mark::Exits(0), 40_000);
        mark(&mut observer, Mark::Ended(0), 41_000);
        mark(&mut observer, Mark::Begins(1), 42_000);
        mark(&mut observer, Mark::Call(1, 0), 43_000);
        section(&mut observer, 44_000, 50);
        mark(&mut observer, Mark::Ended(1), 50_000);
        mark(&mut observer, Mark::Done, 51_000);
        // The last section is reported when another begins, which is nobody's.
        section(&mut observer, 52_000, 800);
        section(&mut observer, 54_000, 10);
        assert_eq!(progress.load(Ordering::Relaxed), DONE);
        let text = "r0 = dup(0)\nr1 = dup(1)\n\nr0 = dup(0)\n";
        let programs = wakepath_guest::hunt::parse_all(text).unwrap();
        let sections = observer.sections(&programs);
        let longest = &sections[0][0];
        assert_eq!((longest.length, longest.call), (700, Some(1)));
        assert_eq!(longest.place(), ("hold", "release"));
        assert_eq!(sections[1][0].call, Some(0));
        assert_eq!(sections[1][0].length, 50);
    }
}
