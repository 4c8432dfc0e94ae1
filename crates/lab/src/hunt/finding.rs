//! One of the longest sections: repeated alone, made smaller, examined, and written as files.

use super::branch::{self, Branch};
use super::minimise::minimise;
use super::reproducer::reproducer;
use super::section::Section;
use super::snapshot::{On, Snapshot};
use crate::again::AgainError;
use crate::window::Within;
use crate::{LabError, Result};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use wakepath_guest::hunt::{Grammar, Program};

/// A finding.
#[derive(Debug, Clone)]
pub struct Finding {
    /// The section, of the program as it is now.
    pub section: Section,
    /// Its length when it was found, in instructions.
    pub found: u64,
    /// Whether the program alone causes it; otherwise programs before it contributed, and it is as it
    /// was found.
    pub is_alone: bool,
    /// The program.
    pub program: Program,
    /// Callers and functions, if they were found.
    pub within: Option<Within>,
    /// The program as text, which `--repeat` reads.
    pub text: PathBuf,
    /// The same as C.
    pub c: PathBuf,
}

/// The share of a section's length that a smaller program must reach, in percent.
const ENOUGH: u64 = 90;

/// Longest time in which a program is made smaller.
const SMALLER: Duration = Duration::from_secs(120);

/// Parts that findings need.
pub(super) struct Workshop<'a> {
    pub snapshot: &'a Snapshot,
    pub grammar: &'a Grammar,
    pub directory: &'a Path,
    pub limit_ns: u64,
    pub on: On<'a>,
}

impl Workshop<'_> {
    /// Works a section out. `number` names its files.
    pub fn finding(
        &self,
        number: usize,
        section: &Section,
        program: &Program,
    ) -> std::result::Result<Finding, AgainError> {
        let call = section.call_name(program);
        let longest = |branch: &Branch, at: usize, program: &Program| {
            let mut sections = branch.sections.get(at)?.iter();
            let same =
                |one: &&Section| one.began == section.began && one.call_name(program) == call;
            sections.find(same).cloned()
        };
        let alone = self.run(std::slice::from_ref(program), None)?;
        let alone = longest(&alone, 0, program).filter(|one| one.length * 2 >= section.length);
        let mut finding = Finding {
            section: alone.clone().unwrap_or_else(|| section.clone()),
            found: section.length,
            is_alone: alone.is_some(),
            program: program.clone(),
            within: None,
            text: self.directory.join(format!("finding-{number}.txt")),
            c: self.directory.join(format!("finding-{number}.c")),
        };
        if let Some(alone) = alone {
            let enough = |one: &Section| one.length * 100 >= alone.length * ENOUGH;
            let keeps = |programs: &[Program]| {
                let branch = self.run(programs, None)?;
                let each = programs.iter().enumerate();
                let each = each.map(|(at, program)| longest(&branch, at, program));
                Ok::<_, AgainError>(each.map(|one| one.as_ref().is_some_and(enough)).collect())
            };
            let began = Instant::now();
            let smallest = minimise(program, keeps, || began.elapsed() > SMALLER)?;
            // In a batch, programs before it might have contributed.
            let again = self.run(std::slice::from_ref(&smallest), None)?;
            if let Some(again) = longest(&again, 0, &smallest).filter(enough) {
                (finding.section, finding.program) = (again, smallest);
            }
            let (began, ended) = finding.section.place();
            let place = (began.to_owned(), ended.to_owned());
            let examined = self.run(std::slice::from_ref(&finding.program), Some(place))?;
            finding.within = examined.within;
        }
        self.write(&finding)?;
        Ok(finding)
    }

    fn run(
        &self,
        programs: &[Program],
        examined: Option<(String, String)>,
    ) -> std::result::Result<Branch, AgainError> {
        branch::run(self.snapshot, programs, examined, self.on)
    }

    fn write(&self, finding: &Finding) -> Result<()> {
        let Section {
            began,
            ended,
            length,
            ..
        } = &finding.section;
        let ns = u64::from(self.on.guest.machine.ns_per_instruction);
        let about = format!(
            "{began} … {ended}: {} ns of virtual time without preemption, on {}.\n\
             Found by `wakepath lab hunt`.",
            length * ns,
            self.on.guest.name
        );
        let comment: String = about.lines().map(|line| format!("# {line}\n")).collect();
        write(&finding.text, &format!("{comment}{}", finding.program))?;
        let c = reproducer(&finding.program, self.grammar, &about, self.limit_ns);
        write(&finding.c, &c)
    }
}

/// Replaces a file, so that it is never half written.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let partial = path.with_extension("partial");
    std::fs::write(&partial, text)
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|error| LabError::io("write", path, error))
}
