//! The Common Trace Format, 1.8 and 2, as far as LTTng writes it: what its metadata says of its events,
//! and packets of them. It knows nothing of what the events mean.

mod bits;
mod metadata;
mod packets;
mod types;

pub(crate) use metadata::Metadata;
pub(crate) use packets::{Event, Stream};
pub(crate) use types::Fields;
