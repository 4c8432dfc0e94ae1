//! Part of the run under one set of loads.

use super::Context;
use super::form::{Name, Share};
use super::shape::Shape;
use super::visitor::Keys;
use super::work;
use crate::document::Node;
use crate::error::Findings;
use crate::load::LOAD;
use crate::{LoadSpec, Phase};
use serde_json::json;
use toml::Value;

const REMEDY: &str = "give [[phases]], each with a name and its loads";
const MOST_LOADS: usize = 32;

/// The phases; one without loads if there are none.
pub(super) fn key(keys: &mut Keys<'_>, phases: &mut Vec<Phase>) {
    let has_tasks = keys.given("tasks").is_some();
    keys.tables(
        "phases",
        (
            Ok("one phase \"idle\" without loads"),
            "Parts of the run, each under its own loads. Every policy is measured in each phase.",
        ),
        phases,
        ((1, 64), REMEDY),
        blank,
        |keys, phase, earlier| {
            declare(keys, phase, earlier);
            if has_tasks && keys.given("work").is_some() {
                let problem = "conflicts with tasks, which set it for each thread";
                keys.refuse_key("work", problem, "give it in each task");
            }
        },
    );
    keys.rule(|| {
        json!({
            "if": { "required": ["tasks"] },
            "then": { "properties": { "phases": { "items": { "not": { "required": ["work"] } } } } },
        })
    });
}

pub(crate) fn blank() -> Phase {
    Phase {
        name: "idle".to_owned(),
        loads: Vec::new(),
        work: None,
        l3_share: None,
    }
}

pub(crate) fn declare(keys: &mut Keys<'_>, phase: &mut Phase, earlier: &[Phase]) {
    keys.title("a phase", "Part of the run under one set of loads.");
    keys.required(
        "name",
        Name("stress"),
        "Name shown in tables, such as \"idle\" or \"stress\".",
        &mut phase.name,
    );
    keys.refuse_twice(
        earlier.iter().any(|other| other.name == phase.name),
        "phase",
    );
    keys.nested(
        "loads",
        (Ok("none: idle"), "Loads that run at the same time."),
        &mut phase.loads,
        || Shape::List(Box::new(LOAD.shape()), 0, MOST_LOADS),
        read_loads,
        |loads| {
            let written = |load: &mut LoadSpec| LOAD.write(load.kind.name(), load);
            Some(Value::Array(loads.iter_mut().map(written).collect()))
        },
    );
    keys.nested(
        "work",
        (
            Ok("the loop's"),
            "The loop's work in this phase, in place of the scenario's. Not with `tasks`.",
        ),
        &mut phase.work,
        work::shape,
        |node, context, findings| work::WORK.read(node, context, findings).map(Some),
        |work| work.as_mut().map(work::written),
    );
    keys.optional(
        "l3-share",
        Share { above_0: true },
        "the whole cache is shared",
        "Share of each last-level cache reserved for the loop's process, such as \"50 %\", through the kernel's \
         resctrl; all other processes get the rest. Without resctrl the phase is not measured, and the run reports \
         it.",
        &mut phase.l3_share,
    );
}

fn read_loads(
    node: &Node<'_>,
    context: Context<'_>,
    findings: &mut Findings,
) -> Option<Vec<LoadSpec>> {
    let remedy = "give a list such as [\"cpu\", \"files\"]";
    let items = findings.keep(node.items(MOST_LOADS, remedy))?;
    let loads: Vec<_> = items
        .iter()
        .map(|item| LOAD.read(item, context, findings))
        .collect();
    loads.into_iter().collect()
}
