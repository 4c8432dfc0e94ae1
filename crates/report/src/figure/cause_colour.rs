//! One colour for one kind of cause, in every figure and table of a page. The kernel's usual path and the
//! loop's own code are grey; red is for what is beyond a limit, so no cause has it.

/// The colour's class for a kind of cause.
pub(crate) fn of_kind(kind: &str) -> &'static str {
    match kind {
        "path" | "timer-delivery" | "timer-slack" | "own-code" | "user-code" | "own-inflation" => {
            "plain"
        }
        "thread" | "ran-on" | "other-work" | "moved" => "c0",
        "not-preemptible" => "c1",
        "interrupt" | "ipi" | "woken-from" => "c2",
        "idle-exit" | "frequency" | "page-fault" => "c3",
        "interrupts-off" => "c4",
        "softirq" => "c5",
        "other-timer" | "waker" | "overrun" => "c6",
        "nothing-ran" | "stopped" | "frozen" | "memory-wait" => "c7",
        "no-events" | "events-lost" => "c8",
        _ => "c9",
    }
}
