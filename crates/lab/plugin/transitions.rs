//! Notes changes of the interrupt flag and the preemption count, and arrivals at watched addresses.
//!
//! It doesn't interpret them: `crates/lab/src/sections` does.
//!
//! The plugin interface gives no access to registers, so the new flags are read from the source of
//! the instruction that sets them: CLI and STI imply the value, POPF and IRET load it from memory,
//! and the emulator maps the guest's memory into this process. Interrupts, exceptions and system
//! calls enter at watched addresses, with interrupts off; programs run with interrupts on.

use super::{ADDRESS, Block, Flow, calloc, heard, send};
use core::ffi::{c_char, c_int, c_void};
use core::mem::size_of;
use core::ptr::null_mut;

unsafe extern "C" {
    fn qemu_plugin_register_vcpu_insn_exec_cb(
        instruction: *mut c_void,
        call: extern "C" fn(u32, *mut c_void),
        flags: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_register_vcpu_mem_cb(
        instruction: *mut c_void,
        call: extern "C" fn(u32, u32, u64, *mut c_void),
        flags: c_int,
        which: c_int,
        data: *mut c_void,
    );
    pub fn qemu_plugin_get_hwaddr(info: u32, address: u64) -> *mut c_void;
    pub fn qemu_plugin_hwaddr_phys_addr(place: *const c_void) -> u64;
    fn open(path: *const c_char, flags: c_int) -> c_int;
    fn close(file: c_int) -> c_int;
    fn _exit(code: c_int) -> !;
    fn read(file: c_int, into: *mut c_void, length: usize) -> isize;
}

/// Loads and stores (`enum qemu_plugin_mem_rw`). The value is read from memory after either, so
/// there is no need to distinguish them.
pub const ACCESSES: c_int = 3;

/// Tag of transitions on the line.
const TRANSITIONS: u64 = 4;
/// Transitions in one message.
const AT_ONCE: usize = 4096;
/// The most places that can be watched.
const MOST_PLACES: usize = 1024;

/// Kind of a note, in the upper 8 bits of the first word; the lower bits hold the number of
/// instructions executed so far.
const ARRIVED: u64 = 1;
const INTERRUPTS_OFF: u64 = 2;
const INTERRUPTS_ON: u64 = 3;
const COUNT_IS: u64 = 4;
const TO_USER: u64 = 5;
const TO_KERNEL: u64 = 6;
const HALTED: u64 = 7;
const RETURNED: u64 = 8;
const LOCKED_BY: u64 = 9;
const KIND: u32 = 56;

/// The interrupt flag among the flags.
const INTERRUPT_FLAG: u16 = 1 << 9;
/// Why not to preempt (include/linux/preempt.h): hard interrupts and non-maskable ones, softirqs,
/// anything, and, turned round, that the scheduler should be called.
const COUNT: u32 = 0x7fff_ffff;
const HARD: u32 = 0x00ff_0000;
const SOFT: u32 = 0x0000_ff00;
const NOT_NEEDED: u32 = 0x8000_0000;

/// A place that is watched.
#[derive(Clone, Copy)]
#[repr(C)]
struct Place {
    from: u64,
    to: u64,
    /// Why it is watched.
    why: u64,
}

/// Not watched.
pub const UNWATCHED: u64 = 0;
/// Arrivals are noted.
const ARRIVAL: u64 = 1;
/// Likewise; the CPU enters with interrupts off, other than by a jump or a call.
const ENTRY: u64 = 2;
/// A lock: the code that takes it is noted.
const LOCK: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Off,
    On,
    Popped,
    Returns,
    Counts,
}

/// An instruction that can change the state.
struct Site {
    what: What,
    at: u64,
    /// Its number in its block.
    index: u64,
}

/// Notes, and the current state of interrupts and preemption.
pub struct Noted {
    /// Whether to note anything.
    pub wanted: bool,
    /// Addresses from here on are the kernel's.
    kernel: u64,
    /// The count's place in the CPU's own data.
    count_at: u64,
    places: *mut Place,
    places_len: usize,
    buffer: *mut [u64; 2],
    filled: usize,
    off: bool,
    user: bool,
    class: u64,
    /// Address after the instruction that called the last lock; 0 once it is noted.
    locked_by: u64,
    /// The instruction being executed if its accesses matter, its accesses so far, and the address
    /// of the first. QEMU 7.2 also reports accesses of the instructions after it.
    under_way: *const Site,
    accesses: u32,
    first_at: u64,
    /// The guest's memory, and its length.
    memory: *const u8,
    memory_len: u64,
}

impl Noted {
    /// Before anything was ordered.
    pub const NOTHING: Self = Self {
        wanted: false,
        kernel: 0,
        count_at: 0,
        places: null_mut(),
        places_len: 0,
        buffer: null_mut(),
        filled: 0,
        off: false,
        user: false,
        class: 0,
        locked_by: 0,
        under_way: null_mut(),
        accesses: 0,
        first_at: 0,
        memory: null_mut(),
        memory_len: 0,
    };

