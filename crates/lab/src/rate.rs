//! Virtual time for an instruction, as a number or by a board's name.
//!
//! Pure. A board's figure is the ratio of a desktop's speed to its own, rounded to a power of two,
//! which the emulator can count.

use crate::{LabError, Result};

/// A board and the published speed of one of its cores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Board {
    /// Name for users.
    pub name: &'static str,
    /// Which machine was measured.
    pub machine: &'static str,
    /// Speed of one thread in the 7-Zip benchmark (LZMA), in its millions of instructions per second.
    pub rating_mips: f64,
    /// The result's file.
    pub source: &'static str,
}

/// From github.com/ThomasKaiser/sbc-bench, `Sorted-Results.md`, column "7-zip single", except for
/// the BeagleBone's: its core at 910 MHz instead of 1000 MHz in another board with one CPU,
/// `Results.md`.
pub const BOARDS: [Board; 5] = [
    Board {
        name: "desktop",
        machine: "Intel Pentium G4600, 3600 MHz",
        rating_mips: 4_448.0,
        source: "results/2jVw.txt",
    },
    Board {
        name: "jetson-orin",
        machine: "Jetson AGX Orin, Cortex-A78AE, 2200 MHz",
        rating_mips: 3_187.0,
        source: "results/4ax9.txt",
    },
    Board {
        name: "raspberry-pi-5",
        machine: "Raspberry Pi 5 B, Cortex-A76, 2400 MHz",
        rating_mips: 3_305.0,
        source: "results/8-NK.txt",
    },
    Board {
        name: "raspberry-pi-4",
        machine: "Raspberry Pi 4 B, Cortex-A72, 1800 MHz, arm64",
        rating_mips: 1_769.0,
        source: "results/3OBF.txt",
    },
    Board {
        name: "beaglebone",
        machine: "Lime A10, Cortex-A8, 910 MHz",
        rating_mips: 550.0,
        source: "results/1j1L.txt",
    },
];

impl Board {
    /// Slowdown compared with the first of [`BOARDS`], which corresponds to 1 ns.
    pub fn slowness(&self) -> f64 {
        BOARDS[0].rating_mips / self.rating_mips
    }

    /// The nearest that the emulator can count, by ratio: a power of two.
    pub fn ns_per_instruction(&self) -> u32 {
        let shift = self.slowness().log2().round().max(0.0);
        1 << shift as u32
    }
}

/// Parses virtual nanoseconds for an instruction: a number or a board's name.
///
/// # Errors
/// [`LabError::RateName`]; `shift_of` checks that the emulator supports the number.
pub fn ns_per_instruction(text: &str) -> Result<u32> {
    if let Ok(ns) = text.parse() {
        return Ok(ns);
    }
    let board = BOARDS.iter().find(|board| board.name == text);
    board
        .map(Board::ns_per_instruction)
        .ok_or_else(|| LabError::RateName {
            name: text.to_owned(),
            boards: BOARDS.map(|board| board.name).join(", "),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_is_as_many_times_slower_as_its_published_speed_to_the_nearest_power_of_two() {
        // By hand: 4448 / 3187 = 1.40, / 3305 = 1.35, / 1769 = 2.51, / 550 = 8.09; log2 of these
        // is 0.48, 0.43, 1.33, 3.02.
        let names = [
            "desktop",
            "jetson-orin",
            "raspberry-pi-5",
            "raspberry-pi-4",
            "beaglebone",
        ];
        let ns: Vec<u32> = names.map(|name| ns_per_instruction(name).unwrap()).into();
        assert_eq!(ns, [1, 1, 1, 2, 8]);
        for board in BOARDS {
            assert!(
                crate::machine::shift_of(board.ns_per_instruction()).is_ok(),
                "{}",
                board.name
            );
        }
    }

    #[test]
    fn a_number_is_taken_as_it_is_and_another_name_is_refused_with_those_there_are() {
        assert_eq!(ns_per_instruction("4").unwrap(), 4);
        for text in ["", "raspberry", "-1", "1.5"] {
            let said = ns_per_instruction(text).unwrap_err().to_string();
            assert!(said.contains("raspberry-pi-4, beaglebone"), "{said}");
        }
    }
}
