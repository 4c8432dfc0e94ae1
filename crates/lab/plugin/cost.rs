//! Cost model of a core: a slot for each instruction, more for some classes, plus waits for its
//! caches.
//!
//! Pure: addresses in, costs out; no clock and nothing random. It simplifies a core: no branch is
//! mispredicted, no address translated, nothing overlaps, nothing is prefetched, and no other core
//! shares caches or memory. String instructions count by the cache lines that they touch.

/// Costs are in quarters of a cycle: cores of today take four instructions a cycle in.
pub const QUARTERS: u64 = 4;
/// Bytes of a line of cache, as a power of two.
const LINE: u32 = 6;
/// Levels below the first; the last is memory.
const BELOW: usize = 3;
/// Words that parameters are on the line to the plugin.
pub const WORDS: usize = 6 + BELOW + 2 + 2 * CACHES;
/// The first level's two caches, the second and the third.
pub const CACHES: usize = 4;

/// Classes that cost more than a slot. The numbers are indices into [`Parameters::extra`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// Nothing more.
    Plain = 0,
    /// Multiplies whole numbers.
    Multiply = 1,
    /// Divides whole numbers.
    Divide = 2,
    /// Divides floating-point numbers or takes a root.
    Fraction = 3,
    /// Reads and writes at once.
    Locked = 4,
    /// Waits for earlier reads and writes.
    Fence = 5,
}

/// Size of a cache: number of lines, and lines of a set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    /// All lines; a power of two times `ways`.
    pub lines: u64,
    /// Lines of a set.
    pub ways: u64,
}

/// The modelled core. Costs are in quarters of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Parameters {
    /// Cost of each instruction class in addition to its slot of one quarter; the first is zero.
    pub extra: [u64; 6],
    /// Wait of an access answered by the second level, the third, or memory.
    pub wait: [u64; BELOW],
    /// A line of a string instruction that is in a cache.
    pub line_near: u64,
    /// Cost of each line of a sequence read from or written to memory.
    pub line_memory: u64,
    /// The caches: of code, of data, the second, the third.
    pub caches: [Size; CACHES],
}

impl Parameters {
    /// Encodes them for the plugin.
    pub fn words(&self) -> [u64; WORDS] {
        let mut words = [0; WORDS];
        let sizes = self.caches.iter().flat_map(|size| [size.lines, size.ways]);
        let all = self.extra.into_iter().chain(self.wait);
        let all = all.chain([self.line_near, self.line_memory]).chain(sizes);
        words
            .iter_mut()
            .zip(all)
            .for_each(|(word, value)| *word = value);
        words
    }

    /// Decodes them in the plugin.
    pub fn of_words(words: &[u64; WORDS]) -> Self {
        let size = |cache: usize| Size {
            lines: words[11 + 2 * cache],
            ways: words[12 + 2 * cache],
        };
        Self {
            extra: [words[0], words[1], words[2], words[3], words[4], words[5]],
            wait: [words[6], words[7], words[8]],
            line_near: words[9],
            line_memory: words[10],
            caches: [size(0), size(1), size(2), size(3)],
        }
    }

    /// Cost of an instruction without its accesses. A repeated string instruction costs only its
    /// lines.
    pub fn of_class(&self, class: Class) -> u64 {
        1 + self.extra[class as usize]
    }
}

/// Lines, the latest of each set first.
#[derive(Debug)]
pub struct Cache<'a> {
    lines: &'a mut [u64],
    ways: usize,
}

impl<'a> Cache<'a> {
    /// An empty cache; `lines` are zeros, as many as its size.
    pub fn empty(lines: &'a mut [u64], ways: usize) -> Self {
        Self { lines, ways }
    }

    /// Whether the line is present. Loads it if not, in place of the set's least recently used
    /// line.
    pub fn touch(&mut self, line: u64) -> bool {
        let sets = self.lines.len() / self.ways;
        let from = (line as usize & (sets - 1)) * self.ways;
        let set = &mut self.lines[from..from + self.ways];
        // Zero means an empty slot.
        let tag = line + 1;
        let known = set.iter().position(|one| *one == tag);
        let last = known.unwrap_or(self.ways - 1);
        set[..=last].rotate_right(1);
        set[0] = tag;
        known.is_some()
    }
}

