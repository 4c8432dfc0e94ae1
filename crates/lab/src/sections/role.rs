//! Roles of addresses in a kernel's code: interrupt entries, the scheduler.
//!
//! By the kernel's own names (x86-64).

use crate::window::{Place, Symbols};
use wakepath_schedulability::sections::Role;

/// A range of code to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Watched {
    /// Its first address.
    pub from: u64,
    /// The address after its last.
    pub to: u64,
    /// The reason.
    pub why: Watch,
}

/// A reason to watch a range of code, with its number in the plugin's orders.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Watch {
    /// Arrivals are noted.
    Arrival = 1,
    /// Likewise; the CPU enters it by an interrupt, an exception or a system call.
    Entry = 2,
    /// It takes a lock: the code that calls it is noted.
    Lock = 3,
}

/// The places of a kernel.
#[derive(Debug, Clone, Copy)]
pub struct Roles<'a>(pub &'a Symbols);

impl Roles<'_> {
    /// Role of an address.
    pub fn at(&self, address: u64) -> Role {
        match self.0.place(address) {
            Place::Kernel(name, offset) => role(name, offset),
            Place::Nameless | Place::User => Role::Other,
        }
    }

    /// All ranges that the plugin has to watch.
    pub fn watched(&self) -> Vec<Watched> {
        let mut watched = Vec::new();
        for (from, behind, name) in self.0.functions() {
            let role = role(name, 0);
            let is_entry = matches!(role, Role::Interrupt | Role::Exception);
            if is_entry || matches!(role, Role::Scheduler | Role::Idle | Role::Point) {
                let to = if is_table(name) { behind } else { from + 1 };
                let why = if is_entry {
                    Watch::Entry
                } else {
                    Watch::Arrival
                };
                watched.push(Watched { from, to, why });
            }
        }
        watched
    }

    /// These, and the functions that take a lock, in which most sections begin.
    pub fn watched_with_locks(&self) -> Vec<Watched> {
        let locks = self.0.functions().filter(|(.., name)| is_lock(name));
        let locks = locks.map(|(from, ..)| Watched {
            from,
            to: from + 1,
            why: Watch::Lock,
        });
        self.watched().into_iter().chain(locks).collect()
    }
}

/// Whether a function takes a lock and does nothing else (include/linux/spinlock_api_smp.h).
pub fn is_lock(name: &str) -> bool {
    let lock = name.strip_prefix("_raw_");
    lock.is_some_and(|lock| lock.contains("lock") && !lock.contains("unlock"))
}

/// Tables of stubs, one for each interrupt.
fn is_table(name: &str) -> bool {
    matches!(name, "irq_entries_start" | "spurious_entries_start")
}

fn role(name: &str, offset: u64) -> Role {
    if is_table(name) {
        return Role::Interrupt;
    }
    let plain = name.split('.').next().unwrap_or(name);
    let begins = offset == 0;
    match plain {
        "asm_exc_nmi" if begins => Role::Interrupt,
        _ if begins && plain.starts_with("asm_sysvec_") => Role::Interrupt,
        _ if begins && plain.starts_with("asm_exc_") => Role::Exception,
        "entry_SYSCALL_64"
        | "entry_SYSCALL_compat"
        | "entry_SYSENTER_compat"
        | "entry_INT80_compat"
        | "asm_int80_emulation"
            if begins =>
        {
            Role::Exception
        }
        "__schedule" if begins => Role::Scheduler,
        // A module's function, whatever its name.
        _ if plain.contains(' ') => Role::Other,
        "tick_nohz_idle_enter" if begins => Role::Idle,
        "__cond_resched" | "_cond_resched" if begins => Role::Point,
        _ if plain.contains("schedule") || plain.ends_with("cond_resched") => Role::CallsScheduler,
        _ => Role::Other,
    }
}

/// The preemption count's offset in the per-CPU data, from a kernel's list of symbols: a variable
/// of its own, or (6.2 to 6.14) the field after the pointer to the current thread.
pub fn count_place(kallsyms: &str) -> Option<u64> {
    const BEHIND_THE_THREAD: u64 = 8;
    let of = |wanted: &str| {
        kallsyms.lines().find_map(|line| {
            let mut words = line.split_whitespace();
            let address = words.next()?;
            (words.nth(1)? == wanted).then(|| u64::from_str_radix(address, 16).ok())?
        })
    };
    of("__preempt_count").or_else(|| of("pcpu_hot").map(|at| at + BEHIND_THE_THREAD))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: &str = "0000000000014dd0 D __preempt_count\n\
        ffffffff81000000 T asm_exc_page_fault\nffffffff81000020 T asm_exc_nmi\n\
        ffffffff81000040 T irq_entries_start\nffffffff81000140 T asm_sysvec_apic_timer_interrupt\n\
        ffffffff81000200 t __schedule\nffffffff81000900 T schedule\n\
        ffffffff81000a00 T __cond_resched\nffffffff81000b00 T tick_nohz_idle_enter\n\
        ffffffff81000c00 T kfree\nffffffff81000d00 T _raw_spin_lock\n\
        ffffffff81000e00 T _raw_spin_unlock\n";

    #[test]
    fn places_are_known_by_the_kernels_names() {
        let symbols = Symbols::parse(SOME).unwrap();
        let roles = Roles(&symbols);
        let of = |offset: u64| roles.at(0xffff_ffff_8100_0000 + offset);
        assert_eq!(of(0), Role::Exception);
        assert_eq!(of(0x20), Role::Interrupt);
        // Any stub of a table.
        assert_eq!(of(0x88), Role::Interrupt);
        assert_eq!(
            (of(0x200), of(0x208)),
            (Role::Scheduler, Role::CallsScheduler)
        );
        assert_eq!(of(0x910), Role::CallsScheduler);
        assert_eq!((of(0xa00), of(0xa10)), (Role::Point, Role::CallsScheduler));
        assert_eq!((of(0xb00), of(0xc00)), (Role::Idle, Role::Other));
        assert_eq!(roles.at(0x1000), Role::Other);
        let watched = roles.watched();
        assert_eq!(watched.len(), 7);
        let with_locks = roles.watched_with_locks();
        let locks = with_locks.iter().filter(|one| one.why == Watch::Lock);
        let locks: Vec<u64> = locks.map(|lock| lock.from & 0xfff).collect();
        assert_eq!((with_locks.len(), locks), (8, vec![0xd00]));
        let table = watched
            .iter()
            .find(|place| place.to - place.from > 1)
            .unwrap();
        assert_eq!((table.to - table.from, table.why), (0x100, Watch::Entry));
    }

    #[test]
    fn the_count_is_found_in_old_and_new_kernels() {
        assert_eq!(count_place(SOME), Some(0x1_4dd0));
        let newer = "0000000000032940 D pcpu_hot\nffffffff81000000 T a\n";
        assert_eq!(count_place(newer), Some(0x3_2948));
        assert_eq!(count_place("ffffffff81000000 T a\n"), None);
    }
}
