//! A new loop: its announcement, its settings in effect, and its criterion.

use super::{Recorder, Slot};
use crate::history::{Entry, now_ns};
use crate::one_loop::OneLoop;
use crate::terms::Found;
use wakepath_rt::image::Image;
use wakepath_rt::of_thread;
use wakepath_timeline::{Policy, one_line};
use wakepath_verdict::ConditionName;

/// The phase of every loop in the field.
const PHASE: &str = "service";

impl<'a> Recorder<'a> {
    /// Checks the announcement of a new loop.
    pub(super) fn come(&mut self, ring: u32) -> Slot<'a> {
        let announcement = self.memory.announcement(ring);
        let Some(announced) = announcement.announced() else {
            return Slot::Free;
        };
        let name = one_line(&announced.name);
        if name.is_empty() || !(10_000..=10_000_000_000).contains(&announced.period_ns) {
            self.say(format!(
                "a loop `{name}` says of itself what can't be true; it is not recorded"
            ));
            return Slot::Refused;
        }
        // Not earlier: the recorder was started first, and its starter became the program
        // afterwards.
        self.image = self.image.or_else(|| Image::new(self.program));
        let effective = of_thread::effective_of(&announced);
        let mut details = serde_json::to_value(effective.as_ref().ok()).unwrap_or_default();
        if let Some(details) = details.as_object_mut() {
            details.insert("thread_id".into(), announced.thread_id.into());
        }
        let found = Found {
            name,
            period_ns: announced.period_ns,
            overrun: announced.overrun,
            policy: effective
                .as_ref()
                .map_or(Policy::Other { nice: 0 }, |of| of.policy),
            cpus: effective.map(|of| of.cpus).unwrap_or_default(),
            effective: details,
        };
        let criterion = match self.terms.criterion(&found) {
            Ok(criterion) => Some(criterion),
            Err(why) => {
                self.say(format!("{}: is not judged: {why}", found.name));
                None
            }
        };
        let entry = Entry::LoopBegan {
            at_ns: now_ns(),
            name: found.name.clone(),
            period_ns: found.period_ns,
            policy: found.policy.to_string(),
            condition: ConditionName {
                policy: Some(found.policy),
                phase: PHASE.into(),
                task: Some(found.name.clone()),
            },
            criterion: criterion.clone(),
        };
        let outcome = self.history.append(&entry);
        self.check(outcome);
        self.trace_where(&found);
        let offset_ns = self.places().offset_ns;
        let left = self.reached.remove(&(self.program, ring));
        Slot::Taken(Box::new(OneLoop::new(
            self.memory,
            ring,
            found,
            criterion,
            left,
            offset_ns,
        )))
    }
}
