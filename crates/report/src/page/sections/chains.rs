//! Chains of threads.

use crate::markup::Markup;
use crate::page::Reported;

/// Writes them.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    crate::thread_chains::write(markup, run.chains);
}
