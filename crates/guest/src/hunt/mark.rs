//! Marks: the guest reads its clock at an address that encodes its progress, which the emulator's
//! plugin reports at once.

use super::program::MOST_CALLS;

/// Address of the first instruction that reads the clock; program addresses of this size are free.
pub const STUBS_AT: u64 = 0x5a00_0000_0000;
/// Bytes of each: `rdtsc; ret` and a filler.
pub const STUB_BYTES: u64 = 4;
/// Number of them.
pub const STUBS: u64 = 1 << 16;
/// Marks of a program.
const EACH: u64 = 32;

const _: () = assert!(MOST_CALLS as u64 + 3 < EACH);

/// Progress of a guest. Programs count from 0, calls likewise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// All programs have ended.
    Done,
    /// A program begins.
    Begins(usize),
    /// A call of a program begins.
    Call(usize, usize),
    /// A program's calls have ended; its process ends.
    Exits(usize),
    /// Nothing of the program is left.
    Ended(usize),
}

impl Mark {
    /// Most programs that marks can distinguish.
    pub const MOST_PROGRAMS: usize = (STUBS / EACH) as usize - 1;

    /// Number of the stub.
    pub fn number(self) -> u64 {
        let of = |program: usize, place: u64| (program as u64 + 1) * EACH + place;
        match self {
            Self::Done => 0,
            Self::Begins(program) => of(program, 0),
            Self::Call(program, call) => of(program, 1 + call as u64),
            Self::Exits(program) => of(program, EACH - 2),
            Self::Ended(program) => of(program, EACH - 1),
        }
    }

    /// The mark at an address, if it is one.
    pub fn at(address: u64) -> Option<Self> {
        let offset = address.checked_sub(STUBS_AT)?;
        let number = offset / STUB_BYTES;
        if offset % STUB_BYTES != 0 || number >= STUBS {
            return None;
        }
        let program = match number {
            0 => return Some(Self::Done),
            number => usize::try_from((number / EACH).checked_sub(1)?).ok()?,
        };
        match number % EACH {
            0 => Some(Self::Begins(program)),
            place if place == EACH - 2 => Some(Self::Exits(program)),
            place if place == EACH - 1 => Some(Self::Ended(program)),
            place if place as usize <= MOST_CALLS => Some(Self::Call(program, place as usize - 1)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_mark_is_read_back_and_nothing_else_is_one() {
        let all = [
            Mark::Done,
            Mark::Begins(0),
            Mark::Call(0, 0),
            Mark::Call(Mark::MOST_PROGRAMS - 1, MOST_CALLS - 1),
            Mark::Exits(3),
            Mark::Ended(Mark::MOST_PROGRAMS - 1),
        ];
        for mark in all {
            let address = STUBS_AT + mark.number() * STUB_BYTES;
            assert_eq!(Mark::at(address), Some(mark));
            assert_eq!(Mark::at(address + 1), None);
        }
        assert_eq!(Mark::at(STUBS_AT + STUBS * STUB_BYTES), None);
        assert_eq!(Mark::at(STUBS_AT - STUB_BYTES), None);
    }
}
