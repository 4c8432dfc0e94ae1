//! A transition as the emulator's plugin notes it, with the number of instructions executed until then.

/// What changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A place was reached that is watched.
    Arrived(u64),
    /// Interrupts went off, by the instruction there.
    InterruptsOff(u64),
    /// Interrupts went on.
    InterruptsOn(u64),
    /// The kernel's count of reasons not to preempt became this, by the instruction there.
    Count(Class, u64),
    /// A program's instructions follow.
    ToUser,
    /// The kernel's instructions follow, from there on.
    ToKernel(u64),
    /// The CPU halted until an interrupt.
    Halted,
    /// An interrupt, an exception or a system call was returned from.
    Returned,
}

/// The kernel's count of reasons not to preempt, as far as it matters (include/linux/preempt.h).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Class {
    /// There is a reason.
    pub not_preemptible: bool,
    /// An interrupt is under way.
    pub hard: bool,
    /// Softirqs are, or are held off.
    pub soft: bool,
    /// The scheduler should be called.
    pub needs_scheduler: bool,
}

/// What changed, and when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// Instructions executed until then.
    pub count: u64,
    /// What.
    pub what: What,
}

/// Bits of the first word that are a number of instructions.
const KIND: u32 = 56;
/// Bits of an address that are noted beside a count; the kernel's have all above them set.
const ADDRESS: u32 = 48;

impl Transition {
    /// From the two words that the plugin tells (`plugin/transitions.rs`).
    pub fn of_words([first, value]: [u64; 2]) -> Option<Self> {
        let count = first & ((1 << KIND) - 1);
        let what = match first >> KIND {
            1 => What::Arrived(value),
            2 => What::InterruptsOff(value),
            3 => What::InterruptsOn(value),
            4 => {
                let bit = |number: u32| value >> (ADDRESS + number) & 1 == 1;
                let class = Class {
                    not_preemptible: bit(0),
                    hard: bit(1),
                    soft: bit(2),
                    needs_scheduler: bit(3),
                };
                What::Count(class, whole_address(value))
            }
            5 => What::ToUser,
            6 => What::ToKernel(value),
            7 => What::Halted,
            8 => What::Returned,
            _ => return None,
        };
        Some(Self { count, what })
    }
}

fn whole_address(value: u64) -> u64 {
    let spare = u64::BITS - ADDRESS;
    ((value << spare) as i64 >> spare) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transition_is_read_from_its_two_words() {
        let of = |kind: u64, value| Transition::of_words([kind << 56 | 77, value]);
        let what = |kind, value| of(kind, value).unwrap().what;
        assert_eq!(of(1, 5).unwrap().count, 77);
        assert_eq!(what(3, 5), What::InterruptsOn(5));
        let address = 0xffff_ffff_8100_0000_u64;
        let class = Class {
            not_preemptible: true,
            needs_scheduler: true,
            ..Class::default()
        };
        let word = 0b1001 << 48 | address & ((1 << 48) - 1);
        assert_eq!(what(4, word), What::Count(class, address));
        assert_eq!(of(0, 0), None);
        assert_eq!(of(9, 0), None);
    }
}
