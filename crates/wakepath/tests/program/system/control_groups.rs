//! Control groups that stop, refuse or confine a loop: real ones, made for a test and removed after it.

use crate::started::{Place, Start, binary, built, cpus, is_root, not_run};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};
use wakepath_timeline::{ControlGroup, Hierarchy};

wakepath_test_program::tests![
    root_in_a_group_without_a_real_time_budget_reads_which_file_to_write,
    a_cpu_outside_the_cpuset_is_refused_with_those_inside,
    a_quota_that_stops_the_program_is_named_by_watch_and_by_doctor,
    doctor_judges_the_program_and_not_itself,
    processes_are_watched_by_their_numbers_and_by_their_group,
];

/// A group below this process's own; removed at the end, when whatever was in it has ended.
pub struct Group {
    /// Its directory.
    pub path: PathBuf,
    /// As wakepath names it.
    name: String,
    pub is_v2: bool,
}

impl Group {
    /// `None` if this machine has no such controller here, or keeps it to itself.
    fn make(controller: &str) -> Option<Self> {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let hierarchies = Hierarchy::all(&read("/proc/self/mountinfo")?);
        let own = ControlGroup::new(controller, &hierarchies, &read("/proc/self/cgroup")?)?;
        let is_granted = !own.is_v2
            || read(&own.file("cgroup.subtree_control"))?
                .split_whitespace()
                .any(|name| name == controller);
        let name = format!("wakepath-test-{controller}-{}", std::process::id());
        let path = PathBuf::from(own.file(&name));
        if !is_granted || std::fs::create_dir(&path).is_err() {
            return None;
        }
        Some(Self {
            path,
            name: format!("{}/{name}", own.path.trim_end_matches('/')),
            is_v2: own.is_v2,
        })
    }

    /// What only root can test, or not at all here.
    pub fn needed(what: &str, controller: &str) -> Self {
        let group = is_root().then(|| Self::make(controller)).flatten();
        let why = format!("no control group with the controller {controller} can be made here");
        group.unwrap_or_else(|| not_run(what, &why))
    }

    pub fn write(&self, file: &str, text: &str) -> bool {
        std::fs::write(self.path.join(file), text).is_ok()
    }

