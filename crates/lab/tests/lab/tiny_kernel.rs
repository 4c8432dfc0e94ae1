//! The emulator's plugin against a kernel of a few hundred bytes, assembled here.
//!
//! Its sections have lengths known to the instruction. It boots in a fraction of a second.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use wakepath_lab::sections::{Course, Kind, Preemption, Role, Stretch, Transition};
use wakepath_lab::window::{Counted, Mark};
use wakepath_lab::{Listener, Noting, Plugin, Since, attend};

wakepath_test_program::tests![sections_of_known_length_are_found_to_the_instruction];

pub const EMULATOR: &str = "qemu-system-x86_64";
/// Addresses of the kernel, its preemption count, and its stack's end.
const LOADED: u32 = 0x10_0000;
const COUNT: u32 = 0x18_0000;
pub const STACK: u32 = 0x20_0000;
const MEMORY_MIB: u32 = 64;

/// Machine code of 32-bit x86, from Intel's manual.
#[derive(Default)]
pub struct Code(pub Vec<u8>);

impl Code {
    pub fn bytes(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn word(&mut self, word: u32) -> &mut Self {
        self.bytes(&word.to_le_bytes())
    }

    pub fn nops(&mut self, count: usize) -> &mut Self {
        self.0.extend(std::iter::repeat_n(0x90, count));
        self
    }

    pub fn cli(&mut self) -> &mut Self {
        self.bytes(&[0xfa])
    }

    fn sti(&mut self) -> &mut Self {
        self.bytes(&[0xfb])
    }

    fn pushf(&mut self) -> &mut Self {
        self.bytes(&[0x9c])
    }

    fn popf(&mut self) -> &mut Self {
        self.bytes(&[0x9d])
    }

    /// incl %gs:COUNT, by a scaled index without index and base.
    fn count_up(&mut self) -> &mut Self {
        self.bytes(&[0x65, 0xff, 0x04, 0x25]).word(COUNT)
    }

    /// decl %gs:COUNT.
    fn count_down(&mut self) -> &mut Self {
        self.bytes(&[0x65, 0xff, 0x0c, 0x25]).word(COUNT)
    }

    /// mov $STACK, %esp; mov %ds, %ax; mov %ax, %gs; masks all interrupts of both controllers.
    pub fn begin(&mut self) -> &mut Self {
        self.bytes(&[0xbc]).word(STACK).bytes(&[
            0x66, 0x8c, 0xd8, 0x8e, 0xe8, 0xb0, 0xff, 0xe6, 0x21, 0xe6, 0xa1,
        ])
    }

    /// An interrupt table without entries, and an interrupt: the emulator ends.
    pub fn end(&mut self) -> &mut Self {
        self.bytes(&[0x0f, 0x01, 0x1d])
            .word(COUNT + 16)
            .bytes(&[0xcc])
    }

    /// Returns from an exception to the next instruction, with interrupts on: five instructions.
    fn return_with_interrupts(&mut self) -> &mut Self {
        // pushf; orl $0x200, (%esp); push %cs; push $behind; iret
        self.pushf()
            .bytes(&[0x81, 0x0c, 0x24])
            .word(0x200)
            .bytes(&[0x0e, 0x68]);
        let behind = LOADED + self.0.len() as u32 + 5;
        self.word(behind).bytes(&[0xcf])
    }
}

/// The kernel's code, and the lengths of its sections.
fn kernel() -> (Vec<u8>, Vec<u64>) {
    let mut code = Code::default();
    code.begin();
    // A known initial state, whatever the firmware left.
    code.cli().nops(1).sti().nops(4);
    code.cli().nops(100).sti().nops(4);
    code.pushf().cli().nops(200).popf().nops(4);
    code.count_up().nops(300).count_down().nops(4);
    code.cli().nops(400).return_with_interrupts().nops(4);
    // Preemption off, in it interrupts off: one section.
    code.count_up()
        .nops(50)
        .cli()
        .nops(60)
        .sti()
        .nops(70)
        .count_down()
        .nops(4);
    // Overlapping: interrupts are enabled before the count decreases.
    code.cli()
        .nops(80)
        .count_up()
        .nops(90)
        .sti()
        .nops(100)
        .count_down()
        .nops(4);
    // Twice up, twice down.
    code.count_up()
        .nops(10)
        .count_up()
        .nops(10)
        .count_down()
        .nops(10)
        .count_down()
        .nops(4);
    // mov $1000, %ecx; dec %ecx; jne to it.
    code.cli()
        .bytes(&[0xb9])
        .word(1000)
        .bytes(&[0x49, 0x75, 0xfd])
        .sti()
        .nops(4);
    // A string instruction counts each time that it repeats: mov $STACK, %edi; mov $64, %ecx; rep stosb.
    code.cli()
        .bytes(&[0xbf])
        .word(STACK)
        .bytes(&[0xb9])
        .word(64)
        .bytes(&[0xf3, 0xaa])
        .sti();
    // POPF that leaves them off ends nothing.
    code.nops(4)
        .cli()
        .pushf()
        .nops(20)
        .popf()
        .nops(20)
        .sti()
        .nops(4)
        .cli();
    code.end();
    let lengths = vec![
        100 + 1,
        200 + 1,
        300 + 1,
        400 + 5,
        50 + 1 + 60 + 1 + 70 + 1,
        80 + 1 + 90 + 1 + 100 + 1,
        10 + 1 + 10 + 1 + 10 + 1,
        1 + 2 * 1000 + 1,
        // Once more, to see that it has ended.
        2 + 64 + 1 + 1,
        1 + 20 + 1 + 20 + 1,
    ];
    (code.0, lengths)
}

/// A file that the emulator enters directly, in 32-bit mode (Xen's PVH: the note names the entry).
fn elf(code: &[u8]) -> Vec<u8> {
    const AT: u32 = 0x1000;
    const NOTE_AT: u32 = 0x80;
    let mut file = vec![0x7f, b'E', b'L', b'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let mut words = |words: &[u32]| {
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    };
    // An executable of i386, version 1; entry, program headers, no sections, no flags.
    words(&[2 | 3 << 16, 1, LOADED, 52, 0, 0, 52 | 32 << 16, 2, 0]);
    let length = code.len() as u32;
    words(&[1, AT, LOADED, LOADED, length, length, 5, 0x1000]);
    words(&[4, NOTE_AT, 0, 0, 24, 24, 4, 4]);
    file.resize(NOTE_AT as usize, 0);
    let note = [4_u32, 4, 18, u32::from_le_bytes(*b"Xen\0"), LOADED, 0];
    file.extend(note.iter().flat_map(|word| word.to_le_bytes()));
    file.resize(AT as usize, 0);
    file.extend_from_slice(code);
    file
}

#[derive(Default)]
struct Heard(Vec<Transition>);

impl Listener for Heard {
    fn marked(&mut self, _: Mark) -> Option<Since> {
        None
    }

