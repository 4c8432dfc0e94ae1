//! Telemetry, markers and log lines of a loop.
//!
//! Takes them out of its ring, keeps them in memory for a while, and writes them to the current
//! segment. Everything in the ring is validated.

use crate::recent::Beside;
use crate::segment::Segment;
use std::collections::{BTreeSet, VecDeque};
use wakepath_archive::{LineSaid, LoopLine, Told};
use wakepath_measure::recorder::{DoubtedDueTimes, formatted};
use wakepath_rt::said::{self, Said};
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::one_line;

/// Most items of a loop to hold in memory.
const MOST_TOLD: usize = 4096;

/// Reader of one loop's items.
pub(crate) struct Heard<'a> {
    memory: &'a SharedMemory,
    ring: u32,
    said: said::Reader<'a>,
    named: BTreeSet<u8>,
    names: Vec<String>,
    told: VecDeque<Beside>,
    doubted: DoubtedDueTimes,
}

impl<'a> Heard<'a> {
    /// For the loop with this ring; `doubted` carries on an earlier recorder's count.
    pub(crate) fn new(memory: &'a SharedMemory, ring: u32, doubted: DoubtedDueTimes) -> Self {
        Self {
            memory,
            ring,
            said: memory.said_reader(ring),
            named: BTreeSet::new(),
            names: Vec::new(),
            told: VecDeque::new(),
            doubted,
        }
    }

    /// The last of it.
    pub(crate) fn last(&self) -> &VecDeque<Beside> {
        &self.told
    }

    /// Due times of another clock that the loop rejected, to be reported at its end.
    pub(crate) fn doubted(&self) -> &DoubtedDueTimes {
        &self.doubted
    }

    /// Writes earlier items of the new segment's cycles into it.
    pub(crate) fn repeat(&mut self, segment: Option<&mut Segment>) {
        self.named.clear();
        if let Some(segment) = segment {
            self.told
                .iter()
                .for_each(|beside| write(segment, &mut self.named, beside));
        }
    }

    /// Moves new items into memory and into the loop's segment.
    pub(crate) fn take(&mut self, mut segment: Option<&mut Segment>) {
        let announcement = self.memory.announcement(self.ring);
        let (told, names, doubted) = (&mut self.told, &mut self.names, &mut self.doubted);
        let mut fresh = VecDeque::new();
        let format = |number| announcement.format(number);
        self.said.take(|record| {
            let beside = match Said::new(record) {
                Some(Said::Section {
                    section,
                    cycle,
                    from_ns,
                    to_ns,
                }) => {
                    let section = u8::try_from(section).unwrap_or(u8::MAX);
                    if names.len() <= usize::from(section) {
                        *names = announcement
                            .sections()
                            .iter()
                            .map(|of| one_line(&of.name))
                            .collect();
                    }
                    let name = names.get(usize::from(section)).cloned().unwrap_or_default();
                    let span = Told::Span {
                        thread: 0,
                        section,
                        cycle,
                        from_ns,
                        to_ns,
                    };
                    Beside::Told(cycle, span, name)
                }
                Some(Said::Due { cycle, due_ns }) => {
                    if doubted.is_another(cycle, due_ns) {
                        return;
                    }
                    let due = Told::Due {
                        thread: 0,
                        cycle,
                        due_ns,
                    };
                    Beside::Told(cycle, due, String::new())
                }
                Some(Said::Line {
                    format: number,
                    cycle,
                    at_ns,
                    arguments,
                }) => {
                    let text = match format(number) {
                        Some((style, text)) => formatted(style, &text, &arguments),
                        None => "a line with an unknown format".into(),
                    };
                    Beside::Line(line(cycle, at_ns, LineSaid::Text(text)))
                }
                Some(Said::Value {
                    number,
                    cycle,
                    at_ns,
                    value,
                }) => {
                    let name = format(number).map_or_else(String::new, |(_, name)| one_line(&name));
                    Beside::Line(line(cycle, at_ns, LineSaid::Value { name, is: value }))
                }
                None => return,
            };
            fresh.push_back(beside);
        });
        for beside in fresh {
            if let Some(segment) = segment.as_deref_mut() {
                write(segment, &mut self.named, &beside);
            }
            told.push_back(beside);
        }
        while told.len() > MOST_TOLD {
            told.pop_front();
        }
    }
}

fn line(cycle: u64, at_ns: u64, said: LineSaid) -> LoopLine {
    LoopLine {
        segment: 0,
        thread: 0,
        cycle,
        at_ns,
        said,
    }
}

/// Writes an item with the segment's own cycle numbers. Items of other segments are left out, and
/// so are write errors, because samples have priority.
pub(crate) fn write(segment: &mut Segment, named: &mut BTreeSet<u8>, beside: &Beside) {
    let _ = match beside {
        Beside::Line(line) => match segment.number_of(line.cycle) {
            Some(cycle) => segment.say(&LoopLine {
                cycle,
                ..line.clone()
            }),
            None => Ok(()),
        },
        Beside::Told(cycle, told, name) => {
            let Some(number) = segment.number_of(*cycle) else {
                return;
            };
            let mut told = told.clone();
            match &mut told {
                Told::Span { cycle, section, .. } => {
                    *cycle = number;
                    if named.insert(*section) {
                        let _ = segment.tell(&Told::Name {
                            thread: 0,
                            section: *section,
                            name: name.clone(),
                        });
                    }
                }
                Told::Due { cycle, .. } => *cycle = number,
                Told::Name { .. } => {}
            }
            segment.tell(&told)
        }
    };
}
