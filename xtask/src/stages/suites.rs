//! The suites of tests. `--show-output` makes a test's "not run" visible, so that it is counted as
//! skipped.

use super::outcome::Outcome;
use super::programs::{self, Program};
use crate::bench::released_program;
use crate::job::Job;
use crate::place;
use crate::tools::{cargo, missing_target, wait_for_set_up};
use std::path::Path;
use std::process::Command;

/// All rooms but those whose tests measure time, and but the command.
pub fn tests(job: &Job) -> Outcome {
    of_programs(job, |program| {
        !program.measures_time() && !program.starts_the_program()
    })
}

/// The rooms whose tests run real loops, loads and tracers on this machine.
pub fn machine(job: &Job) -> Outcome {
    of_programs(job, |program| {
        program.measures_time() && !program.starts_the_program()
    })
}

fn of_programs(job: &Job, wanted: impl Fn(&Program) -> bool) -> Outcome {
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    let wanted = programs.iter().filter(|program| wanted(program));
    let outcomes = wanted.map(|program| program.run(job, &[]));
    outcomes.fold(Outcome::default(), Outcome::and).of_some()
}

/// The crates that have optional features, without them.
pub fn default_features(job: &Job) -> Outcome {
    let crates = ["wakepath-rt", "wakepath-statistics", "wakepath-timeline"];
    let mut arguments = vec!["test", "--locked", "--no-fail-fast", "--lib", "--tests"];
    arguments.extend(crates.iter().flat_map(|name| ["--package", name]));
    suite(job, &arguments)
}

/// Tests that read their own process's memory and so can't share it with other tests.
pub fn alone(job: &Job) -> Outcome {
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    let outcomes =
        ALONE.iter().map(
            |test| match programs.iter().find(|program| program.has(job, test)) {
                Some(program) => {
                    let only = ["--include-ignored", "--exact", ONE_AT_A_TIME, test];
                    program.run(job, &only).of_some()
                }
                None => Outcome::new(Some(format!("no test program has {test}"))),
            },
        );
    outcomes.fold(Outcome::default(), Outcome::and)
}

/// A million random sets played through, and a sweep on a cluster that loses a worker.
pub fn sweeps(job: &Job) -> Outcome {
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    one(job, programs, PLAYED).and(released(job, &["sweeps::", "--ignored"]))
}

/// Simulates every proved cell of the table of combinations with 20 000 random sets, or
/// `WAKEPATH_SETS`, with the counts. These stay in the target directory, so that an interrupted campaign
/// of the same build resumes.
pub fn played_sets(job: &Job) -> Outcome {
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    match programs.iter().find(|program| program.has(job, EACH_CELL)) {
        Some(program) => {
            let cells = ["no_job_of_20_000_sets", "--ignored", "--show-output"];
            let mut command = program.command(&cells);
            command.env(
                "WAKEPATH_PLAYED_DIRECTORY",
                place::target().join("played-sets"),
            );
            // The stage's time limit would end it without reporting the number of sets.
            command.env("WAKEPATH_PLAYED_MINUTES", "80");
            let outcome = program.outcome(job, &mut command).of_some();
            let reached = ["exact_bounds_are_reached", "--show-output"];
            let outcome = outcome.and(program.run(job, &reached).of_some());
            noting_counts(job, outcome, "played: ")
        }
        None => Outcome::new(Some(format!("no test program has {EACH_CELL}"))),
    }
}

const EACH_CELL: &str =
    "played::campaign::no_job_of_20_000_sets_for_each_cell_of_p_fp_is_later_than_its_bound";

/// Frequency with which printed bounds hold, over families of series with a known law.
pub fn coverage(job: &Job) -> Outcome {
    match programs::all(job) {
        Ok(programs) => one(job, programs, COVERAGE),
        Err(outcome) => outcome,
    }
}

/// Verdicts on simulated runs whose misses depend on each other.
pub fn verdicts(job: &Job) -> Outcome {
    match programs::all(job) {
        Ok(programs) => one(job, programs, VERDICTS),
        Err(outcome) => outcome,
    }
}

