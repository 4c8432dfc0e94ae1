//! What can be done about a cause, where something fits. Advice for a person; it changes nothing.

mod calls;

use crate::call::may_be_lock;
use crate::cause::{Cause, Relation, is_stopper};
use crate::wait::{Meanwhile, Wait};
use wakepath_timeline::{Budget, Interrupt, SoftIrq, one_line};

/// What can be done, with the command that tries it if `wakepath try` can apply it. `None` where nothing fits: what is
/// unknown, or belongs to every wake-up.
pub fn remedy(cause: &Cause) -> Option<String> {
    let text = advice(cause)?;
    Some(match trial(cause) {
        Some(fix) => format!("{text}. To try it: wakepath try {fix} -- PROGRAM"),
        None => text,
    })
}

/// The fix as `wakepath try` takes it.
fn trial(cause: &Cause) -> Option<String> {
    Some(match cause {
        Cause::TimerSlack => "slack".into(),
        Cause::Interrupt(Interrupt::Device { number, .. }) => {
            format!("/proc/irq/{number}/smp_affinity_list=CPUS")
        }
        Cause::Thread {
            relation: Relation::Shared,
            ..
        } => "policy='FIFO 80'".into(),
        Cause::Throttled {
            budget: Some(Budget::CpuQuota { file, .. }),
            ..
        } => match file.ends_with("cpu.max") {
            true => format!("{}=max", one_line(file)),
            false => format!("{}=-1", one_line(file)),
        },
        Cause::SystemCall(call) if calls::is_of_memory(&call.name) => "malloc".into(),
        Cause::Overrun(because) => return trial(because),
        _ => return None,
    })
}

/// One sentence.
fn advice(cause: &Cause) -> Option<String> {
    Some(match cause {
        Cause::TimerSlack => {
            "a real-time policy has no timer slack; else prctl(PR_SET_TIMERSLACK, 1)".into()
        }
        Cause::Interrupt(Interrupt::Device { number, .. }) => {
            format!("the interrupt can be moved: echo CPUS > /proc/irq/{number}/smp_affinity_list")
        }
        Cause::Ipi {
            sender: Some(sender),
            ..
        } => match &sender.thread {
            Some(thread) if thread.id != 0 || !thread.name.bytes().is_empty() => format!(
                "{} on CPU {} interrupts this one: keep it from sharing memory with threads here (no common process on both CPUs), or isolate the loop's CPU",
                thread.name, sender.cpu
            ),
            _ => "isolate the loop's CPU from the processes that send these (isolcpus, nohz_full)".into(),
        },
        Cause::Ipi { .. } => {
            "isolate the loop's CPU from the processes that send these (isolcpus, nohz_full)".into()
        }
        Cause::WokenFrom(_) => {
            "keep the timer on the loop's CPU: give the loop one CPU, and on one of nohz_full sysctl kernel.timer_migration=0".into()
        }
        Cause::SoftIrq { vector, .. } => softirq(*vector)?,
        Cause::OtherTimer(function) if &**function != "tick_nohz_handler" && &**function != "tick_sched_timer" => {
            "move the threads that own these timers to other CPUs".into()
        }
        Cause::OtherTimer(_) => "the tick stops on a CPU of its own under nohz_full".into(),
        Cause::IdleExit { state: Some(state) } if *state > 0 => format!(
            "the state can be disabled: echo 1 > /sys/devices/system/cpu/cpuN/cpuidle/state{state}/disable, or hold /dev/cpu_dma_latency at 0"
        ),
        Cause::Thread { thread, relation } => match relation {
            Relation::MoreUrgent if is_stopper(thread) => {
                "the kernel moves threads and stops CPUs with it: change no affinities, CPUs or modules while the loop runs; isolcpus keeps balancing away".into()
            }
            Relation::MoreUrgent if thread.priority < 0 => {
                "a DEADLINE thread preempts every FIFO priority: give it another CPU".into()
            }
            Relation::MoreUrgent => format!(
                "{}'s priority is above the loop's: raise the loop's or give it another CPU",
                thread.name
            ),
            Relation::Sibling => format!(
                "{} is a thread of the loop's own process and has its priority, as a thread inherits it from the one that makes it: give it its own where it is made (PTHREAD_EXPLICIT_SCHED with SCHED_OTHER), or set SCHED_RESET_ON_FORK on the loop's thread before. It would inherit a higher one too",
                thread.name
            ),
            Relation::SamePriority => format!(
                "{} has the loop's priority and runs until it sleeps: give it a lower one. If the loop's program starts it, it inherits the loop's (SCHED_RESET_ON_FORK prevents that)",
                thread.name
            ),
            Relation::Shared => {
                "run the loop under FIFO, RR or DEADLINE: those preempt all OTHER threads".into()
            }
        },
        Cause::NotPreemptible(_) => {
            "a kernel with PREEMPT_RT, or preempt=full, shortens such sections".into()
        }
        Cause::NothingRan => {
            "no setting of this kernel gives the CPU back. In a virtual machine: give it CPUs of its own on the host (pinned, not shared); on metal: switch off in the firmware what interrupts it (SMI). wakepath doctor names which of the two this is".into()
        }
        Cause::InterruptsOff(_) => {
            "wakepath doctor names what can hold a CPU up: a hypervisor, firmware (SMI); a kernel with PREEMPT_RT keeps interrupts on for longer".into()
        }
        Cause::Throttled {
            budget: Some(budget),
            ..
        } => budget.fix(),
        Cause::Throttled { .. } => {
            "the loop, or a DEADLINE reservation, has used up its share of CPU time: shorten the work, enlarge the reservation, or see /proc/sys/kernel/sched_rt_runtime_us and /sys/kernel/debug/sched/fair_server".into()
        }
        Cause::PageFault => format!(
            "lock and touch the loop's memory before it starts (mlockall), and keep malloc from giving it back: {}",
            calls::KEEP_MEMORY
        ),
        Cause::SystemCall(call) => calls::remedy(call)?,
        Cause::OwnInflation => {
            "which of the two is unknown: the system calls of this loop were not recorded (raw_syscalls:sys_enter and sys_exit)".into()
        }
        Cause::Blocked(wait) => blocked(wait)?,
        Cause::Halted(halt) => halt.remedy(),
        Cause::Frequency => "hold the frequency: governor performance, minimum = maximum".into(),
        Cause::Spin(thread) => format!(
            "if the loop spins on a lock that {} holds: a mutex with priority inheritance (PTHREAD_PRIO_INHERIT) instead, which lets the holder run",
            thread.name
        ),
        Cause::OtherWork(_) => {
            "let another thread serve that (in ROS 2: a callback group with an executor of its own), so that this one is free when its timer expires".into()
        }
        Cause::Moved { from, by, .. } => match by {
            Some(thread) => format!(
                "keep the loop on CPU {from}: {} set its CPUs (sched_setaffinity)",
                thread.name
            ),
            None => format!(
                "keep the loop on CPU {from}: something changed its CPUs (an affinity, a cpuset, a container's limits), or it may use both"
            ),
        },
        Cause::Overrun(because) => return advice(because),
        Cause::OwnTool(_) => "give wakepath's recorder another CPU".into(),
        _ => return None,
    })
}

