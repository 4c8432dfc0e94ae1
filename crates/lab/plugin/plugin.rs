//! Emulator plugin: records the blocks a guest executes and sends those of a window.
//!
//! It makes no decisions. At each reading of the clock by the guest's user code (a mark) it asks
//! wakepath, which answers with the blocks it wants. `build.rs` compiles the plugin without any
//! library, Rust's included, and wakepath embeds it.
//!
//! No time passes in the guest while the plugin waits: the guest's clock counts its instructions,
//! and none is executed here. The plugin calls foreign functions and keeps one state for one CPU,
//! so all of it is unsafe.
#![no_std]
#![allow(clippy::missing_safety_doc)]

mod cost;
mod costs;
mod flow;
mod transitions;

use core::ffi::{c_char, c_int, c_void};
use core::mem::size_of;
use core::ptr::{addr_of_mut, null_mut};
use costs::Costs;
use flow::{Flow, Last};
use transitions::Noted;

/// As much of `qemu_info_t` as is read.
#[repr(C)]
pub struct Info {
    target_name: *const c_char,
    version_min: c_int,
    version_now: c_int,
    system_emulation: bool,
    cpus: c_int,
    cpus_at_most: c_int,
}

// qemu/qemu-plugin.h and the C library that the emulator has loaded already.
unsafe extern "C" {
    fn qemu_plugin_register_vcpu_tb_trans_cb(id: u64, call: extern "C" fn(u64, *mut c_void));
    fn qemu_plugin_register_vcpu_tb_exec_cb(
        block: *mut c_void,
        call: extern "C" fn(u32, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    fn qemu_plugin_register_atexit_cb(
        id: u64,
        call: extern "C" fn(u64, *mut c_void),
        data: *mut c_void,
    );
    fn qemu_plugin_tb_n_insns(block: *mut c_void) -> usize;
    fn qemu_plugin_tb_get_insn(block: *mut c_void, index: usize) -> *mut c_void;
    fn qemu_plugin_insn_vaddr(instruction: *mut c_void) -> u64;
    fn qemu_plugin_insn_size(instruction: *mut c_void) -> usize;
    fn qemu_plugin_insn_data(instruction: *mut c_void, into: *mut u8, length: usize) -> usize;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn read(file: c_int, into: *mut c_void, length: usize) -> isize;
    fn write(file: c_int, from: *const c_void, length: usize) -> isize;
    fn _exit(code: c_int) -> !;
}

/// The version of the interface: 1 up to QEMU 8.2, 2 from 9.0 on (later versions are the same in
/// the parts used here, except for one, below).
#[cfg(not(since_9))]
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 1;
#[cfg(since_9)]
#[unsafe(no_mangle)]
pub static qemu_plugin_version: c_int = 2;

/// From this version of the interface on an instruction's bytes are copied, before that pointed at.
const BYTES_ARE_COPIED: c_int = 3;
/// The emulator's standard input is the line to wakepath.
const LINE: c_int = 0;
/// Number of executed blocks to keep.
const KEPT: usize = 1 << 23;
/// Address bits of an entry; the upper 16 hold a count.
const ADDRESS: u64 = (1 << 48) - 1;
/// Addresses from here on are the kernel's, on both architectures.
const KERNEL: u64 = 1 << 63;

const MARK: u64 = 1;
const BLOCKS: u64 = 2;
const WANTED: u64 = 1;
const COST_WANTED: u64 = 2;
/// Marks a request for blocks up to now.
const UNTIL_NOW: u64 = u64::MAX;

/// A block of instructions as it was translated; never freed, since entries point at it.
struct Block {
    start: u64,
    /// The address after its last instruction.
    end: u64,
    /// The target of its last instruction, if known; otherwise 0.
    target: u64,
    /// Address of the instruction that reads the clock in user code; otherwise 0.
    clock: u64,
    instructions: u16,
    flow: Flow,
    /// Whether its last instruction is repeated: each iteration is then a separate block.
    repeats: bool,
    /// Why wakepath watches the block's first address, if it does.
    watched: u64,
    /// Offset of each instruction from `start`.
    offsets: *mut u16,
    /// Offset of its first instruction in the guest's memory.
    lies_at: u64,
    /// Cost of the instructions before each one, and of all of them, without accesses; null if
    /// costs aren't wanted.
    costs: *mut u32,
}

/// A block as sent; `crates/lab/src/window/line.rs` reads it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Executed {
    start: u64,
    end: u64,
    target: u64,
    executed: u32,
    flow: u32,
}

struct State {
    bytes_are_copied: bool,
    arm: bool,
    asking: bool,
    /// Entries written so far; the ring holds the last of them.
    entries: u64,
    ring: *mut u64,
    /// Instructions executed.
    count: u64,
    /// Times that the CPU halted, and the count when it last did.
    halts: u64,
    count_at_halt: u64,
    last: *mut Block,
    noted: Noted,
    costs: Costs,
}

static mut STATE: State = State {
    bytes_are_copied: false,
    arm: false,
    asking: true,
    entries: 0,
    ring: null_mut(),
    count: 0,
    halts: 0,
    count_at_halt: 0,
    last: null_mut(),
    noted: Noted::NOTHING,
    costs: Costs::NONE,
};

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    unsafe { _exit(70) }
}

