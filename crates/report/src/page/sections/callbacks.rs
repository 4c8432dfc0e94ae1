//! Callbacks and chains of ROS 2, of each trace.

use crate::markup::Markup;
use crate::page::Reported;

/// Writes them.
pub(super) fn write(markup: &mut Markup, _: usize, run: &Reported<'_>) {
    for figures in run.callbacks {
        crate::ros2::write(markup, figures);
    }
}
