//! Parses policies from files and command lines, and checks them against the kernel's rules.

use crate::keys::{POLICY, near};
use crate::litmus;
use crate::units::{Complaint, parse_duration};
use wakepath_timeline::Policy;
use wakepath_timeline::duration::exact;
use wakepath_timeline::quoted;

/// Least runtime that the kernel accepts (its 10-bit resolution of bandwidth), in nanoseconds.
pub(crate) const DEADLINE_RUNTIME_LEAST_NS: u64 = 1024;
/// `kernel.sched_deadline_period_min_us` by default, in nanoseconds.
pub(crate) const DEADLINE_PERIOD_LEAST_NS: u64 = 100_000;
/// `kernel.sched_deadline_period_max_us` by default (2²² µs), in nanoseconds.
pub(crate) const DEADLINE_PERIOD_MOST_NS: u64 = (1 << 22) * 1_000;

pub(crate) const EXAMPLES: &str =
    "give a policy such as \"OTHER nice -19\", \"FIFO 99\" or \"DEADLINE 400us\"";

/// Parses the short form of a policy: "OTHER", "OTHER nice -19", "BATCH nice 5", "IDLE", "FIFO 99",
/// "RR 50", "DEADLINE 400us" (runtime; deadline and period are `period_ns`) or "DEADLINE
/// 400us/2ms/4ms" (runtime, deadline, period), "EVL FIFO 80", "COBALT FIFO 80", "LITMUS P-FP 10,
/// budget 400us". Case doesn't matter.
///
/// # Errors
/// The fault of the text, or the kernel's rule that it violates.
pub fn parse_policy(text: &str, period_ns: u64) -> Result<Policy, Complaint> {
    let mut words = text.splitn(2, ' ');
    let name = words.next().unwrap_or_default().to_lowercase();
    let rest = words.next().unwrap_or_default().trim();
    match name.as_str() {
        "other" => Ok(Policy::Other {
            nice: nice(&name, rest)?,
        }),
        "batch" => Ok(Policy::Batch {
            nice: nice(&name, rest)?,
        }),
        "idle" if rest.is_empty() => Ok(Policy::Idle),
        "idle" => Err(Complaint::new("gives IDLE a parameter", "IDLE takes none")),
        "fifo" => Ok(Policy::Fifo {
            priority: priority(&name, rest)?,
        }),
        "rr" => Ok(Policy::RoundRobin {
            priority: priority(&name, rest)?,
        }),
        "deadline" => deadline(rest, period_ns),
        "evl" => Ok(Policy::EvlFifo {
            priority: fifo_of("EVL", rest)?,
        }),
        "cobalt" => Ok(Policy::CobaltFifo {
            priority: fifo_of("COBALT", rest)?,
        }),
        "litmus" => litmus::parse(rest, period_ns),
        glued if with_blank(glued).is_some() => Err(Complaint::new(
            "is not a known policy",
            format!(
                "did you mean \"{}\"?",
                with_blank(glued).unwrap_or_default()
            ),
        )),
        _ => {
            let names = POLICY.names();
            let remedy = near(&name, &names).unwrap_or_else(|| EXAMPLES.to_owned());
            Err(Complaint::new("is not a known policy", remedy))
        }
    }
}

/// `FIFO 80` for `fifo80`: a policy that its number is glued to.
fn with_blank(name: &str) -> Option<String> {
    let begin = name.find(|c: char| c.is_ascii_digit() || c == '-')?;
    let (word, number) = name.split_at(begin);
    let word = word.trim_end_matches(['_', ':', '=', '-']);
    match word {
        "fifo" | "rr" => {
            priority(word, number.trim_start_matches('-')).ok()?;
            Some(format!(
                "{} {}",
                word.to_uppercase(),
                number.trim_start_matches('-')
            ))
        }
        "other" | "batch" => {
            number
                .parse::<i8>()
                .ok()
                .filter(|nice| (-20..=19).contains(nice))?;
            Some(format!("{} nice {number}", word.to_uppercase()))
        }
        "deadline" => Some(format!("DEADLINE {number}")),
        _ => None,
    }
}

fn nice(name: &str, rest: &str) -> Result<i8, Complaint> {
    let name = name.to_uppercase();
    if rest.is_empty() {
        return Ok(0);
    }
    let remedy = format!("give \"{name} nice N\" with N from -20 to 19");
    let Some(number) = rest.strip_prefix("nice ") else {
        let problem = if rest.bytes().all(|byte| byte.is_ascii_digit()) {
            format!("gives {name} a priority")
        } else {
            format!("has something other than a nice value after {name}")
        };
        return Err(Complaint::new(problem, remedy));
    };
    // The minus sign that people copy from tables is a minus sign too.
    match number.trim().replace('−', "-").parse::<i8>() {
        Ok(nice @ -20..=19) => Ok(nice),
        _ => Err(Complaint::new("has a nice value out of range", remedy)),
    }
}