/// The compiled parts of Rust's `core` name it; nothing is ever unwound.
#[unsafe(no_mangle)]
pub extern "C" fn rust_eh_personality() {}

/// Entry point that the emulator calls. The only argument: whether the guest is an Arm.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    info: *const Info,
    _: c_int,
    _: *mut *mut c_char,
) -> c_int {
    unsafe {
        let state = &mut *addr_of_mut!(STATE);
        state.bytes_are_copied = (*info).version_now >= BYTES_ARE_COPIED;
        // Possible guests are "aarch64" and "x86_64".
        state.arm = *(*info).target_name == b'a' as c_char;
        state.ring = calloc(KEPT, size_of::<u64>()).cast();
        if state.ring.is_null() || !(*info).system_emulation || (*info).cpus != 1 {
            return 1;
        }
        if !state.noted.ordered() || !state.costs.ordered() {
            return 1;
        }
        qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
        qemu_plugin_register_atexit_cb(id, ended, null_mut());
    }
    0
}

/// Sends the remaining transitions.
extern "C" fn ended(_: u64, _: *mut c_void) {
    unsafe { tell(&mut *addr_of_mut!(STATE)) }
}

extern "C" fn translated(_: u64, block: *mut c_void) {
    unsafe {
        let state = &mut *addr_of_mut!(STATE);
        let count = qemu_plugin_tb_n_insns(block);
        let kept: *mut Block = calloc(1, size_of::<Block>()).cast();
        let offsets: *mut u16 = calloc(count, size_of::<u16>()).cast();
        let costs = state.costs.room(count);
        if kept.is_null() || offsets.is_null() || count == 0 {
            _exit(71);
        }
        let start = qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, 0));
        let (mut clock, mut end, mut last, mut repeats) = (0, start, Last::default(), false);
        for index in 0..count {
            let instruction = qemu_plugin_tb_get_insn(block, index);
            let at = qemu_plugin_insn_vaddr(instruction);
            let size = qemu_plugin_insn_size(instruction);
            *offsets.add(index) = at.wrapping_sub(start) as u16;
            end = at + size as u64;
            let mut bytes = [0; 16];
            let length = size.min(bytes.len());
            let answer = qemu_plugin_insn_data(instruction, bytes.as_mut_ptr(), length);
            if !state.bytes_are_copied {
                core::ptr::copy_nonoverlapping(answer as *const u8, bytes.as_mut_ptr(), length);
            }
            let bytes = &bytes[..length];
            let reads_clock = if state.arm { flow::reads_clock_arm(bytes) } else { flow::reads_clock_x86(bytes) };
            if reads_clock && at < KERNEL {
                clock = at;
            }
            if !state.arm {
                state.noted.translated(instruction, bytes, at, index);
            }
            if !costs.is_null() {
                let own = state.costs.translated(instruction, bytes);
                *costs.add(index + 1) = *costs.add(index) + own;
            }
            if index + 1 == count {
                repeats = !state.arm && flow::repeats_x86(bytes);
                last = if state.arm { flow::of_arm(bytes, at) } else { flow::of_x86(bytes, end) };
            }
        }
        kept.write(Block {
            start,
            end,
            target: last.target,
            clock,
            instructions: count as u16,
            flow: last.flow,
            repeats,
            watched: state.noted.watches(start),
            offsets,
            lies_at: state.costs.lies_at(qemu_plugin_tb_get_insn(block, 0), start),
            costs,
        });
        // 0: the callback reads no register and writes none.
        qemu_plugin_register_vcpu_tb_exec_cb(block, executed, 0, kept.cast());
    }
}

extern "C" fn executed(_: u32, block: *mut c_void) {
    unsafe {
        let state = &mut *addr_of_mut!(STATE);
        let block: *mut Block = block.cast();
        settle(state, &*block);
        if state.noted.wanted {
            state.noted.arrived(state.count, state.last, &*block);
            if state.noted.is_full() {
                tell(state);
            }
        }
        let instructions = (*block).instructions;
        state.costs.executes(state.entries, &*block);
        let entry = block as u64 & ADDRESS | u64::from(instructions) << 48;
        *state.ring.add(state.entries as usize & (KEPT - 1)) = entry;
        state.entries += 1;
        state.count += u64::from(instructions);
        state.last = block;
        if (*block).flow == Flow::Halt {
            state.halts += 1;
            state.count_at_halt = state.count;
        }
        if (*block).clock != 0 && state.asking {
            ask(state, (*block).clock);
        }
    }
}

