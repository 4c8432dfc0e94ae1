//! A thread's work in each cycle: none, a block of memory, a controller.

use super::form::{TEXT, Text, command, path, size, time};
use super::shape::Shape;
use super::variants::{Row, Short, Variants};
use super::visitor::Keys;
use super::{ethercat, table_task, trajectory, vehicle};
use crate::units::Complaint;
use crate::work::{Flight, Library, TaskTable, Work};
use crate::{EthercatBus, TableSource};
use serde_json::json;
use toml::Value;

/// Largest working set of a cycle, in bytes: 1 GiB.
pub(super) const MOST_BYTES: u64 = 1 << 30;
/// Twice the last-level cache of most boards, and touched in some ten milliseconds: 64 MiB.
const PREEMPTED_BY_BYTES: u64 = 64 << 20;
/// Longest CPU time of a cycle: a minute.
const LONGEST_BUSY_NS: u64 = 60_000_000_000;
/// Largest record of a log: 1 MiB.
const MOST_RECORD_BYTES: u64 = 1 << 20;
/// Times that a cycle can wait for its answer.
const ANSWER_NS: (u64, u64) = (1_000, 150_000_000);

pub(crate) static WORK: Variants<Work> = Variants {
    title: "work",
    one: "a known kind of work",
    about: "Work of a thread in each cycle. A controller flies a simulated quadrotor: outside the timed region the \
            simulation advances to the due time; in the timed region the loop reads the state, computes and writes \
            the command.",
    tag: "kind",
    short: "`\"nothing\"`, `\"flight\"` or `\"ethercat\"`",
    rows: &[
        Row {
            name: "nothing",
            about: "Only the two clock readings, as in cyclictest.",
            blank: || Work::Nothing,
            keys: |_, _| {},
            short: Short::Alone,
        },
        Row {
            name: "busy",
            about: "Computes until it has used this much CPU time: a stand-in for a task whose execution time is \
                    known.",
            blank: || Work::Busy { ns: 0 },
            keys: |keys, work| {
                if let Work::Busy { ns } = work {
                    keys.required(
                        "time",
                        time("3 ms").within(1, LONGEST_BUSY_NS),
                        "CPU time of each cycle, up to 60 s.",
                        ns,
                    );
                }
            },
            short: Short::No,
        },
        Row {
            name: "log",
            about: "Writes its own log: computes, then appends a record to a file, which the kernel writes back when \
                    it likes. The file has no name and is gone after the run.",
            blank: || Work::Log {
                ns: 0,
                bytes: 0,
                directory: String::new(),
            },
            keys: |keys, work| {
                if let Work::Log {
                    ns,
                    bytes,
                    directory,
                } = work
                {
                    keys.required(
                        "bytes",
                        size(1, MOST_RECORD_BYTES),
                        "Size of each cycle's record, up to 1 MiB.",
                        bytes,
                    );
                    keys.required(
                        "directory",
                        path("give the directory of the log's file"),
                        "Directory of the file: it decides the disk.",
                        directory,
                    );
                    keys.or(
                        "time",
                        time("3 ms").within(0, LONGEST_BUSY_NS),
                        0,
                        "CPU time of each cycle before the record, up to 60 s.",
                        ns,
                    );
                }
            },
            short: Short::No,
        },
        Row {
            name: "working-set",
            about: "Reads and writes a block of memory.",
            blank: || Work::WorkingSet { bytes: 0 },
            keys: |keys, work| {
                if let Work::WorkingSet { bytes } = work {
                    keys.required(
                        "bytes",
                        size(1, MOST_BYTES),
                        "Memory touched in each cycle, up to 1 GiB.",
                        bytes,
                    );
                }
            },
            short: Short::No,
        },
        Row {
            name: "cache-delay",
            about: "Measures the cost of cold caches after a preemption or a migration. It times a pass through a \
                    working set after another thread ran on its CPU, and on another CPU, and subtracts a warm pass \
                    that follows immediately. It repeats this for up to four fifths of the period, at least once.",
            blank: || Work::CacheDelay {
                bytes: 0,
                preempted_by: PREEMPTED_BY_BYTES,
            },
            keys: |keys, work| {
                if let Work::CacheDelay {
                    bytes,
                    preempted_by,
                } = work
                {
                    keys.required(
                        "bytes",
                        size(0, MOST_BYTES),
                        "The working set, up to 1 GiB; `\"0 B\"` shows the time of the measurement itself.",
                        bytes,
                    );
                    keys.or(
                        "preempted-by",
                        size(1, MOST_BYTES),
                        PREEMPTED_BY_BYTES,
                        "Memory that the preempting thread reads and writes, up to 1 GiB: twice the last-level \
                         cache evicts the whole working set.",
                        preempted_by,
                    );
                }
            },
            short: Short::No,
        },
        Row {
            name: "ethercat",
            about: "Sends process data to an EtherCAT bus and waits for them. A cycle whose frame is lost, late, or \
                    not processed by all devices counts as a fault.",
            blank: || Work::Ethercat {
                timeout_ns: None,
                bus: EthercatBus::default(),
            },
            keys: |keys, work| {
                if let Work::Ethercat { timeout_ns, bus } = work {
                    keys.optional(
                        "timeout",
                        time("500 us").within(ANSWER_NS.0, ANSWER_NS.1),
                        "half of the period",
                        "Time that a cycle waits for its answer, up to 150 ms.",
                        timeout_ns,
                    );
                    ethercat::declare(keys, bus);
                }
            },
            short: Short::Alone,
        },
        Row {
            name: "program",
            about: "Your own program, linked with `wakepath-rt` or `wakepath.h`. It is started for each condition, \
                    and its loop with the task's name is recorded. All tasks name the same program.",
            blank: || Work::Program {
                command: Vec::new(),
            },
            keys: |keys, work| {
                if let Work::Program { command: program } = work {
                    keys.required(
                        "command",
                        command("give a list such as [\"./my-loop\", \"--fast\"]"),
                        "The program and its arguments, one string each; they are not passed through a shell.",
                        program,
                    );
                }
            },
            short: Short::No,
        },
        Row {
            name: "flight",
            about: "The built-in controller: position, attitude, control allocation. At most one \
                    of the three vehicle keys.",
            blank: || Work::Flight(Flight::default()),
            keys: |keys, work| {
                if let Work::Flight(flight) = work {
                    flown(keys, flight);
                }
            },
            short: Short::Alone,
        },
        Row {
            name: "library",
            about: "Your own controller: a shared library with the C interface of \
                    `wakepath_controller.h`, or a Python file.",
            blank: || {
                Work::Library(Library {
                    library: String::new(),
                    python: None,
                    sha256: None,
                    settings: String::new(),
                    flight: Flight::default(),
                })
            },
            keys: |keys, work| {
                if let Work::Library(of) = work {
                    library(keys, of);
                }
            },
            short: Short::No,
        },
        Row {
            name: "tasks",
            about: "The built-in controller, followed by the due tasks of a table in order of priority, as \
                    ArduPilot's scheduler runs them: a task starts only if its budget still fits into the period. \
                    Exactly one of the three table keys.",
            blank: || {
                Work::Tasks(TaskTable {
                    table: TableSource::Tasks(Vec::new()),
                    flight: Flight::default(),
                })
            },
            keys: |keys, work| {
                if let Work::Tasks(tasks) = work {
                    table_task::source(keys, &mut tasks.table);
                    flown(keys, &mut tasks.flight);
                }
            },
            short: Short::No,
        },
    ],
};

