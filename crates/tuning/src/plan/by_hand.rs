//! Problems that no step fixes, so that every finding of doctor appears in the plan.

use super::{BootStep, Planner};
use wakepath_readiness::Judged;

impl Planner<'_> {
    pub(super) fn by_hand(&self, boot: &[BootStep]) -> Vec<String> {
        let answered = |id: &str| {
            self.steps
                .iter()
                .any(|step| step.checks.iter().any(|check| check == id))
                || boot.iter().any(|step| step.check == id)
        };
        self.report
            .bad()
            .filter(|judged| !answered(&judged.id))
            .filter_map(|judged| self.one(judged))
            .collect()
    }

    fn one(&self, judged: &Judged) -> Option<String> {
        let what = match judged.id.as_str() {
            // Said in the notes.
            "T1" => return None,
            "S1" | "S2" => {
                "does not affect a loop that sleeps in each cycle; --no-throttling switches it off"
                    .to_owned()
            }
            "T2" if !self.idle.is_empty() => format!(
                "CPU {} is emptied like the loop's own; with affinity alone a program can still run on it",
                self.idle
            ),
            "K1" => format!("no setting replaces it: {}", judged.remedy_at_boot),
            "W3" if self.built("RCU_NOCB_CPU") == Some(false) => {
                "the kernel is built without RCU_NOCB_CPU: the loop's CPU keeps its own callbacks"
                    .to_owned()
            }
            _ => match (judged.remedy_now.as_str(), judged.remedy_at_boot.as_str()) {
                ("", "") => "nothing here changes it".to_owned(),
                ("", boot) => format!("at boot: {boot}"),
                (now, _) => now.to_owned(),
            },
        };
        Some(format!("{} {}: {what}", judged.id, judged.title))
    }
}
