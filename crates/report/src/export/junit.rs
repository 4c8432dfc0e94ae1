//! An assessment as JUnit XML, for CI servers: each condition is a test case. A condition without a
//! verdict is no success: it counts as an error.

use std::fmt::{Result, Write};
use wakepath_assess::Assessment;
use wakepath_verdict::{Judgement, Outcome};

/// The text.
pub fn junit(assessment: &Assessment) -> String {
    let mut text = String::new();
    // Writing to a String can't fail.
    let _ = write_all(&mut text, assessment);
    text
}

/// Result of a case for a CI server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counted {
    Success,
    Failure,
    Error,
    Skipped,
}

impl Counted {
    fn new(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Passed => Self::Success,
            Outcome::Failed => Self::Failure,
            Outcome::Undecided | Outcome::Invalid => Self::Error,
            // Nobody asked for a verdict, or none is possible here.
            Outcome::NotJudged | Outcome::VirtualTime => Self::Skipped,
        }
    }
}

struct Case {
    name: String,
    outcome: String,
    counted: Counted,
    why: String,
    seconds: f64,
}

fn write_all(text: &mut String, assessment: &Assessment) -> Result {
    let run = &assessment.run;
    let mut cases: Vec<Case> = assessment.conditions.iter().map(case).collect();
    cases.extend(assessment.not_measured.iter().map(|missing| Case {
        name: format!("{}, {}", missing.condition, missing.phase),
        outcome: "not measured".to_owned(),
        counted: Counted::Skipped,
        why: missing.reason.clone(),
        seconds: 0.0,
    }));
    if cases.is_empty() {
        cases.push(Case {
            name: "the run".to_owned(),
            outcome: assessment.outcome.to_string(),
            counted: match Counted::new(assessment.outcome) {
                Counted::Success => Counted::Error,
                other => other,
            },
            why: assessment.remarks.join("; "),
            seconds: 0.0,
        });
    }
    let count = |of: Counted| cases.iter().filter(|case| case.counted == of).count();
    let seconds: f64 = cases.iter().map(|case| case.seconds).sum();
    let counts = format!(
        "tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{seconds:.3}\"",
        cases.len(),
        count(Counted::Failure),
        count(Counted::Error),
        count(Counted::Skipped),
    );
    let scenario = escaped(&run.scenario);
    writeln!(text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(text, "<testsuites>")?;
    write!(text, "  <testsuite name=\"{scenario}\" {counts}")?;
    if let Some(instant) = timestamp(&run.started) {
        write!(text, " timestamp=\"{instant}\"")?;
    }
    writeln!(text, ">")?;
    writeln!(text, "    <properties>")?;
    for (name, value) in [
        ("run", &run.run_id),
        ("verdict", &assessment.outcome.to_string()),
        ("wakepath", &run.wakepath),
    ] {
        let value = escaped(value);
        writeln!(text, "      <property name=\"{name}\" value=\"{value}\"/>")?;
    }
    writeln!(text, "    </properties>")?;
    for case in &cases {
        write_case(text, case, &scenario)?;
    }
    writeln!(text, "  </testsuite>")?;
    writeln!(text, "</testsuites>")
}

fn case(judgement: &Judgement) -> Case {
    let reasons = judgement
        .reasons
        .iter()
        .filter(|reason| reason.bearing() == judgement.outcome);
    let reasons: Vec<String> = reasons.map(ToString::to_string).collect();
    Case {
        name: judgement.name.to_string(),
        outcome: judgement.outcome.to_string(),
        counted: Counted::new(judgement.outcome),
        why: reasons.join("; "),
        seconds: judgement.cycles.judged_seconds,
    }
}

fn write_case(text: &mut String, case: &Case, scenario: &str) -> Result {
    write!(
        text,
        "    <testcase name=\"{}\" classname=\"wakepath.{scenario}\" time=\"{:.3}\"",
        escaped(&case.name),
        case.seconds
    )?;
    let why = escaped(&case.why);
    let element = match case.counted {
        Counted::Success => return writeln!(text, "/>"),
        Counted::Failure => "failure",
        Counted::Error => "error",
        Counted::Skipped => {
            writeln!(text, ">")?;
            let why = if why.is_empty() { &case.outcome } else { &why };
            writeln!(text, "      <skipped message=\"{why}\"/>")?;
            return writeln!(text, "    </testcase>");
        }
    };
    writeln!(text, ">")?;
    writeln!(
        text,
        "      <{element} message=\"{why}\" type=\"{}\">{why}</{element}>",
        escaped(&case.outcome)
    )?;
    writeln!(text, "    </testcase>")
}

/// Date and time without a zone, which the format has no place for: all are UTC.
fn timestamp(started: &str) -> Option<&str> {
    let (whole, _) = started.split_at_checked(19)?;
    let digits = |byte: &u8| byte.is_ascii_digit();
    let right = whole
        .bytes()
        .zip("0000-00-00T00:00:00".bytes())
        .all(|(own, shape)| {
            if digits(&shape) {
                digits(&own)
            } else {
                own == shape
            }
        });
    right.then_some(whole)
}

/// Text within an element or an attribute. What XML 1.0 can't hold is replaced.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_stays_in_its_place() {
        let text = "a\"/><failure>&\u{0}\u{1b}\n]]>";
        let right = "a&quot;/&gt;&lt;failure&gt;&amp;\u{fffd}\u{fffd}\u{fffd}]]&gt;";
        assert_eq!(escaped(text), right);
    }

    #[test]
    fn an_instant_is_left_out_where_it_is_none() {
        assert_eq!(
            timestamp("2026-11-26T05:40:00Z"),
            Some("2026-11-26T05:40:00")
        );
        assert_eq!(timestamp("yesterday, at five o'clock"), None);
        assert_eq!(timestamp(""), None);
    }

    #[test]
    fn only_what_passed_is_a_success() {
        let all = [
            (Outcome::Passed, Counted::Success),
            (Outcome::Failed, Counted::Failure),
            (Outcome::Undecided, Counted::Error),
            (Outcome::Invalid, Counted::Error),
            (Outcome::NotJudged, Counted::Skipped),
            (Outcome::VirtualTime, Counted::Skipped),
        ];
        assert!(
            all.into_iter()
                .all(|(outcome, counted)| Counted::new(outcome) == counted)
        );
    }
}
