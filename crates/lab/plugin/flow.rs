//! Decodes an instruction's control flow, and whether it reads the clock.
//!
//! Pure: bytes in, an answer out. x86-64 as in Intel's Software Developer's Manual, volume 2,
//! appendix A; A64 as in Arm's Architecture Reference Manual, C4.1.

/// Control flow after a block's last instruction. The numbers are those sent to wakepath.
#[repr(u8)]
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Flow {
    /// To the next instruction, or to a branch's target.
    #[default]
    On = 0,
    /// Always to its target.
    Jump = 1,
    /// A call, which returns to the next instruction.
    Call = 2,
    /// Back from a function.
    Return = 3,
    /// Back from an interrupt or a system call.
    ExceptionReturn = 4,
    /// Into the kernel.
    SystemCall = 5,
    /// Nowhere until an interrupt.
    Halt = 6,
    /// To an address from a register or memory.
    IndirectJump = 7,
    /// As `Call`, to an address from a register or memory.
    IndirectCall = 8,
}

/// A block's last instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Last {
    /// Its control flow.
    pub flow: Flow,
    /// Target of a branch, a jump or a call, if the instruction contains it; otherwise 0.
    pub target: u64,
}

fn to(flow: Flow, target: u64) -> Last {
    Last { flow, target }
}

fn is_prefix(byte: &u8) -> bool {
    matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x40..=0x4f | 0x64..=0x67 | 0xf0 | 0xf2 | 0xf3)
}

/// The opcode of an x86-64 instruction, without prefixes.
pub fn without_prefixes(bytes: &[u8]) -> &[u8] {
    let prefixes = bytes.iter().take_while(|byte| is_prefix(byte)).count();
    &bytes[prefixes..]
}

/// An instruction of x86-64 that ends at `end`.
pub fn of_x86(bytes: &[u8], end: u64) -> Last {
    let near = |at: u8| end.wrapping_add(i64::from(at as i8) as u64);
    let far = |at: &[u8]| match at {
        &[a, b, c, d, ..] => end.wrapping_add(i64::from(i32::from_le_bytes([a, b, c, d])) as u64),
        _ => 0,
    };
    match without_prefixes(bytes) {
        [0xe8, at @ ..] => to(Flow::Call, far(at)),
        [0xe9, at @ ..] => to(Flow::Jump, far(at)),
        [0xeb, at, ..] => to(Flow::Jump, near(*at)),
        [0x70..=0x7f | 0xe0..=0xe3, at, ..] => to(Flow::On, near(*at)),
        [0x0f, 0x80..=0x8f, at @ ..] => to(Flow::On, far(at)),
        [0xc2 | 0xc3 | 0xca | 0xcb, ..] => to(Flow::Return, 0),
        [0xcf, ..] | [0x0f, 0x07 | 0x35, ..] => to(Flow::ExceptionReturn, 0),
        [0x0f, 0x05 | 0x34, ..] => to(Flow::SystemCall, 0),
        [0xf4, ..] | [0x0f, 0x01, 0xc9, ..] => to(Flow::Halt, 0),
        [0xff, which, ..] => match which >> 3 & 7 {
            2 | 3 => to(Flow::IndirectCall, 0),
            4 | 5 => to(Flow::IndirectJump, 0),
            _ => Last::default(),
        },
        _ => Last::default(),
    }
}

/// A string instruction with a prefix that repeats it.
pub fn repeats_x86(bytes: &[u8]) -> bool {
    let repeated = bytes.iter().take(4).any(|byte| matches!(byte, 0xf2 | 0xf3));
    let string = matches!(
        without_prefixes(bytes),
        [0x6c..=0x6f | 0xa4..=0xa7 | 0xaa..=0xaf, ..]
    );
    repeated && string
}

/// Address in the per-CPU data (segment GS) that an x86-64 instruction ending at `end` accesses, if
/// it is absolute or relative to the instruction's end.
pub fn in_the_cpus_own_data(bytes: &[u8], end: u64) -> Option<u64> {
    let is_own = bytes
        .iter()
        .take(4)
        .take_while(|byte| is_prefix(byte))
        .any(|byte| *byte == 0x65);
    let which = match without_prefixes(bytes) {
        [0x0f, 0x38 | 0x3a, ..] => return None,
        [0x0f, _, which @ ..] | [_, which @ ..] if is_own => which,
        _ => return None,
    };
    let signed =
        |at: &[u8]| Some(i64::from(i32::from_le_bytes(at.get(..4)?.try_into().ok()?)) as u64);
    match which {
        // A scaled index without index and without base.
        [modes, 0x25, at @ ..] if modes & 0xc7 == 0x04 => signed(at),
        [modes, at @ ..] if modes & 0xc7 == 0x05 => Some(end.wrapping_add(signed(at)?)),
        _ => None,
    }
}

