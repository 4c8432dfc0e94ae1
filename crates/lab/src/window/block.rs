//! A block of instructions as the emulator executed it.
//!
//! Branches enter it only at its start and leave it only at its end; exceptions can leave it
//! earlier.

/// Control flow after a block's last instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// To the next instruction, or to a branch's target.
    On,
    /// Always to its target.
    Jump,
    /// A call, which returns to the next instruction.
    Call,
    /// Back from a function.
    Return,
    /// Back from an interrupt, an exception or a system call.
    ExceptionReturn,
    /// Into the kernel.
    SystemCall,
    /// Nowhere until an interrupt.
    Halt,
    /// To an address from a register or memory.
    IndirectJump,
    /// As [`Flow::Call`], to an address from a register or memory.
    IndirectCall,
}

impl Flow {
    /// By the number that the emulator's plugin gives it.
    pub fn of_number(number: u32) -> Option<Self> {
        const ALL: [Flow; 9] = [
            Flow::On,
            Flow::Jump,
            Flow::Call,
            Flow::Return,
            Flow::ExceptionReturn,
            Flow::SystemCall,
            Flow::Halt,
            Flow::IndirectJump,
            Flow::IndirectCall,
        ];
        ALL.get(usize::try_from(number).ok()?).copied()
    }
}

/// A block that was executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    /// Address of its first instruction.
    pub start: u64,
    /// Address after its last one.
    pub end: u64,
    /// The target of its last instruction, if that is a direct branch; otherwise 0.
    pub target: u64,
    /// Instructions of it that were executed.
    pub executed: u32,
    /// Control flow after its last instruction.
    pub flow: Flow,
}

impl Block {
    /// Whether an address is inside, after its first instruction.
    pub(crate) fn has_inside(&self, address: u64) -> bool {
        self.start < address && address < self.end
    }
}
