//! Advice on a cause, if something fits. It is for a person and changes nothing. The words are in the
//! catalogue, `fix`.

mod calls;

use crate::call::{Call, may_be_lock};
use crate::cause::{Cause, RanIn, Relation, is_kernel_worker, is_stopper, stops_java};
use crate::fix::{self, Remedy};
use crate::wait::{Meanwhile, Wait};
use wakepath_timeline::{Budget, Interrupt, SoftIrq, Thread, one_line};

/// The fix, with the command that tries it if `wakepath try` can apply it. `None` if nothing fits: the cause
/// is unknown, or belongs to every wake-up.
pub fn remedy(cause: &Cause) -> Option<String> {
    advice(cause).map(|fix| fix.printed(None))
}

/// The kernel's number for FIFO 99, the highest priority but DEADLINE.
const HIGHEST: i32 = 0;

/// The fix with its row of the catalogue; `None` as of [`remedy`].
pub(crate) fn advice(cause: &Cause) -> Option<Remedy> {
    Some(match cause {
        Cause::TimerSlack => fix::TIMER_SLACK.plain().with_trial(&[]),
        Cause::Interrupt(Interrupt::Device { number, .. }) => {
            let number = number.to_string();
            fix::MOVE_INTERRUPT.with(&[&number]).with_trial(&[&number])
        }
        Cause::Ipi {
            sender: Some(sender),
            ..
        } => match &sender.thread {
            Some(thread) if thread.id != 0 || !thread.name.bytes().is_empty() => {
                fix::NO_SHARED_MEMORY.with(&[&thread.name.to_string(), &sender.cpu.to_string()])
            }
            _ => fix::ISOLATE.plain(),
        },
        Cause::Ipi { .. } => fix::ISOLATE.plain(),
        Cause::WokenFrom(_) => fix::TIMER_ON_OWN_CPU.plain(),
        Cause::SoftIrq { vector, .. } => softirq(*vector)?,
        Cause::OtherTimer(function)
            if &**function != "tick_nohz_handler" && &**function != "tick_sched_timer" =>
        {
            fix::TIMERS_ELSEWHERE.plain()
        }
        Cause::OtherTimer(_) => fix::NO_TICK.plain(),
        Cause::IdleExit { state: Some(state) } if *state > 0 => {
            fix::SHALLOW_IDLE.with(&[&state.to_string()])
        }
        Cause::Thread { thread, relation } => other_thread(thread, *relation),
        Cause::NotPreemptible(thread) => fix::PREEMPTIBLE_KERNEL.with(&[&thread.name.to_string()]),
        Cause::NothingRan => fix::OWN_HOST_CPUS.plain(),
        Cause::InterruptsOff(_) => fix::FIND_HOLDER.plain(),
        Cause::Throttled {
            budget: Some(budget),
            ..
        } => used_up(budget),
        Cause::Throttled { .. } => fix::SHARE.plain(),
        Cause::PageFault => fix::LOCK_MEMORY.plain(),
        Cause::PageWait(wait) => wait.remedy(),
        Cause::PageCopy(by) => fix::NO_FORK.with(&[&by.name.to_string()]),
        Cause::SystemCall(call) => calls::working(call)?,
        Cause::OwnInflation => fix::RECORD_CALLS.plain(),
        Cause::UserCode(RanIn::NotRecorded) => fix::RECORD_STACKS.plain(),
        Cause::UserCode(RanIn::NotSeen) => fix::TIME_SECTIONS.plain(),
        Cause::UserCode(RanIn::Function(place)) => {
            fix::SHORTEN_CODE.with(&[&place.function.to_string()])
        }
        Cause::Blocked(wait) => blocked(wait)?,
        Cause::Halted(halt) => halt.remedy(),
        Cause::Frequency => fix::HOLD_FREQUENCY.plain(),
        Cause::Spin(thread) => fix::MUTEX_FOR_SPIN_LOCK.with(&[&thread.name.to_string()]),
        Cause::OtherWork(_) => fix::OTHER_EXECUTOR.plain(),
        Cause::BeganLate => fix::FIRST_DUE_TIME_LAST.plain(),
        Cause::Moved { from, by, .. } => {
            let from = from.to_string();
            match by {
                Some(by) => fix::STAY_ON_CPU_SET_BY.with(&[&from, &by.name.to_string()]),
                None => fix::STAY_ON_CPU.with(&[&from]).with_trial(&[&from]),
            }
        }
        Cause::Overrun(because) => return advice(because),
        Cause::OwnTool(_) => fix::RECORDER_ELSEWHERE.plain(),
        _ => return None,
    })
}

