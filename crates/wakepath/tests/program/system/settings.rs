//! The kernel's settings of the running loop's thread: policy, priority, CPUs. Read from /proc while it
//! runs, and compared with the request and with wakepath's output.

use crate::started::{Finished, Role, Start, Task, loop_cpu, needs_real_time, tasks_of};
use std::collections::HashMap;
use std::time::Duration;

wakepath_test_program::tests![
    the_kernel_shows_for_the_running_loop_what_was_asked_for,
    threads_of_a_task_set_run_where_and_as_each_of_them_was_told,
];

/// A condition, and what the kernel must show for it: policy number (sched(7)), nice, real-time
/// priority.
const ASKED: [(&str, i64, i64, i64); 7] = [
    ("OTHER nice -5", 0, -5, 0),
    ("OTHER nice 7", 0, 7, 0),
    ("BATCH nice 3", 3, 3, 0),
    ("IDLE", 5, 0, 0),
    ("FIFO 50", 1, 0, 50),
    ("RR 99", 2, 0, 99),
    ("DEADLINE 300us", 6, 0, 0),
];

/// Runs all conditions. The run, its loops' processes in their order, and the last look at each of them.
fn loops_seen() -> (Finished, Vec<i32>, HashMap<i32, Task>) {
    let names: Vec<String> = ASKED
        .iter()
        .map(|(name, ..)| format!("\"{name}\""))
        .collect();
    let mut running = Start::scenario(&format!(
        "rate = \"500 Hz\"\nduration = \"600 ms\"\nwarm-up = \"100 ms\"\npolicies = [{}]\ncpu = {}\n\
         criterion = {{ miss-fraction = \"90 %\", policies = \"every\" }}\n",
        names.join(", "),
        loop_cpu()
    ))
    .start();
    // Each condition has a separate process; the last look at each counts, as a thread sets its policy
    // last.
    let mut order: Vec<i32> = Vec::new();
    let mut seen: HashMap<i32, Task> = HashMap::new();
    while !running.has_ended() {
        for pid in running.all_of(Role::Loop) {
            let task = tasks_of(pid).into_iter().find(|task| task.name == "loop");
            if let Some(task) = task
                && seen.insert(pid, task).is_none()
            {
                order.push(pid);
            }
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    (running.finish(), order, seen)
}

fn the_kernel_shows_for_the_running_loop_what_was_asked_for() {
    needs_real_time("policies as the kernel shows them");
    // While this test has to wait for its CPU, a loop may come and go.
    let seen = (0..4)
        .map(|_| loops_seen())
        .find(|(_, order, _)| order.len() == ASKED.len());
    let (finished, order, seen) = seen.expect("one process for each condition");
    // How well a BATCH or IDLE loop performs next to other work is not tested here.
    assert_ne!(finished.code(), Some(1), "{}", finished.said());
    let run = finished.run();
    for ((name, policy, nice, priority), (pid, segment)) in
        ASKED.iter().zip(order.iter().zip(&run.manifest.segments))
    {
        let task = &seen[pid];
        let thread = &segment.threads[0];
        let is_deadline = *policy == 6;
        assert_eq!(task.policy, *policy, "{name}: {task:?}");
        assert_eq!(task.real_time_priority, *priority, "{name}: {task:?}");
        assert_eq!(task.nice, *nice, "{name}: {task:?}");
        let cpus: Vec<String> = thread.cpus.iter().map(u16::to_string).collect();
        if !is_deadline {
            assert_eq!(task.cpus, loop_cpu().to_string(), "{name}: {task:?}");
            assert_eq!(cpus, [loop_cpu().to_string()], "{name}: as recorded");
        } else {
            // The kernel gives a deadline thread its whole root domain; the run must report that.
            let said = run
                .manifest
                .notes
                .iter()
                .any(|note| note.contains("can't be pinned"));
            assert_eq!(
                said,
                task.cpus != loop_cpu().to_string(),
                "{:?}",
                run.manifest.notes
            );
        }
        let requested = serde_json::to_value(thread.requested).unwrap();
        assert_eq!(
            thread.effective.details["policy"], requested,
            "{name}: as recorded"
        );
    }
}

fn threads_of_a_task_set_run_where_and_as_each_of_them_was_told() {
    needs_real_time("a task set");
    let cpus = crate::started::cpus();
    let (first, last) = (cpus[0], *cpus.last().unwrap());
    let running = Start::scenario(&format!(
        "duration = \"1500 ms\"\nwarm-up = \"100 ms\"\n\
         tasks = [\n\
         {{ name = \"inner\", rate = \"1 kHz\", policy = \"FIFO 60\", cpu = {last} }},\n\
         {{ name = \"outer\", rate = \"250 Hz\", policy = \"RR 40\", cpus = \"{first},{last}\" }},\n\
         {{ name = \"log\", rate = \"50 Hz\", policy = \"OTHER nice 5\", cpu = {first} }}]\n\
         criterion = {{ miss-fraction = \"90 %\" }}\n"
    ))
    .start();
    running.wait_until_recorded(0, 300);
    let tasks = tasks_of(running.the(Role::Loop));
    let finished = running.finish();
    let both = match cpus.len() {
        1 => first.to_string(),
        2 => format!("{first}-{last}"),
        _ => format!("{first},{last}"),
    };
    for (name, policy, nice, priority, on) in [
        ("inner", 1, 0, 60, last.to_string()),
        ("outer", 2, 0, 40, both),
        ("log", 0, 5, 0, first.to_string()),
    ] {
        let task = tasks.iter().find(|task| task.name == name).unwrap();
        let expected = Task {
            name: name.into(),
            policy,
            nice,
            real_time_priority: priority,
            cpus: on,
        };
        assert_eq!(*task, expected);
    }
    assert_ne!(finished.code(), Some(1), "{}", finished.said());
    let json = finished.json();
    let scheduled: Vec<_> = json["conditions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| {
            (
                c["name"]["task"].as_str().unwrap(),
                c["cycles"]["scheduled"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(scheduled, [("inner", 1500), ("outer", 375), ("log", 75)]);
}
