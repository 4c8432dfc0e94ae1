//! Loops that are late because of something outside their own code, watched for a second or more: the first cause must
//! be the one that the program was made to produce, with most of the lateness. The program is `disturbed.c`.

use crate::started::{
    Finished, Place, Start, built, cpus, loop_cpu, needs_real_time, needs_tracing, not_run,
};
use crate::system::control_groups::Group;
use serde_json::Value;

wakepath_test_program::tests![
    a_move_by_another_process_is_named_with_who_made_it,
    a_lock_of_the_address_space_is_named_with_its_holder,
    the_fair_server_is_no_code_that_can_t_be_preempted,
    code_in_user_mode_is_never_code_that_can_t_be_preempted,
    a_group_s_real_time_budget_is_one_cause_with_the_group_s_file,
    one_page_fault_is_charged_its_own_time_alone,
    a_late_sender_is_found_and_no_cause_on_this_machine,
    a_step_of_the_wall_clock_is_found,
];

const WHAT: &str = "watching a loop that is disturbed";

/// One cause of the loop's late cycles.
struct Charged {
    kind: String,
    cause: String,
    remedy: String,
    ns: u64,
}

/// A watched way of being late.
struct Disturbed {
    finished: Finished,
    /// The causes, the largest first.
    causes: Vec<Charged>,
    late_ns: u64,
}

impl Disturbed {
    fn watch(way: &str, time: &str) -> Self {
        Self::watch_through(&[], way, time)
    }

    /// Of the program started by these words.
    fn watch_through(before: &[&str], way: &str, time: &str) -> Self {
        needs_tracing(WHAT);
        needs_real_time(WHAT);
        let other = cpus().into_iter().find(|cpu| *cpu != loop_cpu());
        let Some(other) = other else {
            not_run(WHAT, "one CPU only");
        };
        let _turn = super::turn();
        let place = Place::new();
        let program = built(&place, "disturbed", WHAT);
        let words = ["watch", "--json", "--directory", "run", "--for", time];
        let finished = Start::command_in(place, &words)
            .with(&["--latency", "1ms", "--"])
            .with(before)
            .with(&[program.as_os_str()])
            .with(&[way, &loop_cpu().to_string(), &other.to_string()])
            .finish();
        finished.skip_unless_watched(WHAT);
        let run = finished.run();
        let explained = Start::command(&["explain", "--json"])
            .with(&[run.directory().as_os_str()])
            .finish();
        explained.assert_code(0);
        let json = explained.json();
        let mut conditions = json["conditions"].as_array().unwrap().iter();
        let condition = conditions.find(|one| one["thread"] == "control");
        let condition = condition.unwrap_or_else(|| panic!("no control: {json}"));
        let text = |cause: &Value, key: &str| cause[key].as_str().unwrap_or_default().to_owned();
        let causes = condition["causes"].as_array().unwrap().iter();
        let causes = causes.map(|cause| Charged {
            kind: text(cause, "kind"),
            cause: text(cause, "cause"),
            remedy: text(cause, "remedy"),
            ns: cause["late_ns"].as_u64().unwrap(),
        });
        Self {
            causes: causes.collect(),
            late_ns: condition["late_ns"].as_u64().unwrap(),
            finished,
        }
    }

    fn said(&self) -> String {
        let line = |of: &Charged| format!("{} ns {}: {}; {}", of.ns, of.kind, of.cause, of.remedy);
        let lines: Vec<String> = self.causes.iter().map(line).collect();
        format!("of {} ns:\n{}", self.late_ns, lines.join("\n"))
    }

    /// Share of the lateness that the causes have for which this holds, in percent.
    fn share(&self, which: impl Fn(&Charged) -> bool) -> u64 {
        let ns: u64 = self
            .causes
            .iter()
            .filter(|of| which(of))
            .map(|of| of.ns)
            .sum();
        ns * 100 / self.late_ns.max(1)
    }

    /// The first cause has this kind, and these parts in its name; all causes like it have at least this share of the lateness.
    #[track_caller]
    fn assert_first(&self, kind: &str, parts: &[&str], least_percent: u64) -> &Charged {
        let is_one =
            |of: &Charged| of.kind == kind && parts.iter().all(|part| of.cause.contains(part));
        let first = self.causes.first();
        assert!(first.is_some_and(is_one), "{}", self.said());
        let share = self.share(is_one);
        assert!(share >= least_percent, "{share} %: {}", self.said());
        first.unwrap()
    }

