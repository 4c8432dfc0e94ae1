//! Kernel events as one stream, whichever backend recorded them.
//!
//! The room `probe` produces these, `explain` reads them.

use crate::thread::ThreadName;
use std::sync::Arc;

/// One thing that the kernel did on one CPU.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelEvent {
    /// When, in nanoseconds on `CLOCK_MONOTONIC`: the clock of the samples.
    pub at_ns: u64,
    /// On which CPU.
    pub cpu: u16,
    /// Thread that was current on that CPU; 0 in idle.
    pub current: u32,
    /// What.
    pub what: What,
}

/// The first argument of a system call, by which one wait can be distinguished from another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallArgument {
    /// A descriptor of the calling process.
    Descriptor(u32),
    /// An address in its memory, below 2⁶²: of the word that futex() waits at, of the list that poll() waits for.
    Address(u64),
}

impl CallArgument {
    /// The descriptor, if it is one.
    pub fn descriptor(self) -> Option<u32> {
        match self {
            Self::Descriptor(number) => Some(number),
            Self::Address(_) => None,
        }
    }
}

/// A call of a function, with those of its arguments that are recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    /// The function, as the recorder names it.
    pub function: Arc<str>,
    /// Arguments that are numbers or addresses, in their order.
    pub numbers: Vec<u64>,
    /// Arguments that are texts, in their order.
    pub texts: Vec<Arc<str>>,
}

/// A kernel event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What {
    /// A hard interrupt begins. On x86 the local timer and the inter-processor interrupts are
    /// vectors; on Arm all are numbered interrupts.
    InterruptEntry(Interrupt),
    /// The interrupt ends.
    InterruptExit(Interrupt),
    /// A SoftIRQ was marked to be run.
    SoftIrqRaise(SoftIrq),
    /// A SoftIRQ begins, in the interrupt's tail or in a thread.
    SoftIrqEntry(SoftIrq),
    /// The SoftIRQ ends.
    SoftIrqExit(SoftIrq),
    /// The callback of a high-resolution timer begins.
    TimerExpiryEntry {
        /// Address of the timer: only distinguishes timers.
        timer: u64,
        /// The callback, by name where the kernel gives it (`hrtimer_wakeup`, `tick_nohz_handler`).
        function: Arc<str>,
    },
    /// The callback ends.
    TimerExpiryExit {
        /// Address of the timer.
        timer: u64,
    },
    /// A timer was programmed.
    TimerStart {
        /// Address of the timer.
        timer: u64,
        /// The callback, as in [`What::TimerExpiryEntry`].
        function: Arc<str>,
        /// Latest expiry: the asked time plus timer slack, in nanoseconds on the timer's clock.
        expires_ns: u64,
        /// Asked time, in nanoseconds on the timer's clock.
        soft_expires_ns: u64,
        /// Whether its callback runs in SoftIRQ context (deferred) rather than in the interrupt.
        soft: bool,
    },
    /// A thread is about to be woken (seen on the waker's CPU).
    Waking {
        /// The thread that is woken.
        thread: Thread,
        /// CPU that it was last on, which the kernel may still change.
        target_cpu: u16,
    },
    /// A woken thread was put on a run queue.
    WakeUp {
        /// The thread that was woken.
        thread: Thread,
        /// CPU of the run queue.
        target_cpu: u16,
    },
    /// The CPU changes from one thread to another.
    Switch {
        /// The thread that leaves.
        previous: Thread,
        /// How it leaves.
        left: Left,
        /// The thread that comes.
        next: Thread,
    },
    /// A thread was moved to another CPU.
    Migrate {
        /// The thread.
        thread: Thread,
        /// From.
        from_cpu: u16,
        /// To.
        to_cpu: u16,
    },
    /// An inter-processor interrupt is sent from this CPU.
    IpiSend {
        /// The CPU that it goes to, if there is one.
        target_cpu: Option<u16>,
        /// Its callback by name, if the kernel gives it.
        callback: Arc<str>,
    },
    /// The CPU enters an idle state.
    IdleEntry {
        /// Number of the state in the idle driver; 0 is the shallowest.
        state: u32,
    },
    /// The CPU leaves the idle state.
    IdleExit,
    /// The CPU's frequency was set.
    Frequency {
        /// In kilohertz.
        khz: u32,
    },
    /// The current thread faulted on a page.
    PageFault {
        /// Whether it was in user mode.
        user: bool,
        /// Whether it wrote to a page that was there and shared: the kernel copies it, as after a fork. Known on x86 alone.
        copies: bool,
    },
    /// The page that the current thread faulted on is mapped: its fault ends within a microsecond.
    PageMapped,
    /// The current thread passed a recorded place of its program: a USDT probe.
    Mark {
        /// Its number, by the backend's numbering.
        number: u16,
    },
    /// The current thread called a function of its program's libraries whose calls are recorded.
    Call(Box<Call>),
    /// The current thread enters the kernel by a system call. Of a watched program's threads alone.
    SystemCallEntry {
        /// The call's name: `write`.
        name: Arc<str>,
        /// Its first argument, if that identifies what it works on or waits for.
        argument: Option<CallArgument>,
    },
    /// The current thread leaves its system call.
    SystemCallExit,
    /// The clock that counts from 1970 was set since events were last read, usually a tenth of a second before this.
    ClockSet {
        /// By how much, in nanoseconds.
        by_ns: i64,
    },
    /// A thread gets another priority by a lock that it holds: that of a more urgent thread which waits for the lock, or its
    /// own again when it lets go (`sched_pi_setprio`).
    Inherits {
        /// The thread that holds the lock.
        thread: u32,
        /// The kernel's priority of it before, as in [`Thread`].
        before: i32,
        /// The one from now on.
        priority: i32,
    },
    /// The current thread, any on the machine, sets on which CPUs a thread may run (`sched_setaffinity`).
    SetsAffinity {
        /// The thread whose CPUs are set.
        thread: u32,
    },
    /// A thread of the watched program is known from here on, as the recorder reports.
    Followed {
        /// The thread.
        thread: u32,
        /// Its process.
        process: u32,
        /// Whether its system calls are recorded from here on.
        calls: bool,
    },
    /// Target of a descriptor of the watched program, as the recorder reports.
    Descriptor {
        /// The process.
        process: u32,
        /// Its number there.
        descriptor: u32,
        /// Its target.
        target: CallTarget,
    },
    /// Events are missing here: between the previous event of this CPU and this instant.
    Lost {
        /// How many; 0 when the backend does not say.
        count: u64,
    },
}

