//! `perf sched latency` as text: recognized and refused. It has averages and largest delays of switches,
//! preemptions among them, and neither the least nor a distribution.

use crate::form::{Fit, Reader};
use crate::{Asked, Form, ImportError, Imported};

pub(crate) const FORM: Form = Form {
    word: "perf-latency",
    written_by: "perf sched latency",
    uses: &[],
    reader: Reader::Text(fits, refused),
};

fn fits(text: &str) -> Fit {
    let is_head = |line: &str| line.contains("| Switches |") && line.contains("elay ms");
    Fit::certain_if(text.lines().any(is_head))
}

fn refused(_: &str, _: &Asked<'_>) -> Result<Imported, ImportError> {
    Err(ImportError::whole(
        "is a summary of `perf sched latency`, which has no distribution: import its perf.data, or the text of \
         `perf sched timehist`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_is_recognized_and_what_would_be_right_is_named() {
        let text = "
  Task                  |   Runtime ms  | Switches | Avg delay ms    | Max delay ms    |
 ---------------------------------------------------------------------------------------
  servo:640             |     20.100 ms |       55 | avg:   0.568 ms | max:  12.093 ms |
";
        let form = Form::of_file(text.as_bytes()).unwrap();
        assert_eq!(form.word(), "perf-latency");
        let error = form.read(text.as_bytes(), &Asked::default()).unwrap_err();
        assert!(error.why.contains("timehist"), "{error}");
    }
}
