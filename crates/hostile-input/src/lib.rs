//! What must hold of every reader, whatever a stranger hands it: one function for each kind of
//! input, which panics where it does not. The tests here call them with seeds and with seeds damaged
//! at random; `fuzz/` calls them with what coverage leads it to.

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
