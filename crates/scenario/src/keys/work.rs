//! The keys of a thread's work.

use super::ethercat::{DEVICES, INTERFACE, JITTER, LOSS, STOPS_AFTER};
use super::tables::{PERIOD, RATE};
use super::{Form, Key, Table, Variant, Variants, optional, required};
use crate::task_table;

/// Longest time that a cycle can wait for its answer.
pub(crate) const LONGEST_ANSWER_NS: u64 = 150_000_000;
/// In metres, up to 10 km.
const POSITION: Form = Form::List(&Form::Number(-1e4, 1e4), 3, 3);

const VEHICLE: Key = optional(
    "vehicle",
    Form::Choice(&["hummingbird", "crazyflie"]),
    "\"hummingbird\"",
    "A built-in vehicle.",
);
const VEHICLE_FILE: Key = optional(
    "vehicle-file",
    Form::Text,
    "`vehicle`",
    "A vehicle file of your own, relative to the scenario. Instead of `vehicle`.",
);
const VEHICLE_TEXT: Key = optional(
    "vehicle-text",
    Form::Text,
    "`vehicle`",
    "The whole text of a vehicle file, as a recorded scenario carries it. Instead of `vehicle`.",
);
const FLOWN: Key = optional(
    "trajectory",
    Form::Variants(&TRAJECTORY),
    "\"circle\"",
    "The trajectory that the vehicle has to follow.",
);
const TOUCHED: Key = optional(
    "working-set",
    Form::Size,
    "\"0 B\"",
    "Memory read and written in each cycle in addition to the controller, up to 1 GiB.",
);

pub(crate) static WORK: Variants = Variants {
    title: "work",
    about: "Work of a thread in each cycle. A controller flies a simulated quadrotor: the \
            vehicle is moved to each due time outside the timed region; in it the loop reads the \
            state, computes and writes the command.",
    tag: "kind",
    short: (
        "^(nothing|flight|ethercat)$",
        "`\"nothing\"`, `\"flight\"` or `\"ethercat\"`",
    ),
    variants: &[
        Variant {
            name: "nothing",
            about: "Nothing but the two clock readings, as cyclictest.",
            keys: &[],
        },
        Variant {
            name: "busy",
            about: "Computes until it has used this much CPU time: takes the place of a task of which only the execution time is known.",
            keys: &[required(
                "time",
                Form::Duration,
                "CPU time of each cycle, up to 60 s.",
            )],
        },
        Variant {
            name: "working-set",
            about: "Reads and writes a block of memory.",
            keys: &[required(
                "bytes",
                Form::Size,
                "Memory touched in each cycle, up to 1 GiB.",
            )],
        },
        Variant {
            name: "cache-delay",
            about: "Measures what a job loses of its caches when it is preempted, or moved to another \
                    CPU: runs through a working set after another thread ran on its CPU, and on \
                    another CPU, each less a warm run right after it. As often as fits into four \
                    fifths of the period, once at least.",
            keys: &[
                required(
                    "bytes",
                    Form::Size,
                    "The working set, up to 1 GiB; `\"0 B\"` shows what the measurement itself takes.",
                ),
                optional(
                    "preempted-by",
                    Form::Size,
                    "\"64 MiB\"",
                    "Memory that the preempting thread reads and writes, up to 1 GiB: twice the \
                     last-level cache leaves nothing of the working set in any.",
                ),
            ],
        },
        Variant {
            name: "ethercat",
            about: "Sends process data to an EtherCAT bus and waits for them. A cycle whose frame is lost, \
                    late, or not seen by all devices has met a fault.",
            keys: &[
                optional(
                    "timeout",
                    Form::Time(1_000, LONGEST_ANSWER_NS),
                    "half of the period",
                    "How long a cycle waits for its answer, up to 150 ms.",
                ),
                INTERFACE,
                DEVICES,
                JITTER,
                LOSS,
                STOPS_AFTER,
            ],
        },
        Variant {
            name: "program",
            about: "Whatever a program of your own does: it is started for each condition, and its loop \
                    of the task's name is recorded. It links `wakepath-rt` or `wakepath.h`. All tasks \
                    name the same program.",
            keys: &[required(
                "command",
                Form::Texts(1),
                "The program and its arguments, one text for each; no shell reads them.",
            )],
        },
        Variant {
            name: "flight",
            about: "The built-in controller: position, attitude, control allocation. At most one \
                    of the three vehicle keys.",
            keys: &[VEHICLE, VEHICLE_FILE, VEHICLE_TEXT, FLOWN, TOUCHED],
        },
        Variant {
            name: "library",
            about: "A controller of your own: a shared library with the C interface of \
                    `wakepath_controller.h`, or a Python file.",
            keys: &[
                required(
                    "library",
                    Form::Line,
                    "The shared library, relative to the scenario. A name that ends in `.py` is \
                     a Python file with a class `Controller`: measured, and not real-time.",
                ),
                optional(
                    "settings",
                    Form::Text,
                    "empty",
                    "Text for the library's `init`.",
                ),
                optional(
                    "python",
                    Form::Line,
                    "\"python3\"",
                    "The interpreter whose Python runs a Python file: a name on `PATH`, or a path \
                     relative to the scenario, such as that of a virtual environment.",
                ),
                optional(
                    "sha256",
                    Form::Fitting("^[0-9a-fA-F]{64}$", "64 hexadecimal digits"),
                    "any file",
                    "SHA-256 of the file, 64 hexadecimal digits: another file is refused. A \
                     recorded scenario has it.",
                ),
                VEHICLE,
                VEHICLE_FILE,
                VEHICLE_TEXT,
                FLOWN,
                TOUCHED,
            ],
        },
        Variant {
            name: "tasks",
            about: "The built-in controller, and after it the tasks of a table that are due, one \
                    after the other, the most important first, as ArduPilot's scheduler runs \
                    them: a task is not started with less than its budget left of the period. \
                    Exactly one of the three table keys.",
            keys: &[
                optional(
                    "table",
                    Form::Choice(task_table::NAMES),
                    "one of the three table keys is needed",
                    "A built-in task table.",
                ),
                optional(
                    "table-file",
                    Form::Text,
                    "one of the three table keys is needed",
                    "A file of your own with `[[tasks]]`, relative to the scenario.",
                ),
                optional(
                    "tasks",
                    Form::List(&Form::Table(&TABLE_TASK), 1, MOST_TABLE_TASKS),
                    "one of the three table keys is needed",
                    "The tasks themselves, as a recorded scenario carries them.",
                ),
                VEHICLE,
                VEHICLE_FILE,
                VEHICLE_TEXT,
                FLOWN,
                TOUCHED,
            ],
        },
    ],
};