/// A day of a service's cycles, in bounded memory and room.
pub fn service(job: &Job) -> Outcome {
    match programs::all(job) {
        Ok(programs) => one(job, programs, A_DAY),
        Err(outcome) => outcome,
    }
}

fn one(job: &Job, programs: &[Program], test: &str) -> Outcome {
    match programs.iter().find(|program| program.has(job, test)) {
        Some(program) => program
            .run(job, &["--include-ignored", "--exact", test])
            .of_some(),
        None => Outcome::new(Some(format!("no test program has {test}"))),
    }
}

const COVERAGE: &str = "bounds_of_every_family_hold";

const A_DAY: &str = "full_speed::a_day_at_full_speed_takes_no_more_memory_than_its_first_hours";

const VERDICTS: &str = "verdicts_keep_their_level_up_to_a_million_due_times";

const PLAYED: &str = "global::what_is_accepted_of_a_million_sets_never_misses";

/// The tests of `alone`, in whichever program contains each.
const ALONE: &[&str] = &[
    "size::six_million_samples_are_finished_and_read_within_300_mb",
    "page::size::ten_conditions_of_600_000_cycles_make_a_small_page_in_little_memory",
];

/// The released program's command line, four tests at a time: a run of one disturbs another's no more
/// than a busy machine does.
pub fn commands(job: &Job) -> Outcome {
    // The programs' runner takes one name at a time.
    let of = |name| released(job, &[name, FOUR_AT_A_TIME]);
    of("command_line::")
        .and(of("own_controller::"))
        .and(of("own_loop::"))
        .and(of("planted::"))
}

/// The released program as users start it: these tests mostly wait for loops. Tests that change or
/// count global state of the machine run after them, alone.
pub fn system(job: &Job) -> Outcome {
    released(job, &["system::", FOUR_AT_A_TIME])
        .and(released(job, &["whole_machine::", ONE_AT_A_TIME]))
}

/// The released program's loops that take their CPU for long, or must have it for themselves.
pub fn by_itself(job: &Job) -> Outcome {
    released(job, &["by_itself::", ONE_AT_A_TIME])
}

const ONE_AT_A_TIME: &str = "--test-threads=1";
const TWO_AT_A_TIME: &str = "--test-threads=2";
const FOUR_AT_A_TIME: &str = "--test-threads=4";

/// The laboratory, with a real emulator and Debian's kernels: guests boot for minutes, each on one of the
/// host's CPUs.
pub fn lab(job: &Job) -> Outcome {
    released(job, &["lab::", "--ignored", TWO_AT_A_TIME])
}

/// Processes killed at random points of runs, watches and changed settings, with their counts.
pub fn kills(job: &Job) -> Outcome {
    let arguments = ["kills::", "--ignored", ONE_AT_A_TIME, "--nocapture"];
    let outcome = released(job, &arguments).and(killed_tuning(job));
    noting_counts(job, outcome, "kills: ")
}

/// Runs with one trouble planted in any of their segments, with their counts.
pub fn planted(job: &Job) -> Outcome {
    let arguments = ["planted::", "--ignored", "--nocapture"];
    noting_counts(job, released(job, &arguments), "planted: ")
}

/// Three languages in one recording for ten minutes, or `WAKEPATH_LANGUAGES_SECONDS`, with their
/// counts.
pub fn languages(job: &Job) -> Outcome {
    let arguments = [
        "own_loop::languages::",
        "--ignored",
        ONE_AT_A_TIME,
        "--nocapture",
    ];
    noting_counts(job, released(job, &arguments), "languages: ")
}

/// Process data exchanged at 1 kHz for ten minutes, each exchange accounted for.
pub fn ethercat(job: &Job) -> Outcome {
    released(job, &["system::ethercat::", "--ignored", ONE_AT_A_TIME])
}

/// Each published experiment in its short form.
pub fn experiments(job: &Job) -> Outcome {
    released(job, &["system::experiments::", "--ignored", ONE_AT_A_TIME])
}

