//! A traced run that is killed, in any of its processes and at any time: nothing of it is left in the
//! kernel.

use crate::started::{Start, ask, is_root, loop_cpu, not_run, wait_until};
use wakepath_probe::Tracefs;

wakepath_test_program::tests![a_traced_run_that_is_killed_leaves_no_instance_after_its_recovery,];

/// A short run that is traced in this way.
pub fn scenario(mode: &str) -> String {
    format!(
        "rate = \"500 Hz\"\ncycles = 400\nwarm-up = \"100 ms\"\npolicies = [\"OTHER\"]\ncpu = {}\n\
         trace = {{ mode = \"{mode}\" }}\ncriterion = {{ miss-fraction = \"90 %\" }}\n",
        loop_cpu()
    )
}

/// Names of our instances; `None` if this user has no tracefs. On a separate thread: it might have to mount
/// tracefs, and is in another mount namespace then.
pub fn instances() -> Option<Vec<String>> {
    let look = || {
        let tracefs = Tracefs::find_or_mount().ok()?;
        let entries = std::fs::read_dir(tracefs.root().join("instances")).ok()?;
        let names = entries
            .flatten()
            .filter_map(|entry| entry.file_name().into_string().ok());
        Some(names.filter(|name| name.starts_with("wakepath-")).collect())
    };
    std::thread::spawn(look).join().unwrap()
}

/// The instances that were not there before.
fn new_since(before: &[String]) -> Vec<String> {
    let mut names = instances().unwrap_or_default();
    names.retain(|name| !before.contains(name));
    names
}

fn a_traced_run_that_is_killed_leaves_no_instance_after_its_recovery() {
    let what = "killing a traced run";
    let Some(before) = instances().filter(|_| is_root()) else {
        not_run(what, "there is no tracefs that this user may use");
    };
    // While the probe sets up; in the untraced or traced half of the run; in the other.
    for moment in ["set-up", "first segment", "second segment"] {
        let running = Start::scenario(&scenario("drained")).start();
        wait_until("an instance", || !new_since(&before).is_empty());
        match moment {
            "first segment" => running.wait_until_recorded(0, 100),
            "second segment" => running.wait_until_recorded(1, 100),
            _ => {}
        }
        running.kill_all();
        let finished = running.finish();
        finished.wait_until_nobody_is_left();
        let recovered = ask("recover", &finished.directory);
        // A run killed before its first event can't be recovered; its instance is removed all the same.
        if recovered.code() != Some(0) {
            wakepath_probe::remove_orphans().unwrap();
        }
        assert_eq!(
            new_since(&before),
            Vec::<String>::new(),
            "killed in {moment}"
        );
    }
}