fn blocked(wait: &Wait) -> Option<String> {
    let may_be_lock = may_be_lock(wait.call.as_ref());
    if let Some(call) = wait.call.as_ref().filter(|_| !may_be_lock)
        && let Some(remedy) = calls::remedy(call)
    {
        return Some(remedy);
    }
    Some(match (&wait.meanwhile, wait.chain.last()) {
        (
            Meanwhile::KeptOff {
                by,
                inversion: true,
            },
            Some(holder),
        ) if may_be_lock => format!(
            "if the loop waits for a lock that {} holds: make it a mutex with priority inheritance (PTHREAD_PRIO_INHERIT). Otherwise give {} a priority above that of {}",
            holder.name, holder.name, by.name
        ),
        (Meanwhile::KeptOff { by, .. }, Some(holder)) => format!(
            "give {} another CPU than {}, or let the loop not wait for it",
            holder.name, by.name
        ),
        (Meanwhile::Ran, Some(holder)) if may_be_lock => format!(
            "the loop waits while {} works: shorten what {} does under the lock, or pass the data without waiting",
            holder.name, holder.name
        ),
        (_, Some(holder)) => format!(
            "the loop waits for {}: let another thread do what waits for it",
            holder.name
        ),
        (Meanwhile::Slept, None) => {
            "take sleeps and calls with a time-out out of the loop's work".into()
        }
        (Meanwhile::Device(_), None) => {
            "let another thread do the input and output that waits for this device".into()
        }
        _ if wait.uninterruptible => {
            "keep files, memory mappings and devices out of the loop's work".into()
        }
        _ => return None,
    })
}

fn softirq(vector: SoftIrq) -> Option<String> {
    Some(match vector.name() {
        "NET_RX" | "NET_TX" => {
            "move the network's interrupts and the threads that use it to other CPUs".into()
        }
        "RCU" => "rcu_nocbs for the loop's CPU moves this to threads elsewhere".into(),
        "TIMER" | "HRTIMER" | "SCHED" => {
            "an isolated CPU (isolcpus, nohz_full) has few of these".into()
        }
        "BLOCK" => "move the disk's interrupts and the threads that use it to other CPUs".into(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_that_can_be_tried_is_printed_with_its_command() {
        let command = |cause: &Cause| {
            remedy(cause)?
                .split_once("To try it: ")
                .map(|(_, it)| it.to_owned())
        };
        let quota = |file: &str| Cause::Throttled {
            instead: None,
            budget: Some(Budget::CpuQuota {
                group: "/robot".into(),
                file: file.into(),
            }),
        };
        assert_eq!(
            command(&Cause::TimerSlack).unwrap(),
            "wakepath try slack -- PROGRAM"
        );
        assert_eq!(
            command(&quota("/sys/fs/cgroup/robot/cpu.max")).unwrap(),
            "wakepath try /sys/fs/cgroup/robot/cpu.max=max -- PROGRAM"
        );
        let overrun = Cause::Overrun(Box::new(quota("/sys/fs/cgroup/cpu/robot/cpu.cfs_quota_us")));
        assert!(command(&overrun).unwrap().contains("cpu.cfs_quota_us=-1"));
        assert_eq!(command(&Cause::NothingRan), None);
    }
}