/// Runs the same guests repeatedly on a busy host and compares their counts. Results stay in the
/// target directory, so that an interrupted campaign resumes.
pub fn repetition(job: &Job) -> Outcome {
    let arguments = ["repetition::", "--ignored", ONE_AT_A_TIME, "--nocapture"];
    let kept = place::target().join("repetition");
    let outcome = released_with(job, &arguments, |tests| {
        tests.env("WAKEPATH_REPETITION_DIRECTORY", &kept);
        // The stage's time limit would end it without reporting the number of repetitions.
        tests.env("WAKEPATH_REPETITION_MINUTES", "200");
    });
    noting_counts(job, outcome, "repetition: ")
}

/// Repeats the counts that a campaign printed.
fn noting_counts(job: &Job, outcome: Outcome, mark: &str) -> Outcome {
    let log = std::fs::read_to_string(job.log()).unwrap_or_default();
    let counts = log.lines().filter_map(|line| line.strip_prefix(mark));
    counts.fold(outcome, |outcome, count| outcome.noting(count))
}

/// Tuning of this machine itself, killed after every step and taken back.
fn killed_tuning(job: &Job) -> Outcome {
    let programs = match programs::all(job) {
        Ok(programs) => programs,
        Err(outcome) => return outcome,
    };
    match programs.iter().find(|program| program.has(job, TUNING)) {
        Some(program) => {
            let mut command = program.command(&["--exact", TUNING, "--show-output"]);
            program.outcome(job, command.env("WAKEPATH_TUNE_THIS_MACHINE", "1"))
        }
        None => Outcome::new(Some(format!("no test program has {TUNING}"))),
    }
}

const TUNING: &str = "killed::this_machine_is_as_before_after_a_kill_at_every_step_and_a_revert";

/// Runs tests that start the program, with the released one. A static program can't load a user's
/// library; the controller host built with the tests does.
fn released(job: &Job, arguments: &[&str]) -> Outcome {
    released_with(job, arguments, |_| ())
}

/// The same, with changes to the command.
fn released_with(job: &Job, arguments: &[&str], told: impl FnOnce(&mut Command)) -> Outcome {
    if let Some(why) = missing_target(&place::static_target()) {
        return Outcome::not_run(why);
    }
    wait_for_set_up();
    let (programs, host) = match (
        programs::all(job),
        programs::beside_the_tests(job, "wakepath-controller-host"),
    ) {
        (Ok(programs), Ok(host)) => (programs, host),
        (Err(outcome), _) | (_, Err(outcome)) => return outcome,
    };
    let program = match released_program(|build| job.carry_out(build)) {
        Ok(program) => program,
        Err(error) => return Outcome::new(Some(error)),
    };
    let Some(tests) = programs.iter().find(|program| program.starts_the_program()) else {
        return Outcome::new(Some("the program has no tests".into()));
    };
    let mut command = tests.command(arguments);
    command
        .arg("--show-output")
        .env("WAKEPATH_BINARY", program)
        .env(
            "PATH",
            place::path_with(host.parent().unwrap_or(Path::new("/"))),
        );
    told(&mut command);
    tests.outcome(job, &mut command).of_some()
}

/// Tests of the purely computing crates on 32 bits. The stage for 32-bit Arm compiles the whole
/// program.
pub fn narrow(job: &Job) -> Outcome {
    const TARGET: &str = "i686-unknown-linux-musl";
    if let Some(why) = missing_target(TARGET) {
        return Outcome::not_run(why);
    }
    let crates = [
        "wakepath-rt",
        "wakepath-scenario",
        "wakepath-statistics",
        "wakepath-timeline",
        "wakepath-verdict",
    ];
    let mut arguments = vec![
        "test",
        "--locked",
        "--no-fail-fast",
        "--lib",
        "--target",
        TARGET,
    ];
    arguments.extend(crates.iter().flat_map(|name| ["--package", name]));
    suite(job, &arguments)
}

fn suite(job: &Job, arguments: &[&str]) -> Outcome {
    Outcome::of_tests(&job.run(cargo(arguments).args(["--", "--show-output"])))
}
