//! The Common Trace Format 1.8, as far as LTTng writes it of programs (UST): what its metadata says
//! of its events, and packets of them. It knows nothing of what the events mean.

mod bits;
mod metadata;
mod packets;
mod types;

pub(crate) use metadata::Metadata;
pub(crate) use packets::{Event, Stream};
