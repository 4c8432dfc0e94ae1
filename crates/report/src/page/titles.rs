//! Titles that the author of a report adds: no part of the run.

use super::Reported;

/// Title, customer and author of a report, and how it is laid out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Titles {
    /// Title in place of the scenario's name.
    pub title: Option<String>,
    /// For whom it is.
    pub customer: Option<String>,
    /// Who answers for it.
    pub author: Option<String>,
    /// Whether all chapters stand open, as on paper.
    pub unfolded: bool,
}

impl Titles {
    /// The title of a run's report.
    pub(super) fn title<'a>(&'a self, run: &'a Reported<'_>) -> &'a str {
        let title = self.title.as_deref();
        title.unwrap_or(&run.assessment.run.scenario)
    }
}