/// RDTSC and RDTSCP.
pub fn reads_clock_x86(bytes: &[u8]) -> bool {
    matches!(
        without_prefixes(bytes),
        [0x0f, 0x31, ..] | [0x0f, 0x01, 0xf9, ..]
    )
}

/// An A64 instruction as a word; 0, which isn't an instruction, if it is truncated.
fn word(bytes: &[u8]) -> u32 {
    match bytes {
        &[a, b, c, d] => u32::from_le_bytes([a, b, c, d]),
        _ => 0,
    }
}

/// An instruction of A64 at `at`.
pub fn of_arm(bytes: &[u8], at: u64) -> Last {
    let word = word(bytes);
    // A signed offset of `bits` bits starting at bit `low`, in instructions of four bytes.
    let offset = |bits: u32, low: u32| {
        let field = i64::from(word >> low & ((1 << bits) - 1));
        let signed = (field << (64 - bits)) >> (64 - bits);
        at.wrapping_add((signed * 4) as u64)
    };
    match word {
        _ if word >> 26 == 0b100101 => to(Flow::Call, offset(26, 0)),
        _ if word >> 26 == 0b000101 => to(Flow::Jump, offset(26, 0)),
        _ if word >> 24 == 0x54 || word & 0x7e00_0000 == 0x3400_0000 => to(Flow::On, offset(19, 5)),
        _ if word & 0x7e00_0000 == 0x3600_0000 => to(Flow::On, offset(14, 5)),
        // With and without pointer authentication.
        _ if word & 0xfeff_f000 == 0xd63f_0000 => to(Flow::IndirectCall, 0),
        _ if word & 0xfeff_f000 == 0xd61f_0000 => to(Flow::IndirectJump, 0),
        _ if word & 0xffff_f000 == 0xd65f_0000 => to(Flow::Return, 0),
        _ if word & 0xffff_f000 == 0xd69f_0000 => to(Flow::ExceptionReturn, 0),
        _ if word & 0xffe0_001f == 0xd400_0001 => to(Flow::SystemCall, 0),
        // WFE, WFI.
        0xd503_205f | 0xd503_207f => to(Flow::Halt, 0),
        _ => Last::default(),
    }
}

