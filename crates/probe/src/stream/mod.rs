//! The kernel's ring buffer as bytes: pages to records, records to events. Pure: the kernel's descriptions of
//! its formats are passed in as text.

mod call_names;
mod calls;
mod decode;
mod format;
mod left;
mod page;
mod reading;
mod wanted;

pub use calls::{filter_calls, filter_threads};
pub use decode::Decoder;
pub use format::{EventFormat, Field, FormatError, PageFormat};
pub use page::{Missed, Page, Record, Records};
pub use wanted::{Tracepoint, Wanted};
