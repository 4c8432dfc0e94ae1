//! perf's records of a thread that blocks, out of their bytes: when it left the CPU, and with which stack.
//! Pure; the layout is that of the kernel's `include/uapi/linux/perf_event.h` for [`super::FIELDS`].

use super::Registers;
use crate::perf::records::{LOST, SAMPLE};

/// Values of a call chain from here on name the context of what follows: `PERF_CONTEXT_MAX`.
const FIRST_CONTEXT: u64 = -4095_i64 as u64;
/// `PERF_CONTEXT_KERNEL`.
const KERNEL: u64 = -128_i64 as u64;
/// Registers of 64 bits: `PERF_SAMPLE_REGS_ABI_64`.
const ABI_64: u64 = 2;

/// A record's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said<'a> {
    /// The thread left its CPU, blocked, with this stack.
    Left(Stack<'a>),
    /// The thread was interrupted with this stack, and ran on.
    Ran(Stack<'a>),
    /// Number of records that found no room.
    Lost(u64),
}

/// The stack of a thread that leaves its CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stack<'a> {
    /// The thread.
    pub thread: u32,
    /// Its process.
    pub process: u32,
    /// When, in nanoseconds on `CLOCK_MONOTONIC`.
    pub at_ns: u64,
    /// Addresses in the kernel, the innermost first.
    pub kernel: Vec<u64>,
    /// Return addresses in the program, if the kernel follows its frames: on CPUs without [`Registers`].
    pub user: Vec<u64>,
    /// The program's registers; `None` on other CPUs and for programs of 32 bits.
    pub registers: Option<Registers>,
    /// The program's stack, from its stack pointer on.
    pub memory: &'a [u8],
}

/// Parses a record's bytes, its head included; `None` for a record that is irrelevant here or can't be
/// understood.
pub(super) fn parse(record: &[u8]) -> Option<Said<'_>> {
    let mut fields = Fields(record);
    // Type, then flags and length.
    match fields.long()? as u32 {
        // One that can't be understood is a wait without a stack.
        SAMPLE => Some(sample(fields).map_or(Said::Lost(1), Said::Left)),
        LOST => {
            // Number of the event.
            fields.long()?;
            fields.long().map(Said::Lost)
        }
        _ => None,
    }
}

fn sample(mut fields: Fields<'_>) -> Option<Stack<'_>> {
    let identity = fields.long()?;
    let (process, thread) = (identity as u32, (identity >> 32) as u32);
    let at_ns = fields.long()?;
    let mut stack = Stack {
        thread,
        process,
        at_ns,
        kernel: Vec::new(),
        user: Vec::new(),
        registers: None,
        memory: &[],
    };
    let mut context = 0;
    for _ in 0..fields.long()? {
        match fields.long()? {
            new if new >= FIRST_CONTEXT => context = new,
            address if context == KERNEL => stack.kernel.push(address),
            address => stack.user.push(address),
        }
    }
    if Registers::MASK == 0 {
        return Some(stack);
    }
    let abi = fields.long()?;
    if abi != 0 {
        let values: Option<Vec<u64>> = (0..Registers::MASK.count_ones())
            .map(|_| fields.long())
            .collect();
        let registers = Registers::in_kernel_order(&values?);
        stack.registers = registers.filter(|_| abi == ABI_64);
    }
    let room = usize::try_from(fields.long()?).ok()?;
    if room > 0 {
        let memory = fields.0.get(..room)?;
        fields.0 = &fields.0[room..];
        let held = usize::try_from(fields.long()?).ok()?;
        stack.memory = memory.get(..held)?;
    }
    Some(stack)
}

/// Bytes that are taken eight at a time.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn long(&mut self) -> Option<u64> {
        let (first, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(u64::from_le_bytes(*first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn record(kind: u32, body: &[u64]) -> Vec<u8> {
        let length = 8 * (body.len() as u64 + 1);
        let head = u64::from(kind) | length << 48;
        let all = std::iter::once(&head).chain(body);
        all.flat_map(|long| long.to_le_bytes()).collect()
    }

    /// Identity, instant, chain.
    const FRONT: [u64; 7] = [
        6 | 7 << 32,
        1000,
        4,
        KERNEL,
        0xffff_ffff_8100_0001,
        -512_i64 as u64,
        0x400,
    ];

    #[test]
    fn a_sample_gives_both_stacks_the_registers_and_the_memory_that_was_there() {
        if Registers::MASK == 0 {
            return;
        }
        let count = Registers::MASK.count_ones();
        let mut body = FRONT.to_vec();
        body.push(ABI_64);
        body.extend(1..=u64::from(count));
        // Room for three words, of which two are held.
        body.extend([24, 0xa, 0xb, 0, 16]);
        let record = record(SAMPLE, &body);
        let Some(Said::Left(stack)) = parse(&record) else {
            panic!("{:?}", parse(&record));
        };
        assert_eq!((stack.process, stack.thread, stack.at_ns), (6, 7, 1000));
        assert_eq!(stack.kernel, [0xffff_ffff_8100_0001]);
        assert_eq!(stack.user, [0x400]);
        assert!(stack.registers.is_some());
        assert_eq!(stack.memory.len(), 16);
        assert_eq!(stack.memory[8], 0xb);
        for length in 0..record.len() - 8 {
            assert!(
                !matches!(parse(&record[..length]), Some(Said::Left(of)) if of.memory.len() == 16)
            );
        }
    }

    #[test]
    fn registers_of_a_program_of_32_bits_are_not_taken_for_64() {
        if Registers::MASK == 0 {
            return;
        }
        let mut body = FRONT.to_vec();
        body.push(1);
        body.extend(vec![5; Registers::MASK.count_ones() as usize]);
        body.push(0);
        let record = record(SAMPLE, &body);
        assert!(matches!(parse(&record), Some(Said::Left(of)) if of.registers.is_none()));
    }

    #[test]
    fn records_that_found_no_room_are_counted_and_others_passed_over() {
        let lost = record(LOST, &[1, 12]);
        assert_eq!(parse(&lost), Some(Said::Lost(12)));
        assert_eq!(parse(&lost[..16]), None);
        assert_eq!(parse(&record(14, &[7, 2000])), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = parse(&bytes);
            let mut sample = record(SAMPLE, &[]);
            sample.extend(bytes);
            let _ = parse(&sample);
        }
    }
}
