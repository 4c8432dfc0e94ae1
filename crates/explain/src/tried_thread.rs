//! The thread that `wakepath try` measures: of a program with several periodic ones the printed commands name it, since
//! `try` takes the most urgent one otherwise.

use crate::fix::trial::for_thread;
use crate::summary::{ConditionExplanation, Explanation};

impl Explanation {
    /// Names each condition's thread in the commands of its fixes, if several threads have a period.
    pub fn name_tried_threads(&mut self) {
        let mut periodic = self.conditions.iter().filter(|of| of.is_periodic);
        let first = periodic.next().map(|of| of.thread.clone());
        if periodic.all(|of| Some(&of.thread) == first.as_ref()) {
            return;
        }
        for condition in self.conditions.iter_mut().filter(|of| of.is_periodic) {
            name(condition);
        }
    }
}

fn name(of: &mut ConditionExplanation) {
    let causes = of.causes.iter_mut().chain(&mut of.inflation);
    let remedies = causes.map(|cause| &mut cause.remedy);
    let alike = of.alike.iter_mut().map(|alike| &mut alike.remedy);
    for remedy in remedies.chain(alike).flatten() {
        if let Some(named) = for_thread(remedy, &of.thread) {
            *remedy = named;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause::{Cause, Relation};
    use crate::resolve::Usual;
    use crate::totals::{Bands, CauseSum, Totals};
    use wakepath_timeline::{Thread, ThreadName};

    fn condition(thread: &str, is_periodic: bool) -> ConditionExplanation {
        let mut totals = Totals::new(0, 0, 0, Bands::new(&mut []));
        let compiler = Thread {
            id: 7,
            name: ThreadName::new(b"rustc"),
            priority: 120,
        };
        let cause = Cause::Thread {
            thread: compiler,
            relation: Relation::Shared,
        };
        totals.causes.insert(cause, CauseSum::default());
        let of = ("", "watched", thread);
        ConditionExplanation {
            is_periodic,
            ..ConditionExplanation::new(of, "", Usual::default(), &totals, |_| 0)
        }
    }

    fn fixes(conditions: Vec<ConditionExplanation>) -> Vec<String> {
        let mut explanation = Explanation {
            version: Explanation::VERSION,
            events: 0,
            events_lost: 0,
            switches_untold: 0,
            untold_switch_ins: crate::SwitchIns::default(),
            own_by_name: false,
            not_in_trace: Vec::new(),
            conditions,
        };
        explanation.name_tried_threads();
        let fix = |of: &ConditionExplanation| {
            assert_eq!(of.alike[0].remedy, of.causes[0].remedy);
            of.causes[0].remedy.clone().unwrap()
        };
        explanation.conditions.iter().map(fix).collect()
    }

    #[test]
    fn only_the_commands_for_several_periodic_threads_name_theirs() {
        let several = fixes(vec![
            condition("ctl", true),
            condition("vision", true),
            condition("log", false),
        ]);
        assert!(
            several[0].ends_with("policy='FIFO 80' --thread ctl -- PROGRAM"),
            "{several:?}"
        );
        assert!(several[1].ends_with("--thread vision -- PROGRAM"));
        assert!(!several[2].contains("--thread"));
        let one = fixes(vec![
            condition("ctl", true),
            condition("ctl", true),
            condition("log", false),
        ]);
        assert!(one.iter().all(|fix| !fix.contains("--thread")), "{one:?}");
    }
}