/// The key `work` of a table.
pub(super) fn key(keys: &mut Keys<'_>, work: &mut Work) {
    keys.nested(
        "work",
        (Ok("\"nothing\""), "The loop's work in each cycle."),
        work,
        shape,
        |node, context, findings| WORK.read(node, context, findings),
        |work| Some(written(work)),
    );
}

pub(super) fn shape() -> Shape {
    WORK.shape()
}

pub(super) fn written(work: &mut Work) -> Value {
    match WORK.name_of(work) {
        "nothing" => "nothing".into(),
        name => WORK.write(name, work),
    }
}

fn flown(keys: &mut Keys<'_>, flight: &mut Flight) {
    vehicle::declare(keys, false, &mut flight.vehicle);
    trajectory::key(keys, &mut flight.trajectory);
    keys.or(
        "working-set",
        size(0, MOST_BYTES),
        0,
        "Memory read and written in each cycle in addition to the controller, up to 1 GiB.",
        &mut flight.working_set,
    );
}

const SHA256: &str = "give the 64 hexadecimal digits that sha256sum prints";

fn library(keys: &mut Keys<'_>, of: &mut Library) {
    keys.required(
        "library",
        path("give the path of a shared library"),
        "The shared library, relative to the scenario. A name that ends in `.py` is \
         a Python file with a class `Controller`: measured, but not real-time.",
        &mut of.library,
    );
    keys.or(
        "settings",
        TEXT,
        String::new(),
        "Text for the library's `init`.",
        &mut of.settings,
    );
    keys.optional(
        "python",
        path("give an interpreter such as \"python3\""),
        "\"python3\"",
        "The interpreter whose Python runs a Python file: a name on `PATH`, or a path \
         relative to the scenario, such as that of a virtual environment.",
        &mut of.python,
    );
    keys.rule(|| {
        json!({
            "if": { "required": ["python"] },
            "then": { "properties": { "library": { "pattern": r"\.py$" } } },
        })
    });
    if of.python.is_some() && keys.complete() && !of.is_python() {
        let remedy = "leave it out, or give a library whose name ends in .py";
        keys.refuse_value("python", "is of no use here", remedy);
    }
    keys.optional(
        "sha256",
        Text {
            shape: || Shape::Fitting("^[0-9a-fA-F]{64}$", "64 hexadecimal digits"),
            remedy: SHA256,
            parse: |digits| {
                let is_one =
                    digits.len() == 64 && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                let refused = || Complaint::new("is not a SHA-256", SHA256);
                is_one
                    .then(|| digits.to_ascii_lowercase())
                    .ok_or_else(refused)
            },
        },
        "any file",
        "SHA-256 of the file, 64 hexadecimal digits; any other file is refused. Recorded scenarios contain it.",
        &mut of.sha256,
    );
    flown(keys, &mut of.flight);
}
