//! One change of the machine, and a step of several that belong together. Data: carrying it out is
//! in `system`.

use serde::{Deserialize, Serialize};
use wakepath_timeline::{CpuSet, one_line};

/// How a value that was written is recognised when it is read back: the kernel writes the same
/// thing in other words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Compare {
    /// The same text, white space at its ends aside.
    Text,
    /// The same CPUs, as a list: `0-1` and `0,1`.
    Cpus,
    /// The same CPUs, as a mask: `00000001` and `1`.
    Mask,
    /// The word in brackets: `always [madvise] never`, `none (full) lazy`.
    Chosen,
    /// One of the words in it: `cpuset` after `+cpuset`.
    Word,
    /// The same words, whatever is between them.
    Words,
}

impl Compare {
    /// Whether a value read back is equivalent to the one written.
    pub fn same(self, read: &str, written: &str) -> bool {
        let (read, written) = (read.trim(), written.trim());
        match self {
            Self::Text => read == written,
            Self::Cpus => match (read.parse::<CpuSet>(), written.parse::<CpuSet>()) {
                (Ok(one), Ok(other)) => one == other,
                _ => read == written,
            },
            Self::Mask => match (CpuSet::of_mask(read), CpuSet::of_mask(written)) {
                (Ok(one), Ok(other)) => one == other,
                _ => read == written,
            },
            Self::Chosen => chosen(read) == chosen(written),
            Self::Words => read.split_whitespace().eq(written.split_whitespace()),
            Self::Word => {
                let has = |wanted| read.split_whitespace().any(|word| word == wanted);
                match (written.strip_prefix('+'), written.strip_prefix('-')) {
                    (Some(wanted), _) => has(wanted),
                    (_, Some(unwanted)) => !has(unwanted),
                    _ => read == written,
                }
            }
        }
    }

    /// The value to write to restore the one that was read.
    pub fn writable(self, read: &str) -> String {
        match self {
            Self::Chosen => chosen(read).to_owned(),
            _ => read.trim().to_owned(),
        }
    }
}

fn chosen(text: &str) -> &str {
    let between = |open, close| Some(text.split_once(open)?.1.split_once(close)?.0);
    between('[', ']')
        .or_else(|| between('(', ')'))
        .unwrap_or(text)
}

/// Prefix of the names of interrupt threads (`kernel/irq/manage.c`, `setup_irq_thread`).
pub(crate) const INTERRUPT_THREAD: &str = "irq/";

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Action {
    /// A value written into a file of the kernel.
    Write {
        /// The file.
        path: String,
        /// The value.
        value: String,
        /// How it is recognised.
        compare: Compare,
    },
    /// An interrupt moved to other CPUs. It is identified by its device: numbers change when
    /// devices are plugged.
    Interrupt {
        /// Its number now.
        number: u32,
        /// The end of its line in `/proc/interrupts`.
        device: String,
        /// Its new CPUs.
        cpus: CpuSet,
    },
    /// A thread moved to other CPUs. It is identified by its name if its number has changed.
    Thread {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
        /// When it was started, ticks since boot.
        started: u64,
        /// Its new CPUs.
        cpus: CpuSet,
    },
    /// A thread's CPUs recorded in the journal without a change: the kernel changes them together
    /// with a partition or an interrupt, and does not restore them.
    Remember {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
        /// When it was started, ticks since boot.
        started: u64,
    },
    /// A directory created: a control group. Before it is removed, its programs move to its parent.
    Directory {
        /// The directory.
        path: String,
    },
    /// A program stopped by a signal, to be resumed by another.
    Pause {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
        /// When it was started, ticks since boot.
        started: u64,
    },
    /// All programs of a control group moved into another.
    Programs {
        /// The group that they leave.
        from: String,
        /// The group, empty before, that they go to.
        to: String,
    },
    /// One program moved into a control group.
    Member {
        /// Its number.
        pid: u32,
        /// Its name.
        name: String,
        /// When it was started, ticks since boot.
        started: u64,
        /// Mount point of the hierarchy.
        hierarchy: String,
        /// The group, from there.
        group: String,
    },
}

impl Action {
    /// A write compared as text.
    pub fn write(path: impl Into<String>, value: impl Into<String>) -> Self {
        Self::compared(path, value, Compare::Text)
    }

    /// A write with another comparison.
    pub fn compared(path: impl Into<String>, value: impl Into<String>, compare: Compare) -> Self {
        Self::Write {
            path: path.into(),
            value: value.into(),
            compare,
        }
    }

