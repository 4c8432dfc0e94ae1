//! Known cores, each with the source of its figures.
//!
//! Of a published range the upper end is used; an instruction without a figure counts as a plain
//! one.

use super::model::{CACHES, Parameters, QUARTERS, Size};

/// A core's figures.
#[derive(Debug, Clone, Copy)]
pub struct CostModel {
    /// Name for users.
    pub name: &'static str,
    /// One-line description.
    pub about: &'static str,
    /// Cycles in a microsecond.
    pub mhz: u64,
    /// Its figures.
    pub parameters: Parameters,
    /// Sources of the figures.
    pub sources: &'static [&'static str],
}

impl CostModel {
    /// The one of that name.
    pub fn new(name: &str) -> Option<&'static Self> {
        MODELS.iter().find(|model| model.name == name)
    }

    /// Quarters of a cycle in nanoseconds, rounded to the nearest.
    pub fn ns(&self, quarters: u64) -> u64 {
        let per = self.mhz * QUARTERS;
        (quarters * 1_000 + per / 2) / per
    }
}

const fn cycles(cycles: u64) -> u64 {
    cycles * QUARTERS
}

/// Four caches by KiB and ways: of code, of data, the second, the third.
const fn caches(of: [(u64, u64); CACHES]) -> [Size; CACHES] {
    let mut sizes = [Size { lines: 0, ways: 0 }; CACHES];
    let mut index = 0;
    while index < CACHES {
        let (kib, ways) = of[index];
        sizes[index] = Size {
            lines: kib * 16,
            ways,
        };
        index += 1;
    }
    sizes
}

/// All of them.
pub const MODELS: &[CostModel] = &[
    CostModel {
        name: "cortex-a76",
        about: "Raspberry Pi 5: Cortex-A76 at 2.4 GHz, 64 KiB + 64 KiB, 512 KiB, 2 MiB",
        mhz: 2400,
        parameters: Parameters {
            // Plain; MUL of 64 bits 4; UDIV of 64 bits 5 to 20; FDIV of 64 bits 15. Exclusive accesses and
            // barriers: nothing is published.
            extra: [0, cycles(4), cycles(20), cycles(15), 0, 0],
            // Beyond the first level's 4 cycles (1.667 ns): 5.06 ns in 256 KiB are 12, 21.95 ns in 2 MiB 53,
            // 116 ns in 64 MiB 278.
            wait: [cycles(12 - 4), cycles(53 - 4), cycles(278 - 4)],
            // Two stores of 16 bytes a cycle.
            line_near: cycles(2),
            // `memset` fills 9985 MB/s: 64 bytes in 6.4 ns.
            line_memory: cycles(15),
            caches: caches([(64, 4), (64, 4), (512, 8), (2048, 16)]),
        },
        sources: &[
            "Arm Cortex-A76 Software Optimization Guide, PJDOC-466751330-7215, issue 8.0; the same figures \
             in LLVM's AArch64SchedNeoverseN1.td",
            "Arm Cortex-A76 Technical Reference Manual, 100798, A6 and A7 (caches and their ways)",
            "sbc-bench results/8-NK.txt, Raspberry Pi 5 (ramlat 1x32, tinymembench)",
        ],
    },
    CostModel {
        name: "skylake",
        about: "Intel Core i7-6700 (Skylake) at 4.0 GHz, 32 KiB + 32 KiB, 256 KiB, 8 MiB",
        mhz: 4000,
        parameters: Parameters {
            // Plain; IMUL of 64 bits 3; DIV of 64 bits 35 to 88; SQRTSD 15 to 18; LOCK ADD 18; MFENCE 33.
            extra: [0, cycles(3), cycles(88), cycles(18), cycles(18), cycles(33)],
            // Beyond the first level's 4 cycles: 12, 42, and 42 + 51 ns.
            wait: [cycles(12 - 4), cycles(42 - 4), cycles(42 + 204 - 4)],
            // A store of 32 bytes a cycle.
            line_near: cycles(2),
            // Two channels of DDR4-2400, 38.4 GB/s: 64 bytes in 1.67 ns.
            line_memory: cycles(7),
            caches: caches([(32, 8), (32, 8), (256, 4), (8192, 16)]),
        },
        sources: &[
            "7-cpu.com/cpu/Skylake.html (caches, their latencies, memory)",
            "A. Fog, Instruction tables, Skylake (latencies of instructions)",
            "Intel 64 and IA-32 Architectures Optimization Reference Manual, Skylake (four a cycle, 32 bytes \
             stored a cycle)",
        ],
    },
];
