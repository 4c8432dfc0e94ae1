//! The cost model in the emulator's plugin, against a kernel assembled here.
//!
//! The cost of clearing a page with a string instruction is known in advance.

use crate::tiny_kernel::{Code, STACK, emulated};
use wakepath_lab::cost::{CostModel, Spent};
use wakepath_lab::sections::Transition;
use wakepath_lab::window::{Counted, Mark};
use wakepath_lab::{Listener, Noting, Since};

wakepath_test_program::tests![a_cleared_page_costs_its_lines_and_not_its_bytes];

#[derive(Default)]
struct Heard {
    spent: Vec<Spent>,
    counts: Vec<u64>,
    /// Cost a hundred instructions before each reading.
    before: Vec<u64>,
    wanted: Option<u64>,
}

impl Listener for Heard {
    fn marked(&mut self, mark: Mark) -> Option<Since> {
        self.counts.push(mark.count);
        self.wanted = Some(mark.count - 100);
        None
    }

    fn changed(&mut self, _: &[Transition]) -> Option<Since> {
        None
    }

    fn executed(&mut self, _: Counted) -> Option<Since> {
        None
    }

    fn spent(&mut self, spent: Spent) {
        self.spent.push(spent);
    }

    fn cost_wanted(&mut self) -> Option<u64> {
        self.wanted.take()
    }

    fn cost(&mut self, cost: u64) {
        self.before.push(cost);
    }
}

/// Readings of the clock, between them: a page cleared by bytes, the same again, by words of four bytes, and a
/// line read from memory.
fn kernel() -> Vec<u8> {
    const PAGE: u32 = 4096;
    /// No firmware has been there.
    const UNTOUCHED: u32 = 0x180_0000;
    let mut code = Code::default();
    code.begin().cli().nops(200);
    let reads_clock: &[u8] = &[0x0f, 0x31];
    code.bytes(reads_clock);
    for (clears, times) in [(0xaa, PAGE), (0xaa, PAGE), (0xab, PAGE / 4)] {
        // mov $STACK, %edi; mov $times, %ecx; rep stos
        code.bytes(&[0xbf]).word(STACK).bytes(&[0xb9]).word(times);
        code.bytes(&[0xf3, clears]).bytes(reads_clock);
    }
    // mov UNTOUCHED, %ebx; mov $1, %ecx; xor %edx, %edx; div %ecx
    code.bytes(&[0x8b, 0x1d]).word(UNTOUCHED);
    code.bytes(&[0xb9]).word(1).bytes(&[0x31, 0xd2, 0xf7, 0xf1]);
    // A jump to the next instruction: a reading is reported when its block begins.
    code.bytes(&[0xeb, 0x00]).bytes(reads_clock).end();
    code.0
}

fn a_cleared_page_costs_its_lines_and_not_its_bytes() {
    for name in ["cortex-a76", "skylake"] {
        let parameters = CostModel::new(name).unwrap().parameters;
        let noting = Noting {
            costs: Some(parameters),
            ..Noting::default()
        };
        let mut heard = Heard::default();
        emulated(&kernel(), &noting, &mut heard);
        let found = &heard.spent[heard.spent.len() - 5..];
        let counts = &heard.counts[heard.counts.len() - 5..];
        let between = |number: usize| {
            let (from, to) = (found[number], found[number + 1]);
            let instructions = to.instructions - from.instructions;
            (instructions, to.data - from.data, to.lines - from.lines)
        };
        // Two moves and the reading, a quarter of a cycle each; 64 lines.
        assert_eq!(between(0), (3, 0, 64 * parameters.line_memory), "{name}");
        assert_eq!(between(1), (3, 0, 64 * parameters.line_near), "{name}");
        assert_eq!(between(2), (3, 0, 64 * parameters.line_near), "{name}");
        assert!(counts[1] - counts[0] >= 4096, "{counts:?}");
        // A load, a move, an exclusive or, a division, a jump, the reading.
        let own = 6 + parameters.extra[2];
        assert_eq!(between(3), (own, parameters.wait[2], 0), "{name}");
        // Cost up to the first reading minus a hundred plain instructions, without their code.
        let first = heard.before.len() - 5;
        let apart = found[0].total() - heard.before[first];
        let code = parameters.wait[2] * 4;
        assert!((100..=200 + code).contains(&apart), "{name}: {apart}");
    }
}