    /// The loop's finding of this kind.
    #[track_caller]
    fn finding(&self, kind: &str) -> Value {
        let json = self.finished.json();
        let threads = json["threads"].as_array().unwrap();
        let control = threads.iter().find(|of| of["name"] == "control");
        let control = control.unwrap_or_else(|| panic!("{}", self.finished.said()));
        let mut findings = control["findings"].as_array().unwrap().iter();
        let found = findings.find(|finding| finding["kind"] == kind);
        found.unwrap_or_else(|| panic!("{control}")).clone()
    }
}

fn a_move_by_another_process_is_named_with_who_made_it() {
    let disturbed = Disturbed::watch("moved", "2500ms");
    let parts = ["moved from CPU", " by placer", "modem"];
    let first = disturbed.assert_first("moved", &parts, 50);
    assert!(
        first.remedy.contains("placer changed its CPUs"),
        "{}",
        first.remedy
    );
}

fn a_lock_of_the_address_space_is_named_with_its_holder() {
    let disturbed = Disturbed::watch("memory-lock", "2s");
    let first = disturbed.assert_first("blocked-on-thread", &["on loader"], 60);
    let fix = "none of large memory in loader while the loop runs";
    assert!(first.remedy.contains(fix), "{}", disturbed.said());
}

/// Version of the running kernel: major and minor.
pub(super) fn kernel() -> (u32, u32) {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release
        .split(['.', '-'])
        .map(|part| part.parse().unwrap_or(0));
    (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0))
}

fn the_fair_server_is_no_code_that_can_t_be_preempted() {
    if kernel() < (6, 12) {
        not_run(WHAT, "this kernel has no fair server");
    }
    let disturbed = Disturbed::watch("starving", "3500ms");
    disturbed.assert_first("throttled", &["throttled: the fair server"], 60);
    let share = disturbed.share(|of| of.kind == "not-preemptible");
    assert!(share < 5, "{share} %: {}", disturbed.said());
}

fn code_in_user_mode_is_never_code_that_can_t_be_preempted() {
    let disturbed = Disturbed::watch("user-mode", "2s");
    let is_it = |of: &Charged| of.kind == "not-preemptible" && of.cause.contains("poller");
    assert_eq!(disturbed.share(is_it), 0, "{}", disturbed.said());
}

fn a_group_s_real_time_budget_is_one_cause_with_the_group_s_file() {
    let group = Group::needed(WHAT, "cpu");
    let is_set =
        group.write("cpu.rt_period_us", "100000") && group.write("cpu.rt_runtime_us", "20000");
    if !is_set {
        not_run(
            WHAT,
            "this kernel's groups have no real-time budgets to give",
        );
    }
    let join = format!(
        "echo $$ > {} && exec \"$@\"",
        group.path.join("cgroup.procs").display()
    );
    let disturbed = Disturbed::watch_through(&["sh", "-c", &join, "sh"], "budget", "2s");
    let first = disturbed.assert_first("throttled", &["used up its real-time budget"], 60);
    assert!(
        first.remedy.contains("cpu.rt_runtime_us"),
        "{}",
        first.remedy
    );
    let throttled = disturbed.causes.iter().filter(|of| of.kind == "throttled");
    assert_eq!(throttled.count(), 1, "{}", disturbed.said());
}

fn one_page_fault_is_charged_its_own_time_alone() {
    let disturbed = Disturbed::watch("computing", "2s");
    // The cycles after a long one are late because of it.
    let is_own = |of: &Charged| {
        of.cause.contains("longer than usual")
            && ["user-code", "own-inflation", "overrun"].contains(&&*of.kind)
    };
    assert!(is_own(&disturbed.causes[0]), "{}", disturbed.said());
    assert!(disturbed.share(is_own) >= 60, "{}", disturbed.said());
    let faults = disturbed.share(|of| of.cause.contains("page fault"));
    assert!(faults < 5, "{faults} %: {}", disturbed.said());
}

fn a_late_sender_is_found_and_no_cause_on_this_machine() {
    let disturbed = Disturbed::watch("packets", "3s");
    let finding = disturbed.finding("woken-late");
    let number = |key: &str| finding[key].as_u64().unwrap();
    assert!(number("times") >= 3, "{finding}");
    assert!(number("longest_ns") >= 39_000_000, "{finding}");
    // The network wakes it within the sender's call.
    let waker = finding["waker"].as_str().unwrap();
    assert!(waker.starts_with("sender"), "{finding}");
    assert!(number("latency_ns") < number("longest_ns"), "{finding}");
}

fn a_step_of_the_wall_clock_is_found() {
    let disturbed = Disturbed::watch("clock", "3s");
    let finding = disturbed.finding("wall-clock");
    assert!(finding["gaps"].as_u64().unwrap() >= 2, "{finding}");
    let longest_ns = finding["longest_ns"].as_u64().unwrap();
    assert!(
        (200_000_000..400_000_000).contains(&longest_ns),
        "{finding}"
    );
}
