//! The controllers of the user's own that a run had at work: which files, and which of them can't
//! be called real-time whatever was measured. From the scenario alone.

use crate::conditions::ConditionSegments;
use serde::Serialize;
use std::fmt;
use wakepath_scenario::{Library, Scenario, Work};

/// A controller's file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ControllerFile {
    /// Its path on the machine that measured.
    pub file: String,
    /// Its SHA-256 in hexadecimal digits; `None` in runs of early versions.
    pub sha256: Option<String>,
    /// Whether it is of a kind that can be real-time: Python is not.
    pub real_time: bool,
}

impl ControllerFile {
    fn new(library: &Library) -> Self {
        Self {
            file: library.library.clone(),
            sha256: library.sha256.clone(),
            real_time: !library.is_python(),
        }
    }

    /// A remark next to the verdict.
    pub fn remark(&self) -> Option<String> {
        (!self.real_time).then(|| format!("not real-time: {}", why(&self.file)))
    }
}

impl fmt::Display for ControllerFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if !self.real_time {
            f.write_str(" (Python, not real-time)")?;
        }
        match &self.sha256 {
            Some(digest) => write!(f, ", SHA-256 {digest}"),
            None => Ok(()),
        }
    }
}

/// Every controller's file once, in the scenario's order.
pub(crate) fn files(scenario: &Scenario) -> Vec<ControllerFile> {
    let mut files: Vec<ControllerFile> = Vec::new();
    for file in scenario
        .works()
        .filter_map(library)
        .map(ControllerFile::new)
    {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// Why the work of a condition can't be called real-time, if it can't.
pub(crate) fn not_real_time(
    scenario: &Scenario,
    condition: &ConditionSegments<'_>,
) -> Option<String> {
    let of_condition = |name: &str| condition.task.as_ref().is_none_or(|task| task == name);
    let tasks = scenario
        .tasks
        .iter()
        .filter(|task| of_condition(&task.name));
    let works = tasks.map(|task| scenario.work_in(&condition.phase, task));
    let python = works
        .filter_map(library)
        .find(|library| library.is_python());
    python.map(|library| why(&library.library))
}

fn library(work: &Work) -> Option<&Library> {
    match work {
        Work::Library(library) => Some(library),
        _ => None,
    }
}

fn why(file: &str) -> String {
    format!(
        "the controller {file} is Python, whose allocator and garbage collector give no bound on \
         a step's time: longer steps than those measured are possible"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_scenario::KnownCpus;

    #[test]
    fn a_python_controller_is_named_once_with_its_digest_and_is_not_real_time() {
        let digest = "0123456789abcdef".repeat(4);
        let text = format!(
            "name = \"a\"\nrate = \"250 Hz\"\ncycles = 1000\npolicies = [\"OTHER\"]\n\
             work = {{ kind = \"library\", library = \"/a/mine.py\", sha256 = \"{digest}\" }}\n\
             phases = [{{ name = \"one\" }}, {{ name = \"two\", work = {{ kind = \"library\", \
             library = \"/a/libmine.so\" }} }}]"
        );
        let scenario = Scenario::parse(&text, "a.toml", &KnownCpus::first(1)).unwrap();
        let files = files(&scenario);
        let shown: Vec<String> = files.iter().map(ToString::to_string).collect();
        let python = format!("/a/mine.py (Python, not real-time), SHA-256 {digest}");
        assert_eq!(shown, [python, "/a/libmine.so".into()]);
        assert!(
            files[0]
                .remark()
                .is_some_and(|said| said.contains("mine.py is Python"))
        );
        assert_eq!(files[1].remark(), None);
    }
}
