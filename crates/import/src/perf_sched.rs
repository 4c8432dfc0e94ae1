//! `perf sched timehist` as text: a line for each time that a thread was on a CPU, with how long it
//! had waited for it. The lines are turned back into wake-ups and switches.

use crate::clock::TimersClock;
use crate::form::{Fit, Reader};
use crate::kernel_events::{Recording, imported};
use crate::{Asked, Form, ImportError, Imported, Use};
use std::collections::{BTreeMap, HashMap};
use wakepath_timeline::{KernelEvent, Lack, Left, Thread, ThreadName, What};

pub(crate) const FORM: Form = Form {
    word: "perf-sched",
    written_by: "perf sched timehist",
    uses: &[Use::Threads],
    reader: Reader::Text(fits, read),
};

/// The kernel's priority of a thread of which nothing is known: nice 0.
const ORDINARY: i32 = 120;
/// Threads without a number get one from here.
const FIRST_MADE_UP: u32 = 1 << 24;

fn fits(text: &str) -> Fit {
    let is_head = |line: &str| line.contains("sch delay") && line.contains("run time");
    Fit::certain_if(text.lines().any(is_head))
}

/// A stretch of a thread on a CPU, in nanoseconds to a microsecond.
struct Stretch<'a> {
    ended_ns: u64,
    cpu: u16,
    name: &'a str,
    delay_ns: u64,
    ran_ns: u64,
}

pub(crate) fn read(text: &str, asked: &Asked<'_>) -> Result<Imported, ImportError> {
    let head = text.lines().find(|line| line.contains("sch delay"));
    let between = head.and_then(|head| head.split_once("cpu")?.1.split_once("task name"));
    let Some((drawn, _)) = between else {
        let why = "has no head `time cpu task name wait time sch delay run time`";
        return Err(ImportError::whole(why));
    };
    // With -V a column for each CPU is drawn before the name.
    let drawn = match drawn.trim().len() {
        0 => 0,
        columns => columns + 3,
    };
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let begins = line.trim_start().bytes().next();
        // Wake-ups and migrations (-w, -M) have no times; call chains have no instant.
        if !begins.is_some_and(|byte| byte.is_ascii_digit()) || !line.contains('[') {
            continue;
        }
        match stretch(line, drawn) {
            Ok(stretch) => stretches.extend(stretch),
            Err(()) => {
                let why =
                    "no line of perf sched timehist: `seconds [cpu] task wait delay run`, in ms";
                return Err(ImportError::at(number, why));
            }
        }
    }
    stretches.sort_by_cached_key(|of| of.ended_ns);
    let mut found = imported(
        Recording {
            tool: "perf sched timehist",
            tool_version: None,
            command: Vec::new(),
            kernel: None,
            events: events(&stretches),
            needed: "`perf sched record`, and import its perf.data",
            clock: TimersClock::default(),
            lacks: vec![
                Lack::BelowMicroseconds,
                Lack::Other(
                    "wake-ups without a delay: they look like the end of a preemption".into(),
                ),
            ],
        },
        asked,
    )?;
    // Events made from these lines are no trace that can explain anything.
    found.trace = None;
    Ok(found)
}

/// A line's stretch; `None` of one that has no times.
fn stretch(line: &str, drawn: usize) -> Result<Option<Stretch<'_>>, ()> {
    let (seconds, rest) = line.split_once('[').ok_or(())?;
    let (cpu, rest) = rest.split_once(']').ok_or(())?;
    let rest = rest.get(drawn..).ok_or(())?;
    let cpu = cpu.parse().map_err(drop)?;
    let ended_ns = decimal(seconds.trim(), 9).ok_or(())?;
    if rest.contains(" awakened: ") || rest.contains(" migrated: ") {
        return Ok(None);
    }
    // Three numbers with three digits after the point follow the name, whatever that is.
    let is_time = |word: &&str| {
        word.split_once('.')
            .is_some_and(|(_, part)| part.len() == 3)
    };
    let mut times = [0; 3];
    let mut end = rest.len();
    let mut words = rest
        .split_whitespace()
        .rev()
        .skip_while(|word| !is_time(word));
    for time in times.iter_mut().rev() {
        let word = words.next().filter(is_time).ok_or(())?;
        *time = decimal(word, 6).ok_or(())?;
        end = word.as_ptr() as usize - rest.as_ptr() as usize;
    }
    let [_, delay_ns, ran_ns] = times;
    Ok(Some(Stretch {
        ended_ns,
        cpu,
        name: rest[..end].trim(),
        delay_ns,
        ran_ns,
    }))
}

/// A decimal number in nanoseconds; its unit is 10 to the power of `digits`.
fn decimal(text: &str, digits: u32) -> Option<u64> {
    let (whole, part) = text.split_once('.')?;
    let length = u32::try_from(part.len())
        .ok()
        .filter(|length| *length <= digits)?;
    let whole = whole.parse::<u64>().ok()?.checked_mul(10_u64.pow(digits))?;
    let part = part
        .parse::<u64>()
        .ok()?
        .checked_mul(10_u64.pow(digits - length))?;
    whole
        .checked_add(part)
        .filter(|ns| i64::try_from(*ns).is_ok())
}

