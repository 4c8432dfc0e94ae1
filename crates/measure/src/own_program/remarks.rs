//! Remarks on a program's loops besides their samples, from their state in the shared memory: anything not
//! recorded, not timed, not logged.

use std::sync::atomic::Ordering;
use wakepath_measured_loop::ThreadSpec;
use wakepath_rt::sections;
use wakepath_rt::shared::SharedMemory;
use wakepath_timeline::one_line;

/// One line each.
pub(super) fn of(memory: &SharedMemory, threads: &[ThreadSpec]) -> Vec<String> {
    let mut remarks = Vec::new();
    let unrecorded = memory.words().unrecorded.load(Ordering::Acquire);
    if unrecorded > 0 {
        let loops = match unrecorded {
            1 => "1 more loop of the program is".to_owned(),
            more => format!("{more} more loops of the program are"),
        };
        let names: Vec<String> = memory
            .words()
            .left_out()
            .iter()
            .map(|name| one_line(name))
            .collect();
        remarks.push(format!(
            "{loops} not recorded ({}): created after the others had begun, or with a name that is taken or not in \
             the scenario",
            names.join(", ")
        ));
    }
    if memory.words().in_a_child.load(Ordering::Acquire) > 0 {
        remarks.push(
            "a forked child of the program continued one of its loops, which ended there; none of its samples are \
             in the run: create a loop in the process that runs it"
                .into(),
        );
    }
    for (ring, thread) in (0..).zip(threads) {
        let (sections, formats) = memory.announcement(ring).beyond();
        if sections > 0 {
            remarks.push(format!(
                "{}: {sections} sections above a loop's maximum of {} are not timed",
                thread.name,
                sections::MOST
            ));
        }
        if formats > 0 {
            remarks.push(format!(
                "{}: {formats} lines or values were left out: a loop may have {} formats and names of values, \
                 with arguments that can be copied, 8 at most",
                thread.name,
                wakepath_rt::said::MOST_FORMATS
            ));
        }
        for section in memory.announcement(ring).sections() {
            if section.unbalanced > 0 {
                remarks.push(format!(
                    "{}: the section `{}` was begun twice or ended without a beginning {} times; those \
                     runs are not timed",
                    thread.name,
                    one_line(&section.name),
                    section.unbalanced
                ));
            }
        }
    }
    remarks
}
