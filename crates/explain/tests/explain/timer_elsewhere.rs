//! A loop whose timer expires on another CPU than it runs on, as on a CPU of `nohz_full`.

use crate::stream::*;
use wakepath_explain::WokenBy;
use wakepath_timeline::{Interrupt, Left, What};

wakepath_test_program::tests![
    the_interrupt_that_brings_the_wake_up_is_told_from_others,
    a_device_s_interrupt_is_not_the_timer_s_of_the_other_cpu,
];

/// The timer on CPU 0 wakes the idle CPU 1 by a function call, followed by another CPU's call.
fn woken_from_cpu_0(calls: &[(u64, u64)]) -> Stream {
    let mut stream = Stream::with(idle(), fifo());
    let current = 0;
    let thread = fifo();
    let waking = What::Waking {
        thread: thread.clone(),
        target_cpu: 1,
    };
    let callback = "".into();
    let call = What::IpiSend {
        target_cpu: Some(1),
        callback,
    };
    let entry = What::InterruptEntry(Interrupt::LocalTimer);
    let exit = What::InterruptExit(Interrupt::LocalTimer);
    let function = "hrtimer_wakeup".into();
    let expiry = What::TimerExpiryEntry { timer: 7, function };
    stream
        .on(0, DUE + 2 * US, current, entry)
        .on(0, DUE + 3 * US, current, expiry)
        .on(0, DUE + 4 * US, current, waking)
        .on(0, DUE + 4 * US + 200, current, call)
        .on(
            0,
            DUE + 4 * US + 500,
            current,
            What::TimerExpiryExit { timer: 7 },
        )
        .on(0, DUE + 5 * US, current, exit);
    for (from_us, to_us) in calls {
        stream.interrupt(
            DUE + from_us * US,
            DUE + to_us * US,
            Interrupt::CallFunction,
        );
    }
    stream.cpus = vec![1];
    stream.run(DUE + 30 * US, DUE, Left::Runnable);
    stream
}

fn the_interrupt_that_brings_the_wake_up_is_told_from_others() {
    let stream = woken_from_cpu_0(&[(7, 11), (15, 18)]);
    let cycle = &stream.explain()[0];
    assert_eq!(cycle.woken, WokenBy::Direct);
    assert_eq!(of_kind(cycle, "woken-from"), 4_000);
    assert_eq!(of_kind(cycle, "ipi"), 3_000);
    let own = "the wake-up's own interrupt from CPU 0, where the timer expired";
    assert!(
        beyond_usual(cycle).contains(&(own.into(), 4_000)),
        "{:?}",
        beyond_usual(cycle)
    );
}

fn a_device_s_interrupt_is_not_the_timer_s_of_the_other_cpu() {
    let device = Interrupt::Device {
        number: 36,
        name: "eth0".into(),
    };
    let mut stream = woken_from_cpu_0(&[(7, 11)]);
    // While CPU 0 is still in its timer's interrupt.
    stream.current = idle();
    stream.interrupt(DUE + 4 * US + 300, DUE + 6 * US, device);
    stream.events.sort_by_key(|event| event.at_ns);
    let cycle = &stream.explain()[0];
    assert_eq!(of_kind(cycle, "interrupt"), 1_700);
}
