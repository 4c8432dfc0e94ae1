//! Places of a program's code, recorded by the kernel as uprobes: probes that its author put into it (USDT:
//! `<sys/sdt.h>`, `systemtap-sdt-dev`), at the places that its file lists, and exported functions of its
//! libraries.

mod exported;
mod notes;
mod uprobes;

pub use exported::exported;
pub use notes::{NoProbes, Site};
pub use uprobes::{Argument, Function, Mark, Place};
pub(crate) use uprobes::{Registered, remove_of};

use object::ReadCache;
use std::fs::File;
use std::path::Path;

/// The probes of a program or library, as it lists them: one of several places has several sites.
///
/// # Errors
/// [`NoProbes`].
pub fn sites_of(file: &Path) -> Result<Vec<Site>, NoProbes> {
    let open = File::open(file).map_err(NoProbes::Unreadable)?;
    notes::read(&ReadCache::new(open))
}
