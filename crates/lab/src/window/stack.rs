//! Call stack at each block, from the calls, returns, interrupts and switches executed.
//!
//! A call before the first block is discovered at its return, and then belongs to all blocks since.
//! The stack of a thread that is switched in is discovered in the same way.

use super::block::{Block, Flow};
use super::symbols::{Place, Symbols};

/// A frame: a function with who called it. Frames are kept, so that a caller that is learnt later
/// becomes the caller of all of them.
#[derive(Debug, Clone, Copy)]
struct Frame<'a> {
    name: &'a str,
    caller: Option<usize>,
    /// Its return address, if a call was seen.
    returns_to: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Called,
    /// An interrupt, an exception or a system call: the interrupted block, and its frame before the
    /// last instruction, in case that was never executed.
    Entered {
        inside: (u64, u64),
        before: Option<usize>,
    },
    /// The function that changes stacks: it returns in another thread.
    Switching,
}

/// The stack while blocks pass.
#[derive(Debug)]
pub(crate) struct Stack<'a> {
    symbols: &'a Symbols,
    frames: Vec<Frame<'a>>,
    /// Frames of the current thread without a known caller.
    orphans: Vec<usize>,
    top: Option<usize>,
    last: Option<Block>,
    /// The frame of the last block.
    before: Option<usize>,
    /// Returns that match no known call.
    pub(crate) unmatched: u64,
    /// Interrupts and exceptions.
    pub(crate) entered: u64,
}

/// Entry points of interrupts and exceptions (arch/x86/include/asm/idtentry.h, arch/arm64's
/// entry.S).
fn is_entry(place: &Place<'_>) -> bool {
    const FUNCTIONS: [&str; 4] = [
        "asm_exc_",
        "asm_sysvec_",
        "asm_common_interrupt",
        "asm_spurious_interrupt",
    ];
    // Tables of stubs, one for each interrupt.
    const TABLES: [&str; 3] = ["irq_entries_start", "spurious_entries_start", "vectors"];
    let Place::Kernel(name, offset) = place else {
        return false;
    };
    let begins = |names: &[&str]| names.iter().any(|begin| name.starts_with(begin));
    (*offset == 0 && begins(&FUNCTIONS)) || begins(&TABLES)
}

fn switches(name: &str) -> bool {
    matches!(name, "__switch_to_asm" | "cpu_switch_to")
}

impl<'a> Stack<'a> {
    pub(crate) fn new(symbols: &'a Symbols) -> Self {
        Self {
            symbols,
            frames: Vec::new(),
            orphans: Vec::new(),
            top: None,
            last: None,
            before: None,
            unmatched: 0,
            entered: 0,
        }
    }

    /// Follows to the next block and returns its frame.
    pub(crate) fn follow(&mut self, block: Block) -> usize {
        let place = self.symbols.place(block.start);
        self.before = self.top;
        match self.last {
            None => self.root(&place),
            Some(last) => self.arrive(last, block, &place),
        }
        self.last = Some(block);
        self.top.unwrap_or_else(|| {
            self.root(&place);
            self.frames.len() - 1
        })
    }

