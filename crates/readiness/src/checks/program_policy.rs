//! Whether the program that is named runs under a real-time policy.

use crate::{Check, Confidence, Finding, Group, Inspection, ProgramThread, Severity};

pub const CHECKS: &[Check] = &[Check {
    id: "L2",
    group: Group::Limits,
    title: "real-time policy of the program",
    reads: "/proc/PID/task/*/stat of the program",
    why: "An ordinary loop shares its CPU with all other ordinary threads, and waits milliseconds for its turn \
          under load. A program that was refused FIFO often continues without it.",
    now: "wakepath exec --policy 'FIFO 80' -- COMMAND, or chrt -f -p 80 TID for the loop's thread",
    boot: "",
    weight: Severity::Grave,
    confidence: Confidence::Source,
    judge: policy,
}];

fn policy(seen: &Inspection) -> Finding {
    let path = "/proc/PID/task";
    let Some(program) = &seen.subject.program else {
        return Finding::does_not_apply("no program given (--program)", path);
    };
    let (Some(pid), Some(leading)) = (program.pid, seen.leading_thread()) else {
        return Finding::unknown(format!("{} does not run", program.name), path);
    };
    let path = format!("/proc/{pid}/task");
    let of_thread = |thread: &ProgramThread| {
        let (name, tid) = (&thread.name, thread.tid);
        format!("{} of {name} ({tid})", thread.policy_words())
    };
    if leading.is_real_time() {
        return Finding::good(of_thread(leading), path);
    }
    match &seen.program_threads[..] {
        [only] => Finding::bad(of_thread(only), path)
            .remedied_by(format!("chrt -f -p 80 {}", only.tid)),
        all => Finding::bad(
            format!("none of its {} threads has one", all.len()),
            path,
        )
        .remedied_by(format!(
            "chrt -f -p 80 TID for the thread of the loop: wakepath watch --pid {pid} shows which one that is"
        )),
    }
}
