//! The keys of a file with the longest sections of kernel code: `wakepath bound --sections`.

use super::{Form, Key, Table, optional, required};

/// The most interrupts of a file.
pub(crate) const MOST_INTERRUPTS: usize = 256;

const fn section(name: &'static str, about: &'static str) -> Key {
    required(name, Form::Duration, about)
}

pub(crate) static SECTIONS: Table = Table {
    title: "a file of sections",
    about: "The longest stretches of kernel code that keep a thread from running, as a tracer saw them, \
            what interrupts take left out: `wakepath bound --sections` composes a bound of them.",
    one_of: &[],
    not_both: &[],
    keys: &[
        section(
            "preemption-off",
            "Preemption or interrupts off, by other code than the scheduler's own call.",
        ),
        section(
            "before-scheduler",
            "Both on, from the end of a stretch with either off to the call of the scheduler.",
        ),
        section(
            "scheduler",
            "Preemption off to call the scheduler, until it returns.",
        ),
        section(
            "switch",
            "Within that, from interrupts masked for the switch to preemption on again.",
        ),
        optional(
            "after-scheduler",
            Form::Duration,
            "0 ns: the bound ends where the scheduler returns",
            "From there to the loop's first instruction.",
        ),
        required(
            "interrupts",
            Form::List(&Form::Table(&SECTION_INTERRUPT), 0, MOST_INTERRUPTS),
            "The interrupts of the CPU, including non-maskable ones; `[]` for none.",
        ),
    ],
};

pub(crate) static SECTION_INTERRUPT: Table = Table {
    title: "an interrupt",
    about: "What lengthens all sections.",
    one_of: &[],
    not_both: &[],
    keys: &[
        required("name", Form::Name, "Its name."),
        required("longest", Form::Duration, "The longest that was seen."),
        optional(
            "distance",
            Form::Duration,
            "it comes once",
            "The shortest time from one to the next.",
        ),
    ],
};