/// Longest task table.
pub(crate) const MOST_TABLE_TASKS: usize = 256;

pub(crate) static TABLE_TASK: Table = Table {
    title: "a task of a table",
    about: "A function that shares the loop with others: how often it runs, and the equal work that replaces it in every run.",
    one_of: &[&["rate", "period"]],
    not_both: &[],
    keys: &[
        required("name", Form::Name, "Its name."),
        RATE,
        PERIOD,
        required(
            "budget",
            Form::Duration,
            "The longest that a run should take: it is not started with less left of the period, \
             and a longer run is counted.",
        ),
        required(
            "priority",
            Form::Integer(0, 255),
            "The least number comes first.",
        ),
        optional(
            "rounds",
            Form::Integer(0, 1_000_000_000),
            "0",
            "Rounds of arithmetic in each run, four CPU cycles each on most.",
        ),
        optional(
            "bytes",
            Form::Size,
            "\"0 B\"",
            "Memory read and written in each run, up to 1 GiB.",
        ),
    ],
};

pub(crate) static TABLE_FILE: Table = Table {
    title: "a task table",
    about: "A file of its own, named by `table-file`.",
    one_of: &[],
    not_both: &[],
    keys: &[required(
        "tasks",
        Form::List(&Form::Table(&TABLE_TASK), 1, MOST_TABLE_TASKS),
        "The tasks, in any order.",
    )],
};

pub(crate) static TRAJECTORY: Variants = Variants {
    title: "trajectory",
    about: "Course of a vehicle, in metres, from the first due time on. World axes, \
            z up.",
    tag: "kind",
    short: (
        "^(hover|step|circle)$",
        "`\"hover\"`, `\"step\"` or `\"circle\"`",
    ),
    variants: &[
        Variant {
            name: "hover",
            about: "Stay at a place.",
            keys: &[optional("position", POSITION, "[0, 0, 0]", "The place, m.")],
        },
        Variant {
            name: "step",
            about: "Hover at one place, then move to another on command.",
            keys: &[
                optional("from", POSITION, "[-1, 0, 0]", "Position of the hover, m."),
                optional("to", POSITION, "[0, 0, 0]", "Position to reach, m."),
            ],
        },
        Variant {
            name: "circle",
            about: "A horizontal circle, anticlockwise seen from above.",
            keys: &[
                optional("centre", POSITION, "[0, 0, 0]", "Centre, m."),
                optional("radius-m", Form::Number(0.0, 1e4), "1", "Radius, m."),
                optional(
                    "frequency-hz",
                    Form::Number(0.0, 1e3),
                    "0.2",
                    "Turns a second.",
                ),
            ],
        },
        Variant {
            name: "waypoints",
            about: "Points joined by minimum-jerk motion from rest to rest.",
            keys: &[required(
                "points",
                Form::List(&Form::Table(&WAYPOINT), 1, 1000),
                "The points, in order of time.",
            )],
        },
    ],
};

pub(crate) static WAYPOINT: Table = Table {
    title: "a waypoint",
    about: "A place and when to be there.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required(
            "at-s",
            Form::Number(-1e-9, 1e9),
            "Seconds after the first due time.",
        ),
        required("position", POSITION, "The place, m."),
    ],
};
