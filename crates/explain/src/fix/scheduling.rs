//! Fixes of policy, priority, CPUs and budgets.

use super::Proof::{NotHere, Tests};
use super::Who::{Programmer, Root, User};
use super::{Fix, rows};

rows! {
    REAL_TIME_POLICY: Fix {
        name: "FIFO, RR or DEADLINE",
        words: "run the loop under FIFO, RR or DEADLINE: those preempt all OTHER threads",
        changes: "policy of the loop",
        who: &[Programmer, User],
        trial: Some("policy='FIFO 80'"),
        proof: Tests(&["a_real_time_policy_cures_sharing_with_ordinary_threads"]),
    };
    POLICY_FIRST: Fix {
        name: "real-time policy before the first due time",
        words: "the loop ran as OTHER there, although it has a real-time policy at other times: set the policy before the \
                first due time, and keep it",
        changes: "when the loop's policy is set",
        who: &[Programmer],
        trial: None,
        proof: NotHere("the same policy is tested with loops that set it from the start"),
    };
    HIGHER_PRIORITY: Fix {
        name: "priority above a more urgent thread's",
        words: "{}'s priority is above the loop's: raise the loop's or give it another CPU",
        changes: "priority of the loop, or CPUs of the other thread",
        who: &[Programmer, User],
        trial: None,
        proof: Tests(&["priorities_and_cpus_cure_more_urgent_threads"]),
    };
    SHORT_BOOST: Fix {
        name: "short work with a raised priority",
        words: "{} has a priority above the loop's for some of its work alone, by a lock (PTHREAD_PRIO_INHERIT, \
                PTHREAD_PRIO_PROTECT) or as it raises its own: shorten that work, or give {} another CPU than the loop",
        changes: "how long the priority is raised, or CPUs of the other thread",
        who: &[Programmer, User],
        trial: None,
        proof: Tests(&["priorities_and_cpus_cure_more_urgent_threads"]),
    };
    BELOW_HIGHEST: Fix {
        name: "lower priority for a thread that has the highest",
        words: "{} has the highest priority that there is (FIFO 99): give it a lower one and the loop one above it, or give \
                it another CPU",
        changes: "priority or CPUs of the other thread",
        who: &[Programmer, User],
        trial: None,
        proof: Tests(&["priorities_and_cpus_cure_more_urgent_threads"]),
    };
    DEADLINE_ELSEWHERE: Fix {
        name: "CPUs of a DEADLINE thread",
        words: "a DEADLINE thread preempts every FIFO priority, and its own affinity can't be set: keep it off the loop's \
                CPU by an exclusive cpuset, or run the loop under DEADLINE with a shorter deadline",
        changes: "`cpuset.cpus.partition`, or the policy of the loop",
        who: &[Root, Programmer],
        trial: None,
        proof: NotHere("the test machine mounts no cpuset of version 2"),
    };
    NO_STOPPER: Fix {
        name: "no change of affinity or CPUs by others",
        words: "the kernel moves threads and stops CPUs with it: change no affinities, CPUs or modules while the loop runs; \
                isolcpus keeps balancing away",
        changes: "others' actions while the loop runs",
        who: &[Root],
        trial: None,
        proof: NotHere("one such stop takes microseconds, which the noise here hides"),
    };
    OWN_PRIORITY_FOR_SIBLING: Fix {
        name: "own priority for a thread that the loop makes",
        words: "{} is a thread of the loop's own process and has its priority, as a thread inherits it from the one that \
                makes it: give it its own when creating it (PTHREAD_EXPLICIT_SCHED with SCHED_OTHER), or set \
                SCHED_RESET_ON_FORK on the loop's thread before. It would inherit a higher one too",
        changes: "policy of the new thread",
        who: &[Programmer],
        trial: None,
        proof: Tests(&["priorities_and_cpus_cure_more_urgent_threads"]),
    };
    LOWER_FOR_EQUAL: Fix {
        name: "lower priority for a thread as urgent as the loop",
        words: "{} has the loop's priority and runs until it sleeps: give it a lower one. If the loop's program starts it, \
                it inherits the loop's (SCHED_RESET_ON_FORK prevents that)",
        changes: "priority of the other thread",
        who: &[Programmer, User],
        trial: None,
        proof: Tests(&["priorities_and_cpus_cure_more_urgent_threads"]),
    };
    TIMER_IN_INTERRUPT: Fix {
        name: "timer served in its interrupt",
        words: "{} ran before the thread that serves the loop's timer (ktimers): PREEMPT_RT serves sleeps and time-outs of a \
                thread with a real-time policy in the interrupt itself, but those of others, and every timerfd, \
                timer_create and setitimer, in that thread. Sleep with clock_nanosleep under a real-time policy, or give \
                ktimers of the loop's CPU a priority above the other's",
        changes: "policy of the loop and how it waits, or priority of ktimers",
        who: &[Programmer, Root],
        trial: None,
        proof: NotHere("the test machine's kernel is not PREEMPT_RT"),
    };
    TIMER_SLACK: Fix {
        name: "timer slack of 1 ns",
        words: "a real-time policy has no timer slack; otherwise prctl(PR_SET_TIMERSLACK, 1)",
        changes: "timer slack of the thread",
        who: &[Programmer, User],
        trial: Some("slack"),
        proof: Tests(&["ways_of_sleeping_and_serving_cure_late_timers"]),
    };
    STAY_ON_CPU_SET_BY: Fix {
        name: "no change of the loop's CPUs by a thread",
        words: "keep the loop on CPU {}: {} changed its CPUs (sched_setaffinity, or a cpuset)",
        changes: "CPUs of the loop",
        who: &[Programmer, Root],
        trial: None,
        proof: NotHere("needs two CPUs that are alike but for their load"),
    };
    STAY_ON_CPU: Fix {
        name: "one CPU for the loop",
        words: "keep the loop on CPU {}: something changed its CPUs (an affinity, a cpuset, a container's limits)",
        changes: "CPUs of the loop",
        who: &[Programmer, User, Root],
        trial: Some("cpu={}"),
        proof: NotHere("needs two CPUs that are alike but for their load"),
    };
    QUOTA: Fix {
        name: "CPU quota lifted",
        words: "{}",
        changes: "`cpu.max` or `cpu.cfs_quota_us` of the control group",
        who: &[Root],
        trial: Some("{}={}"),
        proof: Tests(&["the_printed_command_cures_a_cpu_quota"]),
    };
    FAIR_SERVER: Fix {
        name: "real-time threads that leave time, ordinary threads elsewhere, or no fair server",
        words: "{}",
        changes: "work of the real-time threads, CPUs of the ordinary ones, or `/sys/kernel/debug/sched/fair_server`",
        who: &[Programmer, Root],
        trial: None,
        proof: Tests(&["a_busy_thread_that_leaves_time_cures_the_fair_server"]),
    };
    REAL_TIME_BUDGET: Fix {
        name: "real-time budget of the group or machine",
        words: "{}",
        changes: "`cpu.rt_runtime_us`, or `kernel.sched_rt_runtime_us`",
        who: &[Root],
        trial: None,
        proof: NotHere("the test machine's kernel throttles real-time threads by its fair server alone"),
    };
    RESERVATION: Fix {
        name: "runtime of a DEADLINE reservation",
        words: "{}",
        changes: "runtime of the loop's reservation",
        who: &[Programmer, User],
        trial: None,
        proof: NotHere("a loop that lacks runtime has another period than its program's, and so no late cycle to compare"),
    };
    SHARE: Fix {
        name: "share of CPU time",
        words: "the loop, or a DEADLINE reservation, has used up its share of CPU time: shorten the work, enlarge the \
                reservation, or see /proc/sys/kernel/sched_rt_runtime_us and /sys/kernel/debug/sched/fair_server",
        changes: "runtime of the thread or group",
        who: &[Programmer, Root],
        trial: None,
        proof: NotHere("printed only if the budget is unknown; those that are known have rows of their own"),
    };
}