    /// Wakepath with these words, from within the group.
    fn start(&self, place: Place, words: &str) -> Start {
        let file = self.path.join("cgroup.procs");
        let line = format!(
            "echo $$ > {} && exec {} {words}",
            file.display(),
            binary().display()
        );
        Start::shell_in(place, &line)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let begun = Instant::now();
        while std::fs::remove_dir(&self.path).is_err() && begun.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

fn root_in_a_group_without_a_real_time_budget_reads_which_file_to_write() {
    let what = "FIFO in a group without a real-time budget";
    let group = Group::needed(what, "cpu");
    let budget = group.path.join("cpu.rt_runtime_us");
    if std::fs::read_to_string(&budget).is_ok_and(|text| text.trim() != "0") || !budget.exists() {
        not_run(what, "this kernel's groups have no real-time budgets");
    }
    let finished = group
        .start(Place::new(), "exec --policy 'FIFO 10' -- true")
        .finish();
    let budget = budget.display().to_string();
    finished.assert_refused(1, &[&group.name, "no real-time budget", &budget]);
    assert!(
        !finished.said().contains("run as root"),
        "{}",
        finished.said()
    );
}

fn a_cpu_outside_the_cpuset_is_refused_with_those_inside() {
    let what = "a CPU outside the cpuset";
    let group = Group::needed(what, "cpuset");
    let (Some(first), Some(last)) = (cpus().first().copied(), cpus().last().copied()) else {
        not_run(what, "there is no CPU");
    };
    let is_set = group.write("cpuset.cpus", &last.to_string())
        && (group.is_v2 || group.write("cpuset.mems", "0"));
    if first == last || !is_set {
        not_run(what, "there is one CPU only, or the set can't be changed");
    }
    let words = format!("exec --policy 'OTHER nice 0' --cpu {first} -- true");
    let finished = group.start(Place::new(), &words).finish();
    let allowed = format!("allows CPU {last} only");
    finished.assert_refused(1, &[&group.name, &allowed, "cpuset.cpus"]);
}

fn a_quota_that_stops_the_program_is_named_by_watch_and_by_doctor() {
    let what = "a CPU quota";
    let group = Group::needed(what, "cpu");
    // So little that a busy machine gives the program more.
    let (file, is_set) = if group.is_v2 {
        ("cpu.max", group.write("cpu.max", "1000 100000"))
    } else {
        ("cpu.cfs_quota_us", group.write("cpu.cfs_quota_us", "1000"))
    };
    if !is_set {
        not_run(what, "this kernel has no CPU quotas");
    }
    let spin = format!(
        "echo $$ > {} && while :; do :; done",
        group.path.join("cgroup.procs").display()
    );
    let place = Place::new();
    let words = [
        "watch",
        "--all",
        "--for",
        "800ms",
        "--directory",
        "run",
        "--",
        "sh",
        "-c",
        &spin,
    ];
    let watched = Start::command_in(place, &words).finish();
    if watched.complaints.contains("can't watch") || watched.complaints.contains("not traced") {
        not_run(what, "there is no tracefs that this user may use");
    }
    let said = watched.said();
    // The text is folded at the width of a terminal.
    let text = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let named = format!("control group {} used up its CPU quota", group.name);
    let path = group.path.join(file).display().to_string();
    assert!(text.contains(&named) && text.contains(&path), "{said}");

    let program = Running(Command::new("sh").args(["-c", &spin]).spawn().unwrap());
    let procs = group.path.join("cgroup.procs");
    let begun = Instant::now();
    while std::fs::read_to_string(&procs).is_ok_and(|text| text.is_empty())
        && begun.elapsed() < Duration::from_secs(5)
    {
        std::thread::sleep(Duration::from_millis(5));
    }
    let pid = program.0.id().to_string();
    let words = ["doctor", "--explain", "S8", "--program", &pid];
    let doctor = Start::command(&words).finish();
    assert!(doctor.output.contains("bad"), "{}", doctor.said());
    assert!(doctor.output.contains(&group.name), "{}", doctor.said());
}

/// A program that is ended with its test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn doctor_judges_the_program_and_not_itself() {
    let program = Running(Command::new("sleep").arg("60").spawn().unwrap());
    let pid = program.0.id().to_string();
    let slack = Path::new("/proc").join(&pid).join("timerslack_ns");
    let can_slack = std::fs::write(slack, "3000000").is_ok();
    let finished = Start::command(&["doctor", "--json", "--program", &pid]).finish();
    let json = finished.json();
    assert!(json["subject"]["priority"].is_null(), "{}", finished.said());
    let state_of = |id: &str| {
        let checks = json["checks"].as_array().unwrap();
        let judged = checks.iter().find(|judged| judged["id"] == id).unwrap();
        judged["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state_of("L2"), "bad");
    if can_slack {
        assert_eq!(state_of("C2"), "bad");
    }
}

/// A program that is killed at the end.
struct Killed(Child);

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn processes_are_watched_by_their_numbers_and_by_their_group() {
    let what = "watching a control group";
    let group = Group::needed(what, "cpu");
    let place = Place::new();
    let program = built(&place, "same_numbers", what);
    let start = || Killed(Command::new(&program).spawn().unwrap());
    let (inside, outside) = (start(), start());
    let [inside_id, outside_id] = [&inside, &outside].map(|of| of.0.id());
    assert!(group.write("cgroup.procs", &inside_id.to_string()));
    let watched = |by: &[&str]| -> BTreeSet<u64> {
        let words = [
            &["watch", "--directory", "run", "--for", "1s", "--json"],
            by,
        ]
        .concat();
        let finished = Start::command(&words).finish();
        finished.skip_unless_watched(what);
        let json = finished.json();
        let threads = json["threads"].as_array().unwrap().iter();
        let late = threads.filter(|of| of["name"].as_str().unwrap().starts_with("late"));
        late.map(|of| of["process"].as_u64().unwrap()).collect()
    };
    let [one, other] = [inside_id, outside_id].map(|of| of.to_string());
    let both = BTreeSet::from([inside_id, outside_id].map(u64::from));
    assert_eq!(watched(&["--pid", &one, "--pid", &other]), both);
    let of_group = BTreeSet::from([u64::from(inside_id)]);
    assert_eq!(watched(&["--cgroup", &group.name]), of_group);
    let last = group.path.file_name().unwrap().to_str().unwrap();
    assert_eq!(watched(&["--cgroup", last]), of_group);
    let nowhere = format!("{last}-not");
    let finished = Start::command(&["watch", "--cgroup", &nowhere, "--for", "1s"]).finish();
    finished.assert_refused(1, &[&nowhere, "control group"]);
}