/// Wake-ups and switches derived from the stretches. A thread that returns without a delay was preempted.
fn events(stretches: &[Stretch<'_>]) -> Vec<KernelEvent> {
    let mut numbers: BTreeMap<&str, u32> = BTreeMap::new();
    // Whether the next stretch of a thread begins with a wake-up.
    let mut next_is_woken: HashMap<&str, bool> = HashMap::new();
    let mut sleeps = Vec::with_capacity(stretches.len());
    for of in stretches.iter().rev() {
        let woken = of.delay_ns > 0;
        sleeps.push(next_is_woken.insert(of.name, woken).unwrap_or(true));
    }
    let mut events = Vec::new();
    for (of, sleeps) in stretches.iter().zip(sleeps.into_iter().rev()) {
        let made_up = FIRST_MADE_UP.saturating_add(u32::try_from(numbers.len()).unwrap_or(0));
        let (name, own) = named(of.name);
        let id = *numbers.entry(of.name).or_insert(own.unwrap_or(made_up));
        let idle = Thread {
            id: 0,
            name: ThreadName::new(b"swapper"),
            priority: ORDINARY,
        };
        if id == 0 || name == "<idle>" {
            continue;
        }
        let thread = Thread {
            id,
            name: ThreadName::new(name.as_bytes()),
            priority: ORDINARY,
        };
        let mut push = |at_ns, what| {
            events.push(KernelEvent {
                at_ns,
                cpu: of.cpu,
                current: 0,
                what,
            });
        };
        let came_ns = of.ended_ns.saturating_sub(of.ran_ns);
        if of.delay_ns > 0 {
            let (thread, target_cpu) = (thread.clone(), of.cpu);
            push(
                came_ns.saturating_sub(of.delay_ns),
                What::Waking { thread, target_cpu },
            );
        }
        push(
            came_ns,
            What::Switch {
                previous: idle.clone(),
                left: Left::Runnable,
                next: thread.clone(),
            },
        );
        push(
            of.ended_ns,
            What::Switch {
                previous: thread,
                left: if sleeps {
                    Left::Sleeping
                } else {
                    Left::Runnable
                },
                next: idle,
            },
        );
    }
    events
}

/// `name[tid]`, `name[tid/pid]`, or `:tid`.
fn named(text: &str) -> (&str, Option<u32>) {
    if let Some(number) = text.strip_prefix(':')
        && let Ok(number) = number.parse()
    {
        return (text, Some(number));
    }
    let Some((name, inner)) = text.rsplit_once('[') else {
        return (text, None);
    };
    let number = inner.trim_end_matches(']').split('/').next();
    (name, number.and_then(|number| number.parse().ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Values;

    const HEAD: &str = "\
           time    cpu  task name                       wait time  sch delay   run time
                        [tid/pid]                          (msec)     (msec)     (msec)
--------------- ------  ------------------------------  ---------  ---------  ---------
";

    #[test]
    fn a_line_is_a_stretch_whose_delay_is_the_latency() {
        let mut text = HEAD.to_owned();
        for k in 0..20_u64 {
            // Woken at whole milliseconds, preempted once after 20 µs.
            let base = 5_000_000 + k * 1_000 + if k >= 12 { 3_000 } else { 0 };
            for (end, wait, delay, run) in [
                (base + 30, "0.900", "0.010", "0.020"),
                (base + 90, "0.020", "0.000", "0.040"),
            ] {
                text += &format!(
                    "    {}.{:06} [0001]  my servo[640/639]               {wait:>9}  {delay:>9}  {run:>9}\n",
                    end / 1_000_000,
                    end % 1_000_000
                );
            }
            text += "    5.000001 [0001]  <idle>                              0.000      0.000      0.001\n";
            text += "    5.000001 [0001]  other[7]                            awakened: my servo[640]\n";
        }
        let threads: &[&str] = &["my servo"];
        let asked = Asked {
            threads,
            ..Asked::default()
        };
        let found = read(&text, &asked).unwrap();
        let Values::Row(row) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!(found.threads[0].number, Some(640));
        assert_eq!(
            (row.due.period_ns, row.samples.len(), row.lost),
            (1_000_000, 20, 0)
        );
        assert!(row.samples.iter().all(|of| of.latency_ns() == 10_000));
        assert!(row.samples.iter().all(|of| of.response_ns() == 90_000));
        assert!(row.samples.iter().all(|of| of.involuntary_switches == 1));
        assert_eq!(row.samples[12].cycle, 15);
        assert!(found.trace.is_none());
    }

    #[test]
    fn names_have_their_numbers_behind_them() {
        assert_eq!(named("my servo[640/639]"), ("my servo", Some(640)));
        assert_eq!(named("a[1][640]"), ("a[1]", Some(640)));
        assert_eq!(named(":640"), (":640", Some(640)));
        assert_eq!(named("<idle>"), ("<idle>", None));
        let broken = format!("{HEAD}    5.000001 [0001]  servo[1]   hello\n");
        assert_eq!(read(&broken, &Asked::default()).unwrap_err().line, Some(4));
    }
}