/// Accounts for a previous block that was left in its middle: the emulator executes an instruction
/// that accesses a device alone, and the rest of its block as another block.
unsafe fn settle(state: &mut State, next: &Block) {
    unsafe {
        if state.last.is_null() {
            return;
        }
        let last = &*state.last;
        if next.start <= last.start || next.start >= last.end || next.start == last.target {
            return;
        }
        let inside = (next.start - last.start) as u16;
        for index in 0..last.instructions - u16::from(last.repeats) {
            if *last.offsets.add(usize::from(index)) == inside {
                let not_executed = u64::from(last.instructions - index);
                state.count -= not_executed;
                state.costs.takes_back(last, index);
                let entry = state.ring.add((state.entries - 1) as usize & (KEPT - 1));
                *entry = *entry & ADDRESS | u64::from(index) << 48;
                return;
            }
        }
    }
}

unsafe fn ask(state: &mut State, at: u64) {
    unsafe {
        tell(state);
        let mark = [MARK, state.count, state.halts, state.count_at_halt, at];
        send(mark.as_ptr().cast(), size_of::<[u64; 5]>());
        state.costs.send();
        answered(state);
    }
}

/// Sends the noted transitions; wakepath can request their blocks while the ring still holds them.
unsafe fn tell(state: &mut State) {
    unsafe {
        if state.asking && state.noted.send() {
            answered(state);
        }
    }
}

/// Sends the blocks that wakepath requests, until it requests no more.
unsafe fn answered(state: &mut State) {
    unsafe {
        loop {
            match heard::<3>() {
                Some([WANTED, since, until]) => hand_out(state, since, until),
                Some([COST_WANTED, at, _]) => {
                    let entry = entry_of(state, at);
                    state.costs.send_at(entry, state.entries);
                }
                _ => return,
            }
        }
    }
}

/// Reads `COUNT` words from wakepath. If wakepath is gone: none, and nothing is asked again.
unsafe fn heard<const COUNT: usize>() -> Option<[u64; COUNT]> {
    let mut words = [0_u64; COUNT];
    let length = COUNT * size_of::<u64>();
    let mut got = 0;
    while got < length {
        let into = unsafe { words.as_mut_ptr().cast::<u8>().add(got) };
        match unsafe { read(LINE, into.cast(), length - got) } {
            ..=0 => {
                unsafe { (*addr_of_mut!(STATE)).asking = false };
                return None;
            }
            more => got += more as usize,
        }
    }
    Some(words)
}

/// The number of the entry in which an instruction of that number is, or of the oldest that is kept.
unsafe fn entry_of(state: &State, at: u64) -> u64 {
    let oldest = state.entries.saturating_sub(KEPT as u64);
    let (mut entry, mut count) = (state.entries, state.count);
    while entry > oldest && count > at {
        entry -= 1;
        count -= unsafe { *state.ring.add(entry as usize & (KEPT - 1)) } >> 48;
    }
    entry
}

/// The blocks from the instruction of one number to that of another, and the number at which the first
/// of them began.
unsafe fn hand_out(state: &State, since: u64, until: u64) {
    unsafe {
        let oldest = state.entries.saturating_sub(KEPT as u64);
        let entry = |number: u64| *state.ring.add(number as usize & (KEPT - 1));
        let (mut first, mut count, mut end) = (state.entries, state.count, state.entries);
        while first > oldest && count > since {
            first -= 1;
            count -= entry(first) >> 48;
            if until != UNTIL_NOW && count >= until {
                end = first;
            }
        }
        let head = [BLOCKS, end - first, count];
        send(head.as_ptr().cast(), size_of::<[u64; 3]>());
        const AT_ONCE: usize = 512;
        let nothing = Executed {
            start: 0,
            end: 0,
            target: 0,
            executed: 0,
            flow: 0,
        };
        let mut some = [nothing; AT_ONCE];
        let mut filled = 0;
        while first < end {
            let block = &*((entry(first) & ADDRESS) as *const Block);
            some[filled] = Executed {
                start: block.start,
                end: block.end,
                target: block.target,
                executed: (entry(first) >> 48) as u32,
                flow: block.flow as u32,
            };
            first += 1;
            filled += 1;
            if filled == AT_ONCE || first == end {
                send(some.as_ptr().cast(), filled * size_of::<Executed>());
                filled = 0;
            }
        }
    }
}

unsafe fn send(mut from: *const u8, mut length: usize) {
    while length > 0 {
        match unsafe { write(LINE, from.cast(), length) } {
            // Nobody listens; the reading that follows finds that out.
            ..=0 => return,
            written => {
                from = unsafe { from.add(written as usize) };
                length -= written as usize;
            }
        }
    }
}