    /// Whether the kernel can refuse this one while the others still make sense: an interrupt that
    /// its driver manages, a thread that has ended, a program that can't be moved.
    pub fn may_be_refused(&self) -> bool {
        matches!(
            self,
            Self::Interrupt { .. }
                | Self::Thread { .. }
                | Self::Remember { .. }
                | Self::Pause { .. }
                | Self::Programs { .. }
        )
    }

    /// Whether the kernel might change it later as a result of another of our changes: then it is
    /// reverted whatever its value.
    pub fn follows_another(&self) -> bool {
        match self {
            Self::Remember { .. } => true,
            // It follows its interrupt when that occurs next.
            Self::Thread { name, .. } => name.starts_with(INTERRUPT_THREAD),
            _ => false,
        }
    }

    /// The new value.
    pub fn value(&self) -> String {
        match self {
            Self::Write { value, .. } => value.clone(),
            Self::Interrupt { cpus, .. } | Self::Thread { cpus, .. } => cpus.to_string(),
            Self::Remember { .. } => "remembered".to_owned(),
            Self::Directory { .. } => "present".to_owned(),
            Self::Pause { .. } => "paused".to_owned(),
            Self::Programs { to, .. } => to.clone(),
            Self::Member { group, .. } => group.clone(),
        }
    }

    /// How the value is recognised.
    pub fn compare(&self) -> Compare {
        match self {
            Self::Write { compare, .. } => *compare,
            Self::Interrupt { .. } | Self::Thread { .. } | Self::Remember { .. } => Compare::Cpus,
            Self::Directory { .. }
            | Self::Pause { .. }
            | Self::Programs { .. }
            | Self::Member { .. } => Compare::Text,
        }
    }

    /// The command that does the same.
    pub fn command(&self) -> String {
        match self {
            Self::Write { path, value, .. } => format!("echo '{value}' > {path}"),
            Self::Interrupt {
                number,
                device,
                cpus,
            } => format!(
                "echo {cpus} > /proc/irq/{number}/smp_affinity_list    # {}",
                one_line(device)
            ),
            Self::Thread {
                pid, name, cpus, ..
            } => format!("taskset -pc {cpus} {pid}    # {}", one_line(name)),
            Self::Remember { pid, name, .. } => {
                format!(
                    "taskset -pc {pid}    # {}: noted, for the undo",
                    one_line(name)
                )
            }
            Self::Directory { path } => format!("mkdir {path}"),
            Self::Pause { pid, name, .. } => {
                format!("kill -STOP {pid}    # {}", one_line(name))
            }
            Self::Programs { from, to } => format!(
                "for pid in $(cat {from}/cgroup.procs); do echo $pid > {to}/cgroup.procs; done"
            ),
            Self::Member {
                pid,
                name,
                hierarchy,
                group,
                ..
            } => format!(
                "echo {pid} > {hierarchy}{group}/cgroup.procs    # {}",
                one_line(name)
            ),
        }
    }
}

/// Changes that belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// A short name: `interrupts`.
    pub id: String,
    /// The checks that it answers.
    pub checks: Vec<String>,
    /// Why, on this machine.
    pub reason: String,
    /// Expected effect.
    pub effect: String,
    /// Cost.
    pub cost: String,
    /// How it is taken back.
    pub undo: String,
    /// The changes, in order.
    pub actions: Vec<Action>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_kernel_reads_back_in_other_words_is_the_same() {
        assert!(Compare::Mask.same("00000000,00000003\n", "3"));
        assert!(!Compare::Mask.same("1", "3"));
        assert!(Compare::Cpus.same("0-1", "0,1"));
        assert!(Compare::Chosen.same("always [madvise] never", "madvise"));
        assert!(Compare::Chosen.same("none voluntary (full) lazy", "full"));
        assert_eq!(
            Compare::Chosen.writable("none (voluntary) full"),
            "voluntary"
        );
        assert!(Compare::Words.same("1\t4\t1\t7", "1 4 1 7"));
        // A damaged journal can contain an empty value.
        assert!(Compare::Word.same("", ""));
        assert!(Compare::Word.same("cpu cpuset memory", "+cpuset"));
        assert!(Compare::Word.same("cpu memory", "-cpuset"));
        // An invalid partition shows only on reading.
        assert!(!Compare::Text.same("isolated invalid (Cpu list is empty)", "isolated"));
    }
}
