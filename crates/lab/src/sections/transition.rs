//! A transition as the emulator's plugin notes it, with the number of instructions executed until then.

use wakepath_schedulability::sections::{Class, Transition, What};

/// Number of low bits of the first word that hold the instruction count.
const KIND: u32 = 56;
/// Width of the address stored with a count; all higher bits of a kernel address are set.
const ADDRESS: u32 = 48;

/// The lock whose effect is noted at the same count was taken by the code that ends at an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Locked {
    /// Instructions executed.
    pub count: u64,
    /// The address.
    pub by: u64,
}

/// A note of the plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// A transition.
    Changed(Transition),
    /// The origin of the next one.
    Locked(Locked),
}

/// Decodes the plugin's two words (`plugin/transitions.rs`).
pub fn of_words([first, value]: [u64; 2]) -> Option<Note> {
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
        9 => return Some(Note::Locked(Locked { count, by: value })),
        _ => return None,
    };
    Some(Note::Changed(Transition { count, what }))
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
        let of = |kind: u64, value| of_words([kind << 56 | 77, value]);
        let changed = |what| Some(Note::Changed(Transition { count: 77, what }));
        assert_eq!(of(1, 5), changed(What::Arrived(5)));
        assert_eq!(of(3, 5), changed(What::InterruptsOn(5)));
        let address = 0xffff_ffff_8100_0000_u64;
        let class = Class {
            not_preemptible: true,
            needs_scheduler: true,
            ..Class::default()
        };
        let word = 0b1001 << 48 | address & ((1 << 48) - 1);
        assert_eq!(of(4, word), changed(What::Count(class, address)));
        assert_eq!(of(0, 0), None);
        assert_eq!(of(9, 5), Some(Note::Locked(Locked { count: 77, by: 5 })));
        assert_eq!(of(10, 0), None);
    }
}
