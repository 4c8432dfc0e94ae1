//! Why a run can't be assessed.

/// Why a run can't be assessed.
#[derive(Debug, thiserror::Error)]
pub enum AssessmentError {
    /// The run can't be read.
    #[error(transparent)]
    Archive(#[from] wakepath_archive::ArchiveError),
    /// The scenario in the run can't be read by this version.
    #[error("the run's own scenario can't be read: {0}")]
    Scenario(#[from] wakepath_scenario::ScenarioErrors),
    /// The scenario's vehicle can't be flown.
    #[error("the run's own vehicle can't be flown: {0}")]
    Vehicle(#[from] wakepath_flight::VehicleError),
    /// The record of a pin can't be read.
    #[error("{path}: {why}; remove it: `wakepath tiers --drive LINE --read LINE` writes a new one")]
    Pin {
        /// The file.
        path: String,
        /// The fault.
        why: String,
    },
}