    fn changed(&mut self, transitions: &[Transition]) -> Option<Since> {
        self.0.extend(transitions);
        None
    }

    fn executed(&mut self, _: Counted) -> Option<Since> {
        None
    }
}

/// Runs a tiny kernel and passes its notes to `listener`. Skipped without an emulator.
pub fn emulated(code: &[u8], noting: &Noting, listener: &mut impl Listener) {
    let Ok(version) = Command::new(EMULATOR).arg("--version").output() else {
        wakepath_test_program::not_run(format!("{EMULATOR} is not installed"));
    };
    let version = String::from_utf8_lossy(&version.stdout).into_owned();
    let version = version.split_once("version ").unwrap().1;
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("tiny.elf"), elf(code)).unwrap();
    let plugin = Plugin::place(&format!("QEMU {version}"), place.path()).unwrap();
    let (ours, theirs) = UnixStream::pair().unwrap();
    let memory = MEMORY_MIB.to_string();
    let mut emulator = Command::new(EMULATOR)
        .current_dir(place.path())
        .args([
            "-nodefaults",
            "-no-user-config",
            "-no-reboot",
            "-display",
            "none",
        ])
        .args(["-accel", "tcg", "-icount", "shift=0,sleep=off"])
        .args(["-m", &memory, "-kernel", "tiny.elf"])
        .args(Plugin::arguments())
        .args(Plugin::memory_arguments(MEMORY_MIB))
        .stdin(Stdio::from(OwnedFd::from(theirs)))
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    attend(ours, noting, listener).unwrap();
    assert!(emulator.wait().unwrap().success());
    drop(plugin);
}

fn sections_of_known_length_are_found_to_the_instruction() {
    let (code, lengths) = kernel();
    let noting = Noting {
        transitions: true,
        kernel_from: 0,
        count_at: COUNT.into(),
        ..Noting::default()
    };
    let mut heard = Heard::default();
    emulated(&code, &noting, &mut heard);
    let mut course = Course::new(Preemption::Full);
    let mut told = Vec::new();
    for transition in heard.0 {
        course.push(transition, |_| Role::Other, &mut told);
    }
    let own = u64::from(LOADED)..u64::from(LOADED) + code.len() as u64;
    let mine = told.iter().filter(|stretch| own.contains(&stretch.began));
    assert!(mine.clone().all(|stretch| stretch.kind == Kind::Off));
    let found: Vec<u64> = mine.map(Stretch::length).collect();
    assert_eq!(found, lengths);
}
