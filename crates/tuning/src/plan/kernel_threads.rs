//! The kernel's own threads: unbound workqueues, movable threads, RCU's callback threads.

use super::{Planner, Words};
use crate::action::INTERRUPT_THREAD;
use crate::{Action, Compare};
use wakepath_readiness::Process;

impl Planner<'_> {
    /// Threads of interrupts: the kernel sends each after its interrupt, at the next one.
    pub(super) fn remember_interrupt_threads(&self) -> Vec<Action> {
        self.remember(|thread| thread.name.starts_with(INTERRUPT_THREAD))
    }

    /// Kernel threads with a restricted affinity: creating and removing a partition gives all of
    /// them every CPU (`kernel/cgroup/cpuset.c`, `update_tasks_cpumask`).
    pub(super) fn remember_placed_threads(&self) -> Vec<Action> {
        let online = self.seen.online();
        self.remember(|thread| {
            let allowed = thread.allowed.as_ref();
            allowed.is_some_and(|cpus| !online.without(cpus).is_empty())
        })
    }

    fn remember(&self, which: impl Fn(&Process) -> bool) -> Vec<Action> {
        let threads = self.seen.processes.of_kernel();
        threads
            .filter(|thread| !thread.not_movable && which(thread))
            .map(|thread| Action::Remember {
                pid: thread.pid,
                name: thread.name.clone(),
                started: thread.started,
            })
            .collect()
    }

    pub(super) fn workqueues(&mut self) {
        if !self.bad("W1") {
            return;
        }
        let folder = "/sys/devices/virtual/workqueue";
        let actions = ["cpumask", "writeback/cpumask"]
            .into_iter()
            .map(|file| format!("{folder}/{file}"))
            .filter(|path| self.seen.root.exists(path))
            .map(|path| Action::compared(path, self.others.mask(), Compare::Mask))
            .collect();
        self.add(
            "workqueues",
            &["W1"],
            Words {
                reason: "unbound work of drivers and file systems can run on the loop's CPU",
                effect: "it runs elsewhere, including the writing of dirty pages; it no longer preempts an ordinary \
                         loop",
                cost: "it takes longer under load",
                undo: "write the old mask",
            },
            actions,
        );
    }

    pub(super) fn kernel_threads(&mut self) {
        let mut threads: Vec<_> = self
            .seen
            .processes
            .of_kernel()
            .filter(|thread| !thread.not_movable)
            .filter(|thread| {
                let allowed = thread.allowed.as_ref();
                allowed.is_some_and(|cpus| self.concerns(cpus))
            })
            // A thread bound only to the loop's CPU serves that CPU.
            .filter(|thread| {
                let allowed = thread.allowed.as_ref();
                allowed.is_some_and(|cpus| !cpus.without(&self.emptied()).is_empty())
                    || thread.name.starts_with("rcuo")
            })
            .collect();
        // kthreadd first: threads that it starts later inherit its affinity.
        threads.sort_by_cached_key(|thread| (thread.name != "kthreadd", thread.pid));
        let actions = threads
            .iter()
            .map(|thread| Action::Thread {
                pid: thread.pid,
                name: thread.name.clone(),
                started: thread.started,
                cpus: self.others.clone(),
            })
            .collect();
        self.add(
            "kernel-threads",
            &["W2", "W3"],
            Words {
                reason: "kernel threads that could run elsewhere can run on the loop's CPU",
                effect: "they run elsewhere, including those started later",
                cost: "they share the other CPUs",
                undo: "the old CPUs",
            },
            actions,
        );
    }
}
