//! Properties of every reader for hostile input.
//!
//! There is one function for each kind of input, which panics if a property is violated. The tests
//! here call them with seeds and with randomly damaged seeds; `fuzz/` calls them with
//! coverage-guided input.

mod evidence;
mod imported;
mod journal;
mod kernel_files;
mod recording;
mod scenario;
mod told;

pub use evidence::evidence;
pub use imported::{imported_directory, imported_file};
pub use journal::journal;
pub use kernel_files::kernel_files;
pub use recording::recording;
pub use scenario::scenario;
pub use told::told;
