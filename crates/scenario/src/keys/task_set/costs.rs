//! Costs of the kernel's own work, from a task set's file.

use crate::error::Findings;
use crate::keys::form::{size, time};
use crate::keys::shape::Shape;
use crate::keys::visitor::{Keys, described, read, written_in_short};
use crate::task_set::SetOverheads;
use toml::Value;

const DELAYS: &str = "give [{ working-set = \"64 KiB\", delay = \"20 us\" }]";

pub(super) fn key(keys: &mut Keys<'_>, field: &mut Option<SetOverheads>) {
    keys.nested(
        "overheads",
        (
            Ok("none, as the answer notes"),
            "Costs of the kernel's own work, if not taken from a recorded run.",
        ),
        field,
        || Shape::Table(Box::new(described(SetOverheads::default(), overheads))),
        |node, context, findings: &mut Findings| {
            let table = node.table("give a table such as { event = \"10 us\" }");
            let section = findings.keep(table)?;
            read(
                &section,
                context,
                findings,
                SetOverheads::default(),
                overheads,
            )
            .map(Some)
        },
        |field| {
            let own = field.as_mut()?;
            Some(Value::Table(written_in_short(own, overheads)))
        },
    );
}

pub(crate) fn overheads(keys: &mut Keys<'_>, costs: &mut SetOverheads) {
    keys.title(
        "overheads",
        "Costs for the whole set, as published or measured elsewhere. A missing cost is reported in the answer.",
    );
    let mut cost = |name, about, field: &mut Option<u64>| {
        keys.optional(
            name,
            time("10 us"),
            "unknown, and reported in the answer",
            about,
            field,
        );
    };
    cost(
        "event",
        "From the programmed expiry to the timer interrupt (Δev).",
        &mut costs.event_ns,
    );
    cost(
        "release",
        "From the interrupt's entry to the end of the wake-up (Δrel).",
        &mut costs.release_ns,
    );
    cost(
        "scheduling",
        "The scheduler's choice (Δsch).",
        &mut costs.scheduling_ns,
    );
    cost(
        "switch",
        "From the switch to the first instruction of the thread (Δcxs).",
        &mut costs.switch_ns,
    );
    cost(
        "ipi",
        "From one CPU's request to another's interrupt (Δipi).",
        &mut costs.ipi_ns,
    );
    cost("tick", "A timer tick (Δtick).", &mut costs.tick_ns);
    cost(
        "tick-period",
        "Time between ticks (Q), such as \"4 ms\".",
        &mut costs.tick_period_ns,
    );
    cost(
        "section",
        "The longest stretch in which the kernel can't be preempted (B).",
        &mut costs.section_ns,
    );
    cost(
        "cache-delay",
        "Time that a preempted or migrated job loses to cold caches (Δcpd), equal for all tasks.",
        &mut costs.cache_delay_ns,
    );
    keys.tables(
        "cache-delays",
        (
            Ok("`cache-delay`"),
            "Cache delays by working set: interpolated linearly and rounded up between two entries, scaled by size \
             beyond the largest.",
        ),
        &mut costs.cache_delays,
        ((1, 64), DELAYS),
        || (0, 0),
        cache_delay,
    );
}

/// A working set in bytes, and the time lost in nanoseconds.
pub(crate) fn cache_delay(keys: &mut Keys<'_>, delay: &mut (u64, u64), earlier: &[(u64, u64)]) {
    keys.title(
        "a cache delay",
        "Time that a job with a working set of this size loses to cold caches.",
    );
    keys.required(
        "working-set",
        size(0, u64::MAX),
        "Memory that the job works on.",
        &mut delay.0,
    );
    keys.required(
        "delay",
        time("20 us"),
        "The time lost (Δcpd).",
        &mut delay.1,
    );
    if let Some((bytes, ns)) = earlier.last()
        && keys.complete()
        && (delay.0 <= *bytes || delay.1 < *ns)
    {
        let problem = "does not go up from the one before it";
        let remedy = "give working sets that grow, with delays that don't fall";
        keys.refuse_table(problem, remedy);
    }
}