    /// Names from the outermost to the innermost.
    pub(crate) fn names(&self, frame: usize) -> Vec<&'a str> {
        let mut names = Vec::new();
        let mut at = Some(frame);
        while let Some(index) = at {
            let frame = self.frames[index];
            names.push(frame.name);
            at = frame.caller;
        }
        names.reverse();
        names
    }

    fn arrive(&mut self, last: Block, block: Block, place: &Place<'a>) {
        let at = block.start;
        if last.has_inside(at) {
            // The rest of a block that was left for a device, or a loop.
            return self.stay(place);
        }
        let straight = at == last.end || at == last.start || at == last.target;
        match last.flow {
            Flow::On | Flow::Jump if straight => self.stay(place),
            Flow::IndirectJump if !is_entry(place) => self.stay(place),
            Flow::Call | Flow::IndirectCall => {
                let arrived = match last.flow {
                    Flow::Call => at == last.target,
                    _ => !is_entry(place),
                };
                if arrived
                    && place.name() == self.symbols.place(last.start).name()
                    && !place.is_entry()
                {
                    // A return into the function itself: a kernel that avoids indirect jumps makes
                    // them in this way, or fills the CPU's return buffer.
                    return self.stay(place);
                }
                let called = match arrived {
                    true => *place,
                    // Interrupted before its first instruction.
                    false => self.symbols.place(last.target),
                };
                if arrived || last.flow == Flow::Call {
                    self.call(called.name(), last.end);
                }
                if !arrived {
                    self.enter(place, last);
                }
            }
            Flow::Return if !is_entry(place) => self.give_back(at, place),
            Flow::ExceptionReturn => {
                self.leave(at, place);
                if is_entry(place) {
                    self.enter(place, last);
                }
            }
            Flow::Halt if at == last.end => self.stay(place),
            _ => self.enter(place, last),
        }
    }

    fn push(&mut self, frame: Frame<'a>) {
        self.frames.push(frame);
        let index = self.frames.len() - 1;
        if frame.caller.is_none() {
            self.orphans.push(index);
        }
        self.top = Some(index);
    }

    fn root(&mut self, place: &Place<'a>) {
        self.orphans.clear();
        self.push(Frame {
            name: place.name(),
            caller: None,
            returns_to: 0,
            kind: Kind::Called,
        });
    }

    fn call(&mut self, name: &'a str, returns_to: u64) {
        let kind = if switches(name) {
            Kind::Switching
        } else {
            Kind::Called
        };
        let caller = self.top;
        self.push(Frame {
            name,
            caller,
            returns_to,
            kind,
        });
    }

    fn enter(&mut self, place: &Place<'a>, last: Block) {
        self.entered += 1;
        let caller = self.top;
        self.push(Frame {
            name: place.name(),
            caller,
            returns_to: 0,
            kind: Kind::Entered {
                inside: (last.start, last.end),
                before: self.before,
            },
        });
    }

    /// In the same frame, which a jump can have turned into another function.
    fn stay(&mut self, place: &Place<'a>) {
        let Some(top) = self.top else {
            return self.root(place);
        };
        let (frame, name) = (self.frames[top], place.name());
        if frame.name != name {
            let kind = match (switches(name), frame.kind) {
                (true, _) => Kind::Switching,
                (false, kind) => kind,
            };
            self.push(Frame {
                name,
                kind,
                ..frame
            });
        }
    }

    /// Back to who called.
    fn give_back(&mut self, at: u64, place: &Place<'a>) {
        let mut frame = self.top;
        while let Some(index) = frame {
            let this = self.frames[index];
            if this.kind == Kind::Switching && this.returns_to == at {
                // Another thread's stack from here on.
                return self.root(place);
            }
            if this.returns_to == at && this.caller.is_some() {
                self.top = this.caller;
                return self.stay(place);
            }
            if matches!(this.kind, Kind::Entered { .. }) {
                break;
            }
            frame = this.caller;
        }
        let top_name = self.top.map(|top| self.frames[top].name);
        if place.is_entry() || top_name == Some(place.name()) {
            return self.stay(place);
        }
        match frame {
            None => self.learn(place),
            Some(_) => {
                self.unmatched += 1;
                self.stay(place);
            }
        }
    }

    /// Back from an interrupt or a system call.
    fn leave(&mut self, at: u64, place: &Place<'a>) {
        let mut frame = self.top;
        while let Some(index) = frame {
            let this = self.frames[index];
            if let Kind::Entered { inside, before } = this.kind {
                // The last instruction of a block that faulted had no effect.
                let faulted = inside.0 <= at && at < inside.1;
                self.top = match before.filter(|_| faulted) {
                    Some(before) => Some(before),
                    None => this.caller,
                };
                return match self.top {
                    Some(_) if is_entry(place) => {}
                    Some(top) if self.frames[top].name == place.name() => {}
                    Some(_) => self.give_back(at, place),
                    None => self.learn(place),
                };
            }
            frame = this.caller;
        }
        self.learn(place);
    }

    /// Adds a caller of everything that this thread has done so far.
    fn learn(&mut self, place: &Place<'a>) {
        let orphans = std::mem::take(&mut self.orphans);
        self.push(Frame {
            name: place.name(),
            caller: None,
            returns_to: 0,
            kind: Kind::Called,
        });
        for orphan in orphans {
            self.frames[orphan].caller = self.top;
        }
    }
}
