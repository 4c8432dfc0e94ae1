//! Why a callback was late, in one line: what held its thread, the longest part first.

use wakepath_ros2::{Account, During, Holder, Late, Wait, Waited};
use wakepath_timeline::duration::three_digits;

/// Less is not worth a word.
const LEAST_NS: u64 = 100_000;
/// Holders of one late run that are named.
const MOST_HOLDERS: usize = 3;

/// What held the executor, in one line, the longest first.
pub(super) fn why(late: &Late) -> String {
    let holders = late.holders.iter().filter(|of| of.share_ns >= LEAST_NS);
    let mut parts: Vec<String> = holders.clone().take(MOST_HOLDERS).map(held).collect();
    let more = holders.count().saturating_sub(MOST_HOLDERS) as u64;
    if let more @ 1.. = more + late.more_holders {
        parts.push(format!("{more} more"));
    }
    let unheld_ns = late.unheld_ns();
    if unheld_ns >= LEAST_NS && unheld_ns * 10 >= late.latency_ns {
        let longest_ns = late.holders.first().map_or(0, |of| of.share_ns);
        if unheld_ns > longest_ns {
            parts.insert(0, unheld(late, unheld_ns))
        } else {
            parts.push(unheld(late, unheld_ns))
        }
    }
    if parts.is_empty() {
        "no callback held its thread: the cause is unknown".into()
    } else {
        parts.join("; ")
    }
}

/// The part of a latency in no callback's run, with what its thread did in the longest piece of it.
fn unheld(late: &Late, unheld_ns: u64) -> String {
    let account = late.unheld.as_ref().and_then(|of| of.account.as_ref());
    let handled = late.unheld.as_ref().and_then(|of| of.handled.as_ref());
    match account {
        Some(of) if is_most(of.ready_ns, of) => format!(
            "its thread was ready to run for {}, {}",
            three_digits(of.ready_ns.cast_signed()),
            others(account)
        ),
        _ => {
            let outside = three_digits(unheld_ns.cast_signed());
            let what = account.and_then(outside_callbacks);
            if let Some(handled) = handled {
                let what = what.map_or(String::new(), |what| format!(", {what}"));
                return format!("{handled} held its thread for up to {outside}{what}");
            }
            match what {
                Some(what) => format!("no callback held its thread for {outside}, {what}"),
                None => format!("no callback held its thread for {outside}: the cause is unknown"),
            }
        }
    }
}

fn held(holder: &Holder) -> String {
    let ran = three_digits((holder.to_ns - holder.from_ns).cast_signed());
    let what = match (holder.is_itself, holder.same_thread) {
        (true, _) => format!("its own run before took {ran}"),
        (false, true) => format!("{} ran {ran}", holder.callback),
        (false, false) => format!(
            "{} of the same node ran {ran} on another thread",
            holder.callback
        ),
    };
    match holder.account.as_ref().and_then(inside) {
        Some(inside) => format!("{what}, {inside}"),
        None => what,
    }
}

/// Threads that had the CPU in that time.
fn others(account: Option<&Account>) -> String {
    match account.and_then(|of| of.others.as_ref()) {
        Some((ns, name)) => format!(
            "while others ran on its CPU, {name} longest ({})",
            three_digits(ns.cast_signed())
        ),
        None => "while others ran on its CPU".into(),
    }
}

/// Time of a run that was not running, if it is half of it or more.
fn inside(account: &Account) -> Option<String> {
    if is_most(account.ready_ns, account) {
        let ready = three_digits(account.ready_ns.cast_signed());
        return Some(format!("{ready} of it ready {}", others(Some(account))));
    }
    let longest = account.longest.as_ref()?;
    if !is_most(account.waiting_ns, account) || longest.ns < LEAST_NS {
        return None;
    }
    let waiting = three_digits(longest.ns.cast_signed());
    Some(format!("{waiting} of it {}", for_what(longest)))
}

/// A wait's reason: what ended it, and why that came no earlier.
fn for_what(wait: &Wait) -> String {
    let during = match (&wait.during, &wait.by) {
        (Some(During::Answer(of)), _) => return format!("waiting for the answer of {of}"),
        (_, Waited::Timer { late_ns }) => {
            let late_ns = late_ns.filter(|late_ns| late_ns * 2 >= wait.ns);
            return late_ns.map_or("asleep until a timer".into(), |late_ns| {
                format!(
                    "asleep until a timer, which expired {} late: interrupts off, or the CPU was stalled",
                    three_digits(late_ns.cast_signed())
                )
            });
        }
        (_, Waited::Interrupt) => return "waiting for an interrupt".into(),
        (Some(During::Ran(callback)), _) => format!(", which ran {callback}"),
        (None, _) => String::new(),
    };
    let Waited::Thread(name) = &wait.by else {
        return String::new();
    };
    let number = wait.thread.map_or(String::new(), |of| format!(" {of}"));
    let woke = format!("waiting until {name}{number} woke it{during}");
    let did = wait.waker.as_ref().and_then(|of| did(of));
    match (did, during.is_empty()) {
        (Some(did), true) => format!("{woke}, which was {did}"),
        (Some(did), false) => format!("{woke} and was {did}"),
        (None, _) => woke,
    }
}

/// What kept the thread that ended a wait, if one thing did for half of the time or more.
fn did(account: &Account) -> Option<String> {
    let of = |ns: u64| three_digits(ns.cast_signed());
    if is_most(account.ready_ns, account) {
        return Some(format!(
            "ready to run for {}, {}",
            of(account.ready_ns),
            others(Some(account))
        ));
    }
    if is_most(account.on_cpu_ns, account) {
        return Some(format!("on a CPU for {}", of(account.on_cpu_ns)));
    }
    let longest = account.longest.as_ref()?;
    is_most(longest.ns, account).then(|| for_what(longest))
}

/// Time of a thread in no callback: its program may sleep or work between callbacks.
fn outside_callbacks(account: &Account) -> Option<String> {
    if is_most(account.on_cpu_ns, account) {
        let ran = three_digits(account.on_cpu_ns.cast_signed());
        Some(format!(
            "{ran} of it on a CPU, in the program outside callbacks"
        ))
    } else {
        inside(account)
    }
}

/// Whether a part of an account is half of it or more, and worth a word.
fn is_most(part_ns: u64, account: &Account) -> bool {
    account.is_most(part_ns) && part_ns >= LEAST_NS
}