fn other_thread(thread: &Thread, relation: Relation) -> Remedy {
    let name = thread.name.to_string();
    match relation {
        Relation::MoreUrgent if is_stopper(thread) => fix::NO_STOPPER.plain(),
        Relation::MoreUrgent if thread.priority < HIGHEST => fix::DEADLINE_ELSEWHERE.plain(),
        Relation::MoreUrgent if thread.priority == HIGHEST => fix::BELOW_HIGHEST.with(&[&name]),
        Relation::MoreUrgent => fix::HIGHER_PRIORITY.with(&[&name]),
        Relation::Inherits | Relation::Raised => fix::SHORT_BOOST.with(&[&name, &name]),
        Relation::Sibling => fix::OWN_PRIORITY_FOR_SIBLING.with(&[&name]),
        Relation::SamePriority => fix::LOWER_FOR_EQUAL.with(&[&name]),
        Relation::SharedAsOrdinary => fix::POLICY_FIRST.plain(),
        Relation::Shared => fix::REAL_TIME_POLICY.plain().with_trial(&[]),
        Relation::AheadOfTimer => fix::TIMER_IN_INTERRUPT.with(&[&name]),
    }
}

fn used_up(budget: &Budget) -> Remedy {
    let words = budget.fix();
    match budget {
        Budget::CpuQuota { file, .. } => {
            let value = if file.ends_with("cpu.max") {
                "max"
            } else {
                "-1"
            };
            fix::QUOTA
                .with(&[&words])
                .with_trial(&[&one_line(file), value])
        }
        Budget::GroupRealTime { .. } | Budget::MachineRealTime => {
            fix::REAL_TIME_BUDGET.with(&[&words])
        }
        Budget::FairServer => fix::FAIR_SERVER.with(&[&words]),
        Budget::Reservation => fix::RESERVATION.with(&[&words]),
    }
}

fn blocked(wait: &Wait) -> Option<Remedy> {
    if wait.meanwhile == Meanwhile::HeldBack {
        return Some(fix::NO_DELAY.plain());
    }
    let may_be_lock = may_be_lock(wait.call.as_ref(), wait.uninterruptible);
    let changes_memory = wait.call.as_ref();
    let changes_memory = changes_memory.is_some_and(|call| calls::is_of_memory(&call.name));
    if let Some(holder) = wait.chain.last().filter(|_| changes_memory) {
        return Some(fix::NO_MAPPING.with(&[&holder.name.to_string()]));
    }
    if let Some(call) = wait.call.as_ref().filter(|_| !may_be_lock) {
        let by_program = wait.chain.first().is_some_and(|of| !is_kernel_worker(of));
        if by_program && call.target.is_none() && calls::is_read(&call.name) {
            return Some(fix::READ_ELSEWHERE.plain());
        }
        if let Some(remedy) = calls::of_kind(call) {
            return Some(remedy);
        }
    }
    if wait.meanwhile == Meanwhile::Ran && wait.chain.last().is_some_and(stops_java) {
        return Some(fix::NO_SAFEPOINTS.plain());
    }
    let holder = wait.chain.last().map(|holder| holder.name.to_string());
    Some(match (&wait.meanwhile, &holder) {
        (Meanwhile::KeptOff { by, inversion }, Some(holder)) => {
            let by = by.name.to_string();
            if *inversion && may_be_lock {
                fix::PRIORITY_INHERITANCE.with(&[holder, holder, &by])
            } else {
                fix::HOLDER_ELSEWHERE.with(&[holder, &by])
            }
        }
        (Meanwhile::Stopped, Some(holder)) => {
            fix::NO_STOP.with(&[holder, &format!("find out who stops {holder}")])
        }
        (Meanwhile::Ran, Some(holder)) if may_be_lock => fix::SHORT_HOLD.with(&[holder, holder]),
        // Whatever the others of the chain do, the first one waits for it under the loop's lock.
        (Meanwhile::Slept | Meanwhile::Device(_), Some(holder)) if may_be_lock => {
            let first = wait.chain.first().map(|of| of.name.to_string());
            fix::NO_WAIT_UNDER_LOCK.with(&[first.as_ref().unwrap_or(holder)])
        }
        (_, Some(holder)) => fix::NO_WAIT_FOR.with(&[holder]),
        (Meanwhile::Slept, None) if wait.call.as_ref().is_some_and(Call::is_for_lock) => {
            fix::LOCK_IN_TIME.plain()
        }
        (Meanwhile::Slept, None) => fix::NO_SLEEP.plain(),
        (Meanwhile::Device(_), None) => fix::INPUT_ELSEWHERE.plain(),
        _ if wait.uninterruptible => fix::NO_FILES.plain(),
        _ => return wait.call.as_ref().and_then(calls::long),
    })
}