/// Target of a descriptor.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum CallTarget {
    /// A file, by its path.
    File(Arc<str>),
    /// A device, by its path.
    Device(Arc<str>),
    /// A terminal, by its path.
    Terminal(Arc<str>),
    /// A pipe.
    Pipe,
    /// A socket.
    Socket,
    /// An object without a path, by the kernel's word: `eventfd`.
    Other(Arc<str>),
}

/// Which hard interrupt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Interrupt {
    /// The CPU's own timer.
    LocalTimer,
    /// Asks for a reschedule.
    Reschedule,
    /// Calls a function on this CPU for another.
    CallFunction,
    /// Work that the kernel put off to a separate interrupt.
    IrqWork,
    /// Another vector of the CPU, by the kernel's name (`thermal_apic`).
    Vector(Arc<str>),
    /// A device's interrupt.
    Device {
        /// Number, as in `/proc/interrupts`.
        number: u32,
        /// Its action, such as `eth0`; a chain's actions are joined by the kernel.
        name: Arc<str>,
    },
}

/// Which SoftIRQ, by the kernel's numbering.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SoftIrq(pub u8);

impl SoftIrq {
    /// Timers of the timer wheel.
    pub const TIMER: Self = Self(1);
    /// Packets that came in.
    pub const NET_RX: Self = Self(3);
    /// Soft high-resolution timers.
    pub const HRTIMER: Self = Self(8);

    /// The kernel's name (`include/linux/interrupt.h`, the order of its enumeration).
    pub fn name(self) -> &'static str {
        const NAMES: [&str; 10] = [
            "HI", "TIMER", "NET_TX", "NET_RX", "BLOCK", "IRQ_POLL", "TASKLET", "SCHED", "HRTIMER",
            "RCU",
        ];
        NAMES.get(usize::from(self.0)).copied().unwrap_or("unknown")
    }
}

/// A thread as an event names it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Thread {
    /// Thread number; 0 is idle.
    pub id: u32,
    /// Its name at that time.
    pub name: ThreadName,
    /// The kernel's own priority: −1 DEADLINE (and the stop class), 0 … 98 FIFO and RR
    /// (99 − `sched_priority`), 100 … 139 OTHER (120 + nice); smaller is more urgent.
    pub priority: i32,
}

/// How a thread left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Left {
    /// It could have run on: it was preempted or yielded.
    Runnable,
    /// It waits, and can be woken by a signal.
    Sleeping,
    /// It waits without being woken by signals (state D): a lock, a page, a device.
    Blocked,
    /// Stopped or traced.
    Stopped,
    /// It ended.
    Dead,
}
