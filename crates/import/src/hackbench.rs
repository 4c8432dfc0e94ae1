//! hackbench: recognized, to say that its one figure is no latency.

use crate::form::{Fit, Reader};
use crate::{Form, ImportError};

pub(crate) const FORM: Form = Form {
    word: "hackbench",
    written_by: "hackbench",
    uses: &[],
    reader: Reader::Text(fits, |_, _| {
        let why = "hackbench reports the time of a whole run and no latencies: there is nothing to import";
        Err(ImportError::whole(why))
    }),
};

fn fits(text: &str) -> Fit {
    let is_head = |line: &str| {
        line.starts_with("Running in process mode with ")
            || line.starts_with("Running in threaded mode with ")
    };
    Fit::certain_if(text.lines().any(is_head))
}
