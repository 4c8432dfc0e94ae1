//! Programs that are paused, or moved between control groups: real ones, started by the test.

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use wakepath_machine::Root;
use wakepath_readiness::Process;
use wakepath_test_program::not_run;
use wakepath_tuning::{Action, System};

wakepath_test_program::tests![
    a_paused_program_goes_on_as_before,
    another_program_with_the_same_number_is_left_alone,
    programs_are_moved_apart_and_back_and_a_group_is_emptied_before_it_goes,
];

/// A program that sleeps, and is ended with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    /// It is `sleep` only once it runs that: before, it is this test's own name.
    fn process(&self) -> Process {
        loop {
            let found = Process::read(&Root::host(), self.0.id()).unwrap();
            if found.name == "sleep" {
                return found;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn pause(process: &Process) -> Action {
    Action::Pause {
        pid: process.pid,
        name: process.name.clone(),
        started: process.started,
    }
}

/// The state that the kernel shows, once it is this one.
fn becomes(sleeper: &Sleeper, paused: bool) -> bool {
    (0..400).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        sleeper.process().paused == paused
    })
}

fn a_paused_program_goes_on_as_before() {
    let sleeper = Sleeper::start();
    let system = System::host();
    let action = pause(&sleeper.process());
    assert_eq!(system.read(&action).unwrap(), "running");
    system.set(&action, "paused").unwrap();
    assert!(becomes(&sleeper, true));
    assert_eq!(system.read(&action).unwrap(), "paused");
    system.set(&action, "running").unwrap();
    assert!(becomes(&sleeper, false));
}

fn another_program_with_the_same_number_is_left_alone() {
    let sleeper = Sleeper::start();
    let system = System::host();
    let mut earlier = sleeper.process();
    earlier.started -= 1;
    let why = system
        .set(&pause(&earlier), "paused")
        .unwrap_err()
        .to_string();
    assert!(why.contains("has gone"), "{why}");
    assert!(!sleeper.process().paused);
}

/// Two groups below the top set of control groups version 1.
struct Groups(PathBuf);

impl Groups {
    fn make() -> Option<Self> {
        let top = Path::new("/sys/fs/cgroup/cpuset");
        let place = top.join(format!("wakepath-test-{}", std::process::id()));
        std::fs::create_dir(&place).ok()?;
        let groups = Self(place);
        for group in [groups.0.clone(), groups.0.join("one"), groups.0.join("two")] {
            if group != groups.0 {
                std::fs::create_dir(&group).ok()?;
            }
            let parent = group.parent()?.to_owned();
            for file in ["cpuset.cpus", "cpuset.mems"] {
                let granted = std::fs::read_to_string(parent.join(file)).ok()?;
                std::fs::write(group.join(file), granted).ok()?;
            }
        }
        Some(groups)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn members(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.0.join(name).join("cgroup.procs")).unwrap();
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for name in ["one", "two", ""] {
            let _ = std::fs::remove_dir(self.0.join(name));
        }
    }
}

fn programs_are_moved_apart_and_back_and_a_group_is_emptied_before_it_goes() {
    let Some(groups) = Groups::make() else {
        not_run("needs root, and cpusets of control groups version 1");
    };
    let (first, second) = (Sleeper::start(), Sleeper::start());
    let all = [
        first.process().pid.to_string(),
        second.process().pid.to_string(),
    ];
    for pid in &all {
        std::fs::write(groups.0.join("one/cgroup.procs"), pid).unwrap();
    }
    let system = System::host();
    let apart = Action::Programs {
        from: groups.path("one"),
        to: groups.path("two"),
    };
    assert_eq!(system.read(&apart).unwrap(), groups.path("one"));
    system.set(&apart, &apart.value()).unwrap();
    assert_eq!(
        (groups.members("one").len(), groups.members("two").len()),
        (0, 2)
    );
    assert_eq!(system.read(&apart).unwrap(), groups.path("two"));
    system.set(&apart, &groups.path("one")).unwrap();
    assert_eq!(
        (groups.members("one").len(), groups.members("two").len()),
        (2, 0)
    );

    // The loop's own program, by itself.
    let process = first.process();
    let own = Action::Member {
        pid: process.pid,
        name: process.name,
        started: process.started,
        hierarchy: "/sys/fs/cgroup/cpuset".into(),
        group: groups.path("two").replace("/sys/fs/cgroup/cpuset", ""),
    };
    let before = system.read(&own).unwrap();
    system.set(&own, &own.value()).unwrap();
    assert_eq!(groups.members("two"), all[..1]);
    assert_eq!(system.read(&own).unwrap(), own.value());
    system.set(&own, &before).unwrap();

    // A group's processes move to its parent, then the group is removed.
    let group = Action::Directory {
        path: groups.path("one"),
    };
    system.set(&group, "absent").unwrap();
    assert!(!Path::new(&groups.path("one")).exists());
    assert_eq!(groups.members("").len(), 2);
    drop((first, second));
}
