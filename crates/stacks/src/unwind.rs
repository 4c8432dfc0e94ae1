//! The return addresses of a copied stack, by each file's own tables, or by frame pointers if it has none.

use crate::module::Module;
use std::ops::Range;
use std::sync::Arc;
use wakepath_probe::blocking::{Registers, Stack};

/// Frames of a stack at most.
const DEEPEST: usize = 64;

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(crate) use by_kernel::Unwinder;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use native::Unwinder;

/// A word of the copied stack.
fn word(memory: &[u8], stack_pointer: u64, address: u64) -> Result<u64, ()> {
    let at = address.checked_sub(stack_pointer).ok_or(())?;
    let at = usize::try_from(at).map_err(drop)?;
    let bytes = memory.get(at..).and_then(|rest| rest.first_chunk());
    bytes.map(|bytes| u64::from_le_bytes(*bytes)).ok_or(())
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
mod native {
    use super::*;
    use framehop::{
        CacheNative, ExplicitModuleSectionInfo, FrameAddress, MayAllocateDuringUnwind,
        UnwindRegsNative, Unwinder as _, UnwinderNative,
    };

    /// Unwinds stacks of one process.
    pub(crate) struct Unwinder {
        modules: UnwinderNative<Arc<[u8]>, MayAllocateDuringUnwind>,
        cache: CacheNative<MayAllocateDuringUnwind>,
    }

    impl Unwinder {
        pub(crate) fn new() -> Self {
            Self {
                modules: UnwinderNative::new(),
                cache: CacheNative::new(),
            }
        }

        /// Adds a module at these addresses.
        pub(crate) fn add(&mut self, module: &Module, addresses: Range<u64>, bias: u64) {
            let mut info = ExplicitModuleSectionInfo::default();
            if let Some((at, bytes)) = &module.unwind.frames {
                info.eh_frame_svma = Some(at.clone());
                info.eh_frame = Some(Arc::clone(bytes));
            }
            if let Some((at, bytes)) = &module.unwind.header {
                info.eh_frame_hdr_svma = Some(at.clone());
                info.eh_frame_hdr = Some(Arc::clone(bytes));
            }
            let new = framehop::Module::new(String::new(), addresses, bias, info);
            self.modules.add_module(new);
        }

        /// Addresses within each function of a stack, the innermost first.
        pub(crate) fn addresses(&mut self, stack: &Stack<'_>) -> Vec<u64> {
            let Some(registers) = stack.registers else {
                return Vec::new();
            };
            let mut read = |address| word(stack.memory, registers.stack, address);
            let mut addresses = Vec::new();
            let mut at = FrameAddress::from_instruction_pointer(registers.instruction);
            let mut held = self.held(&registers);
            loop {
                addresses.push(at.address_for_lookup());
                if addresses.len() == DEEPEST {
                    break;
                }
                // Where the copy ends, or what a file tells can't be, the rest is unknown.
                let next = self
                    .modules
                    .unwind_frame(at, &mut held, &mut self.cache, &mut read);
                let Ok(Some(caller)) = next else { break };
                let Some(caller) = FrameAddress::from_return_address(caller) else {
                    break;
                };
                at = caller;
            }
            addresses
        }

        #[cfg(target_arch = "x86_64")]
        fn held(&self, of: &Registers) -> UnwindRegsNative {
            UnwindRegsNative::new(of.instruction, of.stack, of.frame)
        }

        #[cfg(target_arch = "aarch64")]
        fn held(&self, of: &Registers) -> UnwindRegsNative {
            let highest = self.modules.max_known_code_address();
            let mask = framehop::aarch64::PtrAuthMask::from_max_known_address(highest);
            UnwindRegsNative::new_with_ptr_auth_mask(mask, of.link, of.stack, of.frame)
        }
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod by_kernel {
    use super::*;

    /// The kernel has followed the frame pointers.
    pub(crate) struct Unwinder;

    impl Unwinder {
        pub(crate) fn new() -> Self {
            Self
        }

        pub(crate) fn add(&mut self, _: &Module, _: Range<u64>, _: u64) {}

        pub(crate) fn addresses(&mut self, stack: &Stack<'_>) -> Vec<u64> {
            let callers = stack.user.iter().skip(1).map(|&of| of.saturating_sub(1));
            let all = stack.user.first().copied().into_iter().chain(callers);
            all.take(DEEPEST).collect()
        }
    }
}