/// Cost so far, in quarters of a cycle.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// On instructions by themselves.
    pub instructions: u64,
    /// Waiting for code.
    pub code: u64,
    /// Waits for data that was read.
    pub data: u64,
    /// On lines that were written to memory, or by string instructions.
    pub lines: u64,
}

impl Spent {
    /// Difference to an earlier value.
    pub fn since(&self, before: &Self) -> Self {
        Self {
            instructions: self.instructions.saturating_sub(before.instructions),
            code: self.code - before.code,
            data: self.data - before.data,
            lines: self.lines - before.lines,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        self.instructions + self.code + self.data + self.lines
    }
}

/// A core under way.
#[derive(Debug)]
pub struct Model<'a> {
    parameters: Parameters,
    caches: [Cache<'a>; CACHES],
    /// Cost so far.
    pub spent: Spent,
    /// The lines that a string instruction read and wrote last.
    string: [u64; 2],
}

impl<'a> Model<'a> {
    /// With caches that hold nothing: of code, of data, the second, the third.
    pub fn new(parameters: Parameters, caches: [Cache<'a>; CACHES]) -> Self {
        Self {
            parameters,
            caches,
            spent: Spent::default(),
            string: [u64::MAX; 2],
        }
    }

    /// Wait for a line, and whether it came from memory.
    fn wait(&mut self, first: usize, line: u64) -> (u64, bool) {
        let wait = self.parameters.wait;
        if self.caches[first].touch(line) {
            return (0, false);
        }
        if self.caches[2].touch(line) {
            return (wait[0], false);
        }
        if self.caches[3].touch(line) {
            (wait[1], false)
        } else {
            (wait[2], true)
        }
    }

    /// Fetches the code in `from..behind`; its instructions cost `own` without their accesses.
    /// `more` is false for further iterations of the same string instruction.
    pub fn executes(&mut self, from: u64, behind: u64, own: u64, more: bool) {
        self.spent.instructions += own;
        for line in from >> LINE..=(behind.max(from + 1) - 1) >> LINE {
            self.spent.code += self.wait(0, line).0;
        }
        if more {
            self.string = [u64::MAX; 2];
        }
    }

    /// Instructions that were taken for executed and were not.
    pub fn takes_back(&mut self, own: u64) {
        self.spent.instructions -= own;
    }

    /// An access of `bytes` bytes; `string` if a string instruction made it.
    pub fn accesses(&mut self, address: u64, bytes: u64, writes: bool, string: bool) {
        for line in address >> LINE..=(address + bytes.max(1) - 1) >> LINE {
            if string {
                self.string(line, writes)
            } else {
                self.one(line, writes)
            }
        }
    }

    fn one(&mut self, line: u64, writes: bool) {
        let (wait, from_memory) = self.wait(1, line);
        match writes {
            false => self.spent.data += wait,
            // A store does not wait, but its line is loaded and written back.
            true if from_memory => self.spent.lines += self.parameters.line_memory,
            true => {}
        }
    }

    fn string(&mut self, line: u64, writes: bool) {
        let last = &mut self.string[usize::from(writes)];
        if *last == line {
            return;
        }
        *last = line;
        let (_, from_memory) = self.wait(1, line);
        self.spent.lines += if from_memory {
            self.parameters.line_memory
        } else {
            self.parameters.line_near
        };
    }
}

/// The class of an instruction of x86-64, by Intel's Software Developer's Manual, volume 2, appendix A.
pub fn class_of_x86(bytes: &[u8]) -> Class {
    let is_prefix = |byte: &&u8| matches!(**byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3);
    let prefixes = bytes.iter().take_while(is_prefix).count();
    let (prefixes, rest) = bytes.split_at(prefixes);
    if prefixes.contains(&0xf0) {
        return Class::Locked;
    }
    match *rest {
        // XCHG with memory locks by itself.
        [0x86 | 0x87, modes, ..] if modes < 0xc0 => Class::Locked,
        [0xf6 | 0xf7, modes, ..] => match modes >> 3 & 7 {
            4 | 5 => Class::Multiply,
            6 | 7 => Class::Divide,
            _ => Class::Plain,
        },
        [0x69 | 0x6b, ..] | [0x0f, 0xaf, ..] => Class::Multiply,
        [0x0f, 0x51 | 0x5e, ..] => Class::Fraction,
        // LFENCE, MFENCE, SFENCE.
        [0x0f, 0xae, 0xe8 | 0xf0 | 0xf8, ..] => Class::Fence,
        _ => Class::Plain,
    }
}
