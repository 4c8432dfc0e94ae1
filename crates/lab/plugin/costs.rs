//! Applies the cost model (`cost.rs`) to executed blocks and memory accesses.
//!
//! Accesses count by their offset in the guest's memory. Does nothing unless wakepath wants costs.

use super::cost::{CACHES, Cache, Model, Parameters, Spent, WORDS, class_of_x86};
use super::transitions::{
    ACCESSES, guests_memory, qemu_plugin_get_hwaddr, qemu_plugin_hwaddr_phys_addr,
    qemu_plugin_register_vcpu_mem_cb,
};
use super::{Block, KEPT, STATE, calloc, flow, heard, send};
use core::ffi::{c_int, c_void};
use core::mem::size_of;
use core::ptr::null_mut;

unsafe extern "C" {
    fn qemu_plugin_insn_haddr(instruction: *mut c_void) -> *const u8;
    fn qemu_plugin_hwaddr_is_io(place: *const c_void) -> bool;
    fn qemu_plugin_mem_size_shift(info: u32) -> u32;
    fn qemu_plugin_mem_is_store(info: u32) -> bool;
    fn _exit(code: c_int) -> !;
}

/// Tag of a cost on the line.
const COST: u64 = 5;

/// Cost of the instructions so far, if wanted.
pub struct Costs {
    model: Option<Model<'static>>,
    parameters: Option<Parameters>,
    /// Total cost before each entry that is kept.
    before: *mut u64,
    memory: *const u8,
    memory_len: u64,
}

impl Costs {
    /// None are wanted.
    pub const NONE: Self = Self {
        model: None,
        parameters: None,
        before: null_mut(),
        memory: null_mut(),
        memory_len: 0,
    };

    /// Reads whether costs are wanted, and the core's figures.
    pub unsafe fn ordered(&mut self) -> bool {
        unsafe {
            match heard::<1>() {
                Some([0]) => return true,
                Some([1]) => {}
                _ => return false,
            }
            let Some(words) = heard::<WORDS>() else {
                return false;
            };
            let parameters = Parameters::of_words(&words);
            let cache = |index: usize| {
                let size = parameters.caches[index];
                let lines: *mut u64 = calloc(size.lines as usize, size_of::<u64>()).cast();
                if lines.is_null() {
                    _exit(71);
                }
                let lines = core::slice::from_raw_parts_mut(lines, size.lines as usize);
                Cache::empty(lines, size.ways as usize)
            };
            let caches: [Cache<'static>; CACHES] = [cache(0), cache(1), cache(2), cache(3)];
            self.before = calloc(KEPT, size_of::<u64>()).cast();
            self.model = Some(Model::new(parameters, caches));
            self.parameters = Some(parameters);
            !self.before.is_null()
        }
    }

    /// Space for the costs of a block's instructions, or null if costs aren't counted.
    pub unsafe fn room(&self, count: usize) -> *mut u32 {
        if self.model.is_none() {
            return null_mut();
        }
        let room: *mut u32 = unsafe { calloc(count + 1, size_of::<u32>()) }.cast();
        if room.is_null() { unsafe { _exit(71) } } else { room }
    }

    /// Cost of an instruction without its accesses; registers a callback for its memory accesses.
    pub unsafe fn translated(&self, instruction: *mut c_void, bytes: &[u8]) -> u32 {
        let Some(parameters) = &self.parameters else {
            return 0;
        };
        let string = flow::repeats_x86(bytes);
        unsafe {
            let is_string = usize::from(string) as *mut c_void;
            qemu_plugin_register_vcpu_mem_cb(instruction, accesses, 0, ACCESSES, is_string);
        }
        if string { 0 } else { parameters.of_class(class_of_x86(bytes)) as u32 }
    }

    /// Offset of an instruction in the guest's memory; instructions elsewhere (firmware) use their
    /// own address.
    pub unsafe fn lies_at(&mut self, instruction: *mut c_void, address: u64) -> u64 {
        if self.model.is_none() {
            return 0;
        }
        unsafe {
            if self.memory.is_null() {
                (self.memory, self.memory_len) = guests_memory();
            }
            let there = qemu_plugin_insn_haddr(instruction) as u64;
            match there.wrapping_sub(self.memory as u64) {
                at if at < self.memory_len => at,
                _ => address,
            }
        }
    }

    /// A block is executed, whose entry has that number.
    pub unsafe fn executes(&mut self, entry: u64, block: &Block) {
        let Some(model) = &mut self.model else {
            return;
        };
        unsafe {
            *self.before.add(entry as usize & (KEPT - 1)) = model.spent.total();
            let own = *block.costs.add(usize::from(block.instructions));
            let length = block.end.wrapping_sub(block.start) & 0xffff;
            let again = block.instructions == 1 && block.repeats;
            model.executes(block.lies_at, block.lies_at + length, own.into(), !again);
        }
    }

    /// Corrects the cost of a block that was left before the instruction `executed`.
    pub unsafe fn takes_back(&mut self, block: &Block, executed: u16) {
        if let Some(model) = &mut self.model {
            let all = unsafe { *block.costs.add(usize::from(block.instructions)) };
            let some = unsafe { *block.costs.add(usize::from(executed)) };
            model.takes_back((all - some).into());
        }
    }

    /// Sends the cost so far.
    pub unsafe fn send(&self) {
        if let Some(model) = &self.model {
            let Spent {
                instructions,
                code,
                data,
                lines,
            } = model.spent;
            let words = [instructions, code, data, lines];
            unsafe { send(words.as_ptr().cast(), size_of::<[u64; 4]>()) };
        }
    }

    /// Sends the cost before an entry, one of `entries`.
    pub unsafe fn send_at(&self, entry: u64, entries: u64) {
        let before = match &self.model {
            Some(model) if entry == entries => model.spent.total(),
            Some(_) => unsafe { *self.before.add(entry as usize & (KEPT - 1)) },
            None => 0,
        };
        let words = [COST, before];
        unsafe { send(words.as_ptr().cast(), size_of::<[u64; 2]>()) };
    }
}

extern "C" fn accesses(_: u32, info: u32, address: u64, is_string: *mut c_void) {
    unsafe {
        let place = qemu_plugin_get_hwaddr(info, address);
        // Devices aren't memory, and no cache holds them.
        if place.is_null() || qemu_plugin_hwaddr_is_io(place) {
            return;
        }
        let at = qemu_plugin_hwaddr_phys_addr(place);
        let costs = &mut (*core::ptr::addr_of_mut!(STATE)).costs;
        if let Some(model) = &mut costs.model {
            let bytes = 1 << qemu_plugin_mem_size_shift(info);
            model.accesses(at, bytes, qemu_plugin_mem_is_store(info), !is_string.is_null());
        }
    }
}
