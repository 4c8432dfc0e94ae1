//! Fixes of the kernel, the hardware and the host.

use super::Proof::NotHere;
use super::Who::{Host, KernelBuilder, Root};
use super::{Fix, rows};

/// A guest's interrupts and idle states are the host's business.
const GUEST: &str = "the test machine is a guest with two CPUs, and this takes microseconds there";
const RESTART: &str = "needs a restart with another command line";

rows! {
    MOVE_INTERRUPT: Fix {
        name: "CPUs of an interrupt",
        words: "the interrupt can be moved: echo CPUS > /proc/irq/{}/smp_affinity_list. If the kernel refuses that (a disk's \
                own queues): isolcpus=managed_irq for the loop's CPU",
        changes: "`/proc/irq/N/smp_affinity_list`",
        who: &[Root],
        trial: Some("/proc/irq/{}/smp_affinity_list=CPUS"),
        proof: NotHere(GUEST),
    };
    NO_SHARED_MEMORY: Fix {
        name: "no process on the loop's CPU and on others",
        words: "{} on CPU {} interrupts this one: keep it from sharing memory with threads here (no common process on both \
                CPUs), or isolate the loop's CPU",
        changes: "CPUs of that process",
        who: &[Root],
        trial: None,
        proof: NotHere(GUEST),
    };
    ISOLATE: Fix {
        name: "isolated CPU",
        words: "isolate the loop's CPU from the processes that send these (isolcpus, nohz_full)",
        changes: "kernel command line",
        who: &[Root],
        trial: None,
        proof: NotHere(RESTART),
    };
    TIMER_ON_OWN_CPU: Fix {
        name: "timers stay on their CPU",
        words: "keep the timer on the loop's CPU: give the loop one CPU, and on one of nohz_full sysctl \
                kernel.timer_migration=0",
        changes: "CPUs of the loop, `kernel.timer_migration`",
        who: &[Root],
        trial: None,
        proof: NotHere(RESTART),
    };
    NETWORK_ELSEWHERE: Fix {
        name: "network on other CPUs",
        words: "move the network's interrupts and the threads that use it to other CPUs",
        changes: "`/proc/irq/N/smp_affinity_list`, CPUs of threads",
        who: &[Root],
        trial: None,
        proof: NotHere(GUEST),
    };
    DISK_ELSEWHERE: Fix {
        name: "disk on other CPUs",
        words: "move the disk's interrupts and the threads that use it to other CPUs",
        changes: "`/proc/irq/N/smp_affinity_list`, CPUs of threads",
        who: &[Root],
        trial: None,
        proof: NotHere(GUEST),
    };
    RCU_ELSEWHERE: Fix {
        name: "RCU callbacks elsewhere",
        words: "rcu_nocbs for the loop's CPU moves this to threads elsewhere",
        changes: "kernel command line",
        who: &[Root, KernelBuilder],
        trial: None,
        proof: NotHere(RESTART),
    };
    FEW_SOFTIRQS: Fix {
        name: "isolated CPU against timers' SoftIRQs",
        words: "an isolated CPU (isolcpus, nohz_full) has few of these",
        changes: "kernel command line",
        who: &[Root],
        trial: None,
        proof: NotHere(RESTART),
    };
    TIMERS_ELSEWHERE: Fix {
        name: "owners of other timers elsewhere",
        words: "move the threads that own these timers to other CPUs",
        changes: "CPUs of those threads",
        who: &[Root],
        trial: None,
        proof: NotHere(GUEST),
    };
    NO_TICK: Fix {
        name: "no tick",
        words: "the tick stops on a CPU of its own under nohz_full",
        changes: "kernel command line",
        who: &[Root, KernelBuilder],
        trial: None,
        proof: NotHere(RESTART),
    };
    SHALLOW_IDLE: Fix {
        name: "deep idle states disabled",
        words: "the state can be disabled: echo 1 > /sys/devices/system/cpu/cpuN/cpuidle/state{}/disable, or hold \
                /dev/cpu_dma_latency at 0",
        changes: "files below `/sys`",
        who: &[Root],
        trial: None,
        proof: NotHere("a guest has no idle states"),
    };
    HOLD_FREQUENCY: Fix {
        name: "fixed frequency",
        words: "hold the frequency: governor performance, minimum = maximum",
        changes: "files below `/sys`",
        who: &[Root],
        trial: None,
        proof: NotHere("a guest has no governors"),
    };
    PREEMPTIBLE_KERNEL: Fix {
        name: "PREEMPT_RT or preempt=full",
        words: "a kernel with PREEMPT_RT, or preempt=full, shortens such sections; on one that has it, keep {} off the \
                loop's CPU",
        changes: "kernel, or its command line",
        who: &[KernelBuilder, Root],
        trial: None,
        proof: NotHere("needs another kernel"),
    };
    FIND_HOLDER: Fix {
        name: "interrupts on for longer",
        words: "wakepath doctor names what can hold a CPU up: a hypervisor, firmware (SMI); a kernel with PREEMPT_RT keeps \
                interrupts on for longer",
        changes: "kernel, host or firmware",
        who: &[KernelBuilder, Host],
        trial: None,
        proof: NotHere("needs another kernel or host"),
    };
    OWN_HOST_CPUS: Fix {
        name: "own CPUs for a virtual machine, no SMI",
        words: "no setting of this kernel gives the CPU back. In a virtual machine: give it CPUs of its own on the host \
                (pinned, not shared); on metal: switch off in the firmware what interrupts it (SMI). wakepath doctor names \
                which of the two this is",
        changes: "host or firmware",
        who: &[Host],
        trial: None,
        proof: NotHere("needs rights on the host"),
    };
    RECORDER_ELSEWHERE: Fix {
        name: "another CPU for wakepath's recorder",
        words: "without wakepath the loop is not late for this. To measure it, give the loop a real-time policy if it has none, \
                or keep its program off a CPU, which wakepath then uses (taskset)",
        changes: "CPUs of wakepath",
        who: &[Root],
        trial: None,
        proof: NotHere("wakepath takes another CPU if there is one"),
    };
}