    /// Reads the order: whether to note anything, where the kernel begins, the position of the
    /// count, and the watched ranges, each as first address, address after its end, and why.
    pub unsafe fn ordered(&mut self) -> bool {
        unsafe {
            let Some([wanted, kernel, count_at, places]) = heard::<4>() else {
                return false;
            };
            (self.wanted, self.kernel, self.count_at) = (wanted != 0, kernel, count_at);
            if places as usize > MOST_PLACES {
                return false;
            }
            self.places = calloc(MOST_PLACES, size_of::<Place>()).cast();
            self.buffer = calloc(AT_ONCE, size_of::<[u64; 2]>()).cast();
            if self.places.is_null() || self.buffer.is_null() {
                return false;
            }
            for index in 0..places as usize {
                let Some([from, to, why]) = heard::<3>() else {
                    return false;
                };
                *self.places.add(index) = Place { from, to, why };
            }
            self.places_len = places as usize;
            true
        }
    }

    unsafe fn place(&self, at: u64) -> Option<Place> {
        let places = unsafe { core::slice::from_raw_parts(self.places, self.places_len) };
        let found = places.iter().find(|place| (place.from..place.to).contains(&at));
        found.copied()
    }

    /// Why wakepath watches `at`.
    pub unsafe fn watches(&self, at: u64) -> u64 {
        if self.wanted { unsafe { self.place(at) }.map_or(UNWATCHED, |place| place.why) } else { UNWATCHED }
    }

    /// Registers callbacks for the instructions that can change the state.
    pub unsafe fn translated(
        &mut self,
        instruction: *mut c_void,
        bytes: &[u8],
        at: u64,
        index: usize,
    ) {
        if !self.wanted || at < self.kernel {
            return;
        }
        let end = at.wrapping_add(bytes.len() as u64);
        let what = match super::flow::without_prefixes(bytes) {
            [0xfa, ..] => What::Off,
            [0xfb, ..] => What::On,
            [0x9d, ..] => What::Popped,
            [0xcf, ..] => What::Returns,
            _ if super::flow::in_the_cpus_own_data(bytes, end) == Some(self.count_at) => What::Counts,
            _ => return,
        };
        unsafe {
            let site: *mut Site = calloc(1, size_of::<Site>()).cast();
            if site.is_null() {
                _exit(71);
            }
            let index = index as u64;
            site.write(Site { what, at, index });
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, says, 0, site.cast());
            if !matches!(what, What::Off | What::On) {
                qemu_plugin_register_vcpu_mem_cb(instruction, accesses, 0, ACCESSES, site.cast());
            }
        }
    }

    /// A block begins, `count` instructions having been executed; before it was `last`.
    pub unsafe fn arrived(&mut self, count: u64, last: *const Block, block: &Block) {
        unsafe {
            if let Some(last) = last.as_ref() {
                match last.flow {
                    Flow::ExceptionReturn => self.note(RETURNED, count, block.start),
                    Flow::Halt => self.note(HALTED, count, block.start),
                    _ => {}
                }
            }
            let user = block.start < self.kernel;
            if user != self.user {
                self.note(if user { TO_USER } else { TO_KERNEL }, count, block.start);
                // Programs run with interrupts on; every exit from one turns them off.
                (self.user, self.off) = (user, !user);
            }
            match block.watched {
                UNWATCHED => {}
                LOCK => self.locked_by = last.as_ref().map_or(0, |last| last.end),
                why => {
                    self.off |= why == ENTRY;
                    self.note(ARRIVED, count, block.start);
                }
            }
        }
    }

    unsafe fn note(&mut self, kind: u64, count: u64, value: u64) {
        // The buffer is emptied between blocks, long before its end.
        if self.filled < AT_ONCE {
            unsafe { *self.buffer.add(self.filled) = [kind << KIND | count, value] };
            self.filled += 1;
        } else {
            unsafe { _exit(73) };
        }
    }

    /// Whether the notes must be sent before the next block.
    pub fn is_full(&self) -> bool {
        // No block has more than 512 instructions, and each notes twice at most, an entry thrice.
        self.filled + 2048 > AT_ONCE
    }

    /// Sends the notes; returns whether there were any.
    pub unsafe fn send(&mut self) -> bool {
        if self.filled == 0 {
            return false;
        }
        let head = [TRANSITIONS, self.filled as u64];
        unsafe {
            send(head.as_ptr().cast(), size_of::<[u64; 2]>());
            send(self.buffer.cast(), self.filled * size_of::<[u64; 2]>());
        }
        self.filled = 0;
        true
    }

    unsafe fn interrupts(&mut self, off: bool, count: u64, at: u64) {
        if off != self.off {
            self.off = off;
            let kind = if off { INTERRUPTS_OFF } else { INTERRUPTS_ON };
            unsafe {
                self.note_lock(off, count);
                self.note(kind, count, at);
            }
        }
    }

    unsafe fn count_is(&mut self, value: u32, count: u64, at: u64) {
        let class = u64::from(value & COUNT != 0)
            | u64::from(value & HARD != 0) << 1
            | u64::from(value & SOFT != 0) << 2
            | u64::from(value & NOT_NEEDED == 0) << 3;
        if class != self.class {
            let begins = class & !self.class & 1 != 0;
            self.class = class;
            unsafe {
                self.note_lock(begins, count);
                self.note(COUNT_IS, count, class << 48 | at & ADDRESS);
            }
        }
    }

    /// Notes the code that took the last lock before the note of the lock's own effect.
    unsafe fn note_lock(&mut self, begins: bool, count: u64) {
        if begins && self.locked_by != 0 {
            unsafe { self.note(LOCKED_BY, count, self.locked_by) };
            self.locked_by = 0;
        }
    }

    /// Value in the guest's memory at the address that an instruction accessed.
    unsafe fn value(&mut self, info: u32, address: u64) -> u32 {
        unsafe {
            if self.memory.is_null() {
                (self.memory, self.memory_len) = guests_memory();
            }
            let place = qemu_plugin_get_hwaddr(info, address);
            if place.is_null() {
                _exit(74);
            }
            let at = qemu_plugin_hwaddr_phys_addr(place);
            if at + 4 > self.memory_len {
                _exit(75);
            }
            self.memory.add(at as usize).cast::<u32>().read_unaligned()
        }
    }
}

