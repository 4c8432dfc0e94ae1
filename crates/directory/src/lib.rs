//! A directory that is opened once and held.
//!
//! Files are created, read, renamed and removed relative to it, exclusively and never through a
//! link: a user who can rename a parent directory or plant a link can't lead a writer elsewhere. It
//! doesn't interpret the files.
//!
//! Everything that a run, a recovery, an import or a tuning writes goes through here, and so
//! through one seam: [`Faults`] makes any of these operations fail in a test, on a real disk.

mod beneath;
mod content;
mod directory;
mod error;
mod faults;
mod file;
mod private;
mod regular;
mod trust;

pub use beneath::beneath;
pub use content::{ContentFile, content, empty_directories};
pub use directory::Directory;
pub use error::DirectoryError;
pub use faults::{Fault, Faults, Operation};
pub use file::{NewFile, WholeFile, replace};
pub use private::Private;
pub use trust::Trust;