/// MRS of CNTVCT_EL0 and CNTVCTSS_EL0.
pub fn reads_clock_arm(bytes: &[u8]) -> bool {
    matches!(word(bytes) & !0x1f, 0xd53b_e040 | 0xd53b_e0c0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const END: u64 = 0xffff_ffff_8100_1000;

    #[test]
    fn instructions_of_x86_64_lead_where_the_manual_says() {
        let of = |bytes: &[u8]| (of_x86(bytes, END).flow, of_x86(bytes, END).target);
        // call +0x10; jmp -0x10; jne -2; ja +0x100
        assert_eq!(of(&[0xe8, 0x10, 0, 0, 0]), (Flow::Call, END + 0x10));
        assert_eq!(
            of(&[0xe9, 0xf0, 0xff, 0xff, 0xff]),
            (Flow::Jump, END - 0x10)
        );
        assert_eq!(of(&[0x75, 0xfe]), (Flow::On, END - 2));
        assert_eq!(of(&[0x0f, 0x87, 0, 1, 0, 0]), (Flow::On, END + 0x100));
        // ret; iretq; sysretq; syscall; hlt; mwait
        assert_eq!(of(&[0xc3]).0, Flow::Return);
        assert_eq!(of(&[0x48, 0xcf]).0, Flow::ExceptionReturn);
        assert_eq!(of(&[0x48, 0x0f, 0x07]).0, Flow::ExceptionReturn);
        assert_eq!(of(&[0x0f, 0x05]).0, Flow::SystemCall);
        assert_eq!(of(&[0xf4]).0, Flow::Halt);
        assert_eq!(of(&[0x0f, 0x01, 0xc9]).0, Flow::Halt);
        // call *%rax; jmp *0x8(%rax); push (%rax); a "no track" prefix: notrack jmp *%rax
        assert_eq!(of(&[0xff, 0xd0]).0, Flow::IndirectCall);
        assert_eq!(of(&[0xff, 0x60, 0x08]).0, Flow::IndirectJump);
        assert_eq!(of(&[0xff, 0x30]).0, Flow::On);
        assert_eq!(of(&[0x3e, 0xff, 0xe0]).0, Flow::IndirectJump);
        // mov %rsp,%rbp; and truncated instructions
        assert_eq!(of(&[0x48, 0x89, 0xe5]), (Flow::On, 0));
        assert_eq!(of(&[0xe8, 0x10]), (Flow::Call, 0));
        assert_eq!(of(&[]), (Flow::On, 0));
    }

    #[test]
    fn readings_of_the_clock_and_repeated_instructions_are_known() {
        assert!(reads_clock_x86(&[0x0f, 0x31]));
        assert!(reads_clock_x86(&[0x0f, 0x01, 0xf9]));
        assert!(!reads_clock_x86(&[0x0f, 0x01, 0xf8]), "swapgs");
        // rep movsq; movsb; ret with a prefix
        assert!(repeats_x86(&[0xf3, 0x48, 0xa5]));
        assert!(!repeats_x86(&[0xa4]));
        assert!(!repeats_x86(&[0xf3, 0xc3]));
        // mrs x1, cntvct_el0; mrs x1, cntfrq_el0
        assert!(reads_clock_arm(&0xd53b_e041_u32.to_le_bytes()));
        assert!(!reads_clock_arm(&0xd53b_e001_u32.to_le_bytes()));
    }

    #[test]
    fn what_is_in_the_cpus_own_data_is_known_by_its_place_there() {
        let of = |bytes: &[u8]| in_the_cpus_own_data(bytes, END);
        // incl %gs:0x14dd0; decl %gs:0x10(%rip); addl $1, %gs:-8(%rip)
        assert_eq!(
            of(&[0x65, 0xff, 0x04, 0x25, 0xd0, 0x4d, 1, 0]),
            Some(0x1_4dd0)
        );
        assert_eq!(of(&[0x65, 0xff, 0x0d, 0x10, 0, 0, 0]), Some(END + 0x10));
        let add = [0x65, 0x83, 0x05, 0xf8, 0xff, 0xff, 0xff, 1];
        assert_eq!(of(&add), Some(END - 8));
        // xadd %eax, %gs:0x10(%rip); the same without the segment; incl %gs:(%rax)
        assert_eq!(
            of(&[0x65, 0x0f, 0xc1, 0x05, 0x10, 0, 0, 0]),
            Some(END + 0x10)
        );
        assert_eq!(of(&[0x0f, 0xc1, 0x05, 0x10, 0, 0, 0]), None);
        assert_eq!(of(&[0x65, 0xff, 0x00]), None);
    }

    #[test]
    fn instructions_of_a64_lead_where_the_manual_says() {
        const AT: u64 = 0xffff_8000_0801_0000;
        let of = |word: u32| {
            let last = of_arm(&word.to_le_bytes(), AT);
            (last.flow, last.target)
        };
        // bl +0x10; b -0x10; b.ne +0x20; cbz x0, +8; tbnz w0, #3, -4
        assert_eq!(of(0x9400_0004), (Flow::Call, AT + 0x10));
        assert_eq!(of(0x17ff_fffc), (Flow::Jump, AT - 0x10));
        assert_eq!(of(0x5400_0101), (Flow::On, AT + 0x20));
        assert_eq!(of(0xb400_0040), (Flow::On, AT + 8));
        assert_eq!(of(0x371f_ffe0), (Flow::On, AT - 4));
        // blr x1; br x1; ret; eret; svc #0; wfi; autiasp
        assert_eq!(of(0xd63f_0020).0, Flow::IndirectCall);
        assert_eq!(of(0xd61f_0020).0, Flow::IndirectJump);
        assert_eq!(of(0xd65f_03c0).0, Flow::Return);
        assert_eq!(of(0xd69f_03e0).0, Flow::ExceptionReturn);
        assert_eq!(of(0xd400_0001).0, Flow::SystemCall);
        assert_eq!(of(0xd503_207f).0, Flow::Halt);
        assert_eq!(of(0xd503_23bf), (Flow::On, 0));
    }
}