fn softirq(vector: SoftIrq) -> Option<Remedy> {
    Some(match vector.name() {
        "NET_RX" | "NET_TX" => fix::NETWORK_ELSEWHERE.plain(),
        "RCU" => fix::RCU_ELSEWHERE.plain(),
        "TIMER" | "HRTIMER" | "SCHED" => fix::FEW_SOFTIRQS.plain(),
        "BLOCK" => fix::DISK_ELSEWHERE.plain(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wait::Handler;
    use wakepath_timeline::{CallTarget, ThreadName};

    #[test]
    fn the_command_names_the_thread_that_is_to_be_tried() {
        let of_thread = |cause: &Cause, name| advice(cause).unwrap().printed(Some(name));
        let said = of_thread(&Cause::TimerSlack, "'my loop'");
        assert!(
            said.ends_with("wakepath try slack --thread='my loop' -- PROGRAM"),
            "{said}"
        );
        let none = of_thread(&Cause::PageFault, "ctl");
        assert!(!none.contains("ctl"), "{none}");
    }

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

    #[test]
    fn stacks_are_advised_only_for_a_run_without_them() {
        let said = |ran_in| remedy(&Cause::UserCode(ran_in)).unwrap();
        assert!(said(RanIn::NotRecorded).contains("--stacks"));
        assert!(!said(RanIn::NotSeen).contains("--stacks"));
    }

    #[test]
    fn what_the_loop_waits_for_is_known_by_who_ends_the_wait() {
        let said = |call: &str, name: &[u8]| {
            let of = Thread {
                id: 9,
                name: ThreadName::new(name),
                priority: 120,
            };
            let call = Call {
                name: call.into(),
                target: None,
            };
            let wait = Wait::new(vec![of], Meanwhile::Ran, Some(call));
            remedy(&Cause::Blocked(wait.into())).unwrap()
        };
        // Java's garbage collector holds no lock.
        let is_garbage = |name| said("futex", name).contains("garbage");
        assert!(is_garbage(b"VM Thread") && !is_garbage(b"logger"));
        // A program writes into a pipe or a socket, a worker of the kernel hands on what a port received.
        let is_port = |name| said("read", name).contains("serial adapter");
        assert!(is_port(b"kworker/u8:2") && !is_port(b"solver"));
    }

    #[test]
    fn what_would_change_nothing_is_not_advised() {
        let thread = |priority| Cause::Thread {
            thread: Thread {
                id: 9,
                name: ThreadName::new(b"irq"),
                priority,
            },
            relation: Relation::MoreUrgent,
        };
        let said = |priority| remedy(&thread(priority)).unwrap();
        assert!(said(9).contains("raise the loop's"));
        // Above FIFO 99 there is nothing, and a DEADLINE thread's CPUs can't be set.
        assert!(!said(0).contains("raise"));
        assert!(said(-1).contains("its own affinity can't be set"));
        let read = |target| Call {
            name: "read".into(),
            target: Some(target),
        };
        let adapter = |target| {
            let said = remedy(&Cause::SystemCall(read(target))).unwrap();
            said.contains("serial adapter")
        };
        assert!(adapter(CallTarget::Device("/dev/ttyS0".into())));
        assert!(!adapter(CallTarget::Socket) && !adapter(CallTarget::Pipe));
        // The kernel itself works in it, and nothing shows a device.
        let unknown = Call {
            name: "read".into(),
            target: None,
        };
        let said = remedy(&Cause::SystemCall(unknown)).unwrap();
        assert!(!said.contains("adapter") && said.contains("another thread read"));
    }

    #[test]
    fn a_wait_for_a_peer_is_a_socket_s_and_ends_with_a_time_out() {
        let wait = |name: &str, target: Option<CallTarget>| {
            let name = name.into();
            let timed_out = Meanwhile::Device(Handler::SoftIrq(SoftIrq::TIMER));
            let wait = Wait::new(Vec::new(), timed_out, Some(Call { name, target }));
            let wait = Cause::Blocked(wait.into());
            (wait.to_string(), remedy(&wait).unwrap())
        };
        for name in ["connect", "accept", "accept4"] {
            let (said, fix) = wait(name, None);
            let expected = format!("in {name}(): blocked until its time-out (SoftIRQ TIMER)");
            assert_eq!(said, expected);
            assert!(
                fix.contains("SOCK_NONBLOCK") && !fix.contains("device"),
                "{fix}"
            );
        }
        // SO_RCVTIMEO.
        let (said, _) = wait("recvfrom", Some(CallTarget::Socket));
        assert!(
            said.ends_with("blocked until its time-out (SoftIRQ TIMER)"),
            "{said}"
        );
        // A driver may poll by a timer.
        let device = Some(CallTarget::Device("/dev/i2c-1".into()));
        for (name, target) in [("ioctl", None), ("read", device)] {
            let (said, _) = wait(name, target);
            assert!(said.ends_with("until SoftIRQ TIMER woke it"), "{said}");
        }
    }
}