/// Instructions executed when that of this place is.
unsafe fn count_behind(site: &Site) -> u64 {
    unsafe {
        let state = &*core::ptr::addr_of!(super::STATE);
        let block = u64::from((*state.last).instructions);
        state.count - block + site.index + 1
    }
}

extern "C" fn says(_: u32, site: *mut c_void) {
    unsafe {
        let site = &*site.cast::<Site>();
        let count = count_behind(site);
        let noted = &mut (*core::ptr::addr_of_mut!(super::STATE)).noted;
        match site.what {
            What::Off => noted.interrupts(true, count, site.at),
            What::On => noted.interrupts(false, count, site.at),
            _ => (noted.under_way, noted.accesses) = (site, 0),
        }
    }
}

extern "C" fn accesses(_: u32, info: u32, address: u64, site: *mut c_void) {
    /// A return loads the instruction's address, the code segment, and then the flags.
    const FLAGS: u32 = 3;
    unsafe {
        let site = &*site.cast::<Site>();
        let count = count_behind(site);
        let noted = &mut (*core::ptr::addr_of_mut!(super::STATE)).noted;
        if noted.under_way != core::ptr::from_ref(site) {
            return;
        }
        noted.accesses += 1;
        if noted.accesses == 1 {
            noted.first_at = address;
        }
        let tells = match site.what {
            What::Returns => noted.accesses == FLAGS,
            // Read, and written back.
            What::Counts => noted.first_at == address,
            _ => noted.accesses == 1,
        };
        if !tells {
            return;
        }
        let value = noted.value(info, address);
        match site.what {
            What::Counts => noted.count_is(value, count, site.at),
            _ => noted.interrupts(value as u16 & INTERRUPT_FLAG == 0, count, site.at),
        }
    }
}

/// The guest's memory in the emulator's process, found by the name that wakepath gave it.
pub unsafe fn guests_memory() -> (*const u8, u64) {
    const ROOM: usize = 1 << 20;
    const NAME: &[u8] = b"memory-backend-memfd";
    unsafe {
        let text: *mut u8 = calloc(ROOM, 1).cast();
        let file = open(c"/proc/self/maps".as_ptr(), 0);
        if text.is_null() || file < 0 {
            _exit(72);
        }
        let mut length = 0;
        while length < ROOM {
            match read(file, text.add(length).cast(), ROOM - length) {
                ..=0 => break,
                more => length += more as usize,
            }
        }
        close(file);
        let text = core::slice::from_raw_parts(text, length);
        for line in text.split(|byte| *byte == b'\n') {
            if line.windows(NAME.len()).any(|part| part == NAME) {
                let mut ends = line.split(|byte| matches!(byte, b'-' | b' ')).map(hexadecimal);
                if let (Some(from), Some(to)) = (ends.next(), ends.next()) {
                    return (from as *const u8, to - from);
                }
            }
        }
        _exit(72)
    }
}

fn hexadecimal(digits: &[u8]) -> u64 {
    let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0);
    digits.iter().fold(0, |value, byte| value << 4 | u64::from(digit(*byte)))
}