fn priority(name: &str, rest: &str) -> Result<u8, Complaint> {
    let name = name.to_uppercase();
    let remedy = format!("give \"{name} N\" with N from 1 to 99");
    let problem = match rest.parse::<u8>() {
        Ok(priority @ 1..=99) => return Ok(priority),
        _ if rest.is_empty() => format!("has no priority after {name}"),
        _ if rest.starts_with("nice") => format!("gives {name} a nice value"),
        _ => "has a priority out of range".to_owned(),
    };
    Err(Complaint::new(problem, remedy))
}

/// The priority in a core's FIFO queue, its only supported policy.
fn fifo_of(core: &str, rest: &str) -> Result<u8, Complaint> {
    let (queue, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    if queue.eq_ignore_ascii_case("fifo") {
        priority(&format!("{core} FIFO"), rest.trim())
    } else {
        Err(Complaint::new(
            format!("names an unknown policy of {core}"),
            format!("give \"{core} FIFO N\" with N from 1 to 99"),
        ))
    }
}

fn deadline(rest: &str, loop_period_ns: u64) -> Result<Policy, Complaint> {
    let form = "give \"DEADLINE runtime\" or \"DEADLINE runtime/deadline/period\", such as \
                \"DEADLINE 400us\"";
    if rest.is_empty() {
        return Err(Complaint::new("has no runtime after DEADLINE", form));
    }
    let parts = rest.split('/').map(|part| {
        parse_duration(part.trim()).map_err(|complaint| {
            Complaint::new(
                format!("has {}, which {}", quoted(part), complaint.problem),
                form,
            )
        })
    });
    let (runtime_ns, deadline_ns, period_ns) = match parts.collect::<Result<Vec<_>, _>>()?[..] {
        [runtime] => (runtime, loop_period_ns, loop_period_ns),
        [runtime, deadline, period] => (runtime, deadline, period),
        _ => {
            return Err(Complaint::new("must have one time or three", form));
        }
    };
    match broken_rule(runtime_ns, deadline_ns, period_ns) {
        None => Ok(Policy::Deadline {
            runtime_ns,
            deadline_ns,
            period_ns,
        }),
        Some((part, complaint)) => {
            let value = match part {
                "runtime" => runtime_ns,
                "deadline" => deadline_ns,
                _ => period_ns,
            };
            let value = exact(value);
            let problem = format!("has a {part} of {value}, which {}", complaint.problem);
            Err(Complaint::new(problem, complaint.remedy))
        }
    }
}

/// The first of the kernel's rules (`__checkparam_dl` in kernel/sched/deadline.c) that a
/// reservation breaks, with the parameter to blame.
pub(crate) fn broken_rule(
    runtime_ns: u64,
    deadline_ns: u64,
    period_ns: u64,
) -> Option<(&'static str, Complaint)> {
    let bound = |part, problem: String, most: &str| {
        Some((part, Complaint::new(problem, format!("give at {most}"))))
    };
    let (least, most) = (DEADLINE_PERIOD_LEAST_NS, DEADLINE_PERIOD_MOST_NS);
    if period_ns < least {
        let least = exact(least);
        let problem = format!("is shorter than the kernel's least DEADLINE period ({least})");
        return bound("period", problem, &format!("least {least}"));
    }
    if period_ns > most {
        let most = exact(most);
        let problem = format!("is longer than the kernel's longest DEADLINE period ({most})");
        return bound("period", problem, &format!("most {most}"));
    }
    if deadline_ns > period_ns {
        let period = exact(period_ns);
        let problem = format!("is longer than the period ({period})");
        return bound("deadline", problem, &format!("most {period}"));
    }
    if runtime_ns > deadline_ns {
        let other = if deadline_ns == period_ns {
            "period"
        } else {
            "deadline"
        };
        let limit = exact(deadline_ns);
        let problem = format!("is longer than the {other} ({limit})");
        return bound("runtime", problem, &format!("most {limit}"));
    }
    if runtime_ns < DEADLINE_RUNTIME_LEAST_NS {
        let problem = "is shorter than the kernel's least DEADLINE runtime (1024 ns)".to_owned();
        return bound("runtime", problem, "least 1024 ns");
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PERIOD_NS: u64 = 4_000_000;

    #[test]
    fn a_policy_whose_blank_is_missing_is_guessed() {
        for (written, meant) in [
            ("FIFO80", "FIFO 80"),
            ("rr50", "RR 50"),
            ("fifo-80", "FIFO 80"),
            ("OTHER-5", "OTHER nice -5"),
            ("DEADLINE400us", "DEADLINE 400us"),
        ] {
            let refused = parse_policy(written, 4_000_000).unwrap_err().to_string();
            let asked = format!("did you mean \"{meant}\"?");
            assert!(refused.contains(&asked), "{written}: {refused}");
            assert!(parse_policy(meant, 4_000_000).is_ok(), "{meant}");
        }
        let refused = parse_policy("FIFO180", 4_000_000).unwrap_err().to_string();
        assert!(!refused.contains("FIFO 180"), "{refused}");
    }

    #[test]
    fn short_forms_name_each_policy_with_its_own_parameter() {
        for (text, policy) in [
            ("OTHER", Policy::Other { nice: 0 }),
            ("other nice -19", Policy::Other { nice: -19 }),
            ("OTHER nice −19", Policy::Other { nice: -19 }),
            ("BATCH nice 5", Policy::Batch { nice: 5 }),
            ("IDLE", Policy::Idle),
            ("FIFO 99", Policy::Fifo { priority: 99 }),
            ("RR 50", Policy::RoundRobin { priority: 50 }),
            ("EVL FIFO 80", Policy::EvlFifo { priority: 80 }),
            ("evl fifo 1", Policy::EvlFifo { priority: 1 }),
            ("COBALT FIFO 80", Policy::CobaltFifo { priority: 80 }),
            ("cobalt fifo 99", Policy::CobaltFifo { priority: 99 }),
        ] {
            assert_eq!(parse_policy(text, PERIOD_NS), Ok(policy), "{text}");
        }
    }

    #[test]
    fn a_deadline_reservation_takes_the_loops_period_unless_told_otherwise() {
        let policy = |runtime_ns, deadline_ns, period_ns| {
            Ok(Policy::Deadline {
                runtime_ns,
                deadline_ns,
                period_ns,
            })
        };
        let short = parse_policy("DEADLINE 400us", PERIOD_NS);
        assert_eq!(short, policy(400_000, PERIOD_NS, PERIOD_NS));
        let long = parse_policy("DEADLINE 400 µs/2ms/8ms", PERIOD_NS);
        assert_eq!(long, policy(400_000, 2_000_000, 8_000_000));
    }

    #[test]
    fn the_kernels_own_bounds_are_kept_to_the_nanosecond() {
        let accepted = |runtime, deadline, period| broken_rule(runtime, deadline, period).is_none();
        assert!(accepted(1024, 100_000, 100_000));
        assert!(!accepted(1023, 100_000, 100_000));
        assert!(!accepted(1024, 99_999, 99_999));
        assert!(accepted(1024, 4_194_304_000, 4_194_304_000));
        assert!(!accepted(1024, 4_194_304_001, 4_194_304_001));
        assert!(accepted(200_000, 200_000, 300_000));
        assert!(!accepted(200_001, 200_000, 300_000));
        assert!(!accepted(200_000, 300_001, 300_000));
    }

    #[test]
    fn parameters_of_another_policy_are_refused() {
        for text in [
            "OTHER 50",
            "OTHER -19",
            "OTHER nice 20",
            "FIFO nice -19",
            "FIFO",
            "FIFO 0",
            "FIFO 100",
            "IDLE 1",
            "DEADLINE",
            "DEADLINE 400",
            "DEADLINE 1us",
            "DEADLINE 5ms",
            "DEADLINE 1ms/2ms",
            "",
            "FIFI 99",
            "EVL",
            "EVL 80",
            "EVL FIFO",
            "EVL FIFO 0",
            "EVL FIFO 100",
            "EVL RR 5",
            "COBALT",
            "COBALT 80",
            "COBALT FIFO 0",
            "COBALT FIFO 100",
            "COBALT TP 5",
            "99",
        ] {
            assert!(parse_policy(text, PERIOD_NS).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_a_policy_prints_is_read_back(nice in -20_i8..20, priority in 1_u8..100, runtime in 1024..PERIOD_NS) {
            let deadline = Policy::Deadline {
                runtime_ns: runtime, deadline_ns: PERIOD_NS, period_ns: PERIOD_NS,
            };
            for policy in [
                Policy::Other { nice }, Policy::Batch { nice }, Policy::Idle,
                Policy::Fifo { priority }, Policy::RoundRobin { priority }, Policy::EvlFifo { priority },
                Policy::CobaltFifo { priority }, deadline,
            ] {
                prop_assert_eq!(parse_policy(&policy.to_string(), PERIOD_NS), Ok(policy));
            }
        }
    }
}
