//! Tracers that keep the longest wake-up (wakeup, wakeup_rt, wakeup_dl): its latency and its thread. The
//! CPU's activity during it is in the lines below, which are counted.

use crate::form::{Fit, Reader};
use crate::{Asked, Form, Histogram, ImportError, Imported, Thread, Values};
use wakepath_timeline::Lack;

pub(crate) const FORM: Form = Form {
    word: "wakeup-tracer",
    written_by: "cat trace with current_tracer wakeup_rt",
    uses: &[],
    reader: Reader::Text(fit, read),
};

/// Tracers whose header has a latency.
pub(super) const TRACERS: [&str; 6] = [
    "wakeup",
    "wakeup_rt",
    "wakeup_dl",
    "irqsoff",
    "preemptoff",
    "preemptirqsoff",
];

fn tracer(text: &str) -> Option<&str> {
    let named = text
        .lines()
        .find_map(|line| line.strip_prefix("# tracer: "))?;
    Some(named.trim()).filter(|named| TRACERS.contains(named))
}

fn fit(text: &str) -> Fit {
    Fit::certain_if(tracer(text).is_some())
}

pub(crate) fn read(text: &str, _: &Asked<'_>) -> Result<Imported, ImportError> {
    let tracer = tracer(text).ok_or_else(|| {
        ImportError::whole("has no head `# tracer: wakeup_rt` of a tracer that keeps the longest")
    })?;
    let head = |name: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with('#') && line.contains(name));
        line.and_then(|line| line.split_once(name))
            .map(|(_, rest)| rest)
    };
    let latency = head("latency: ").and_then(|rest| {
        let (micros, _) = rest.split_once(" us")?;
        micros.trim().parse::<i64>().ok()?.checked_mul(1_000)
    });
    let Some(latency_ns) = latency.filter(|ns| *ns >= 0) else {
        let why = "has no `# latency: … us`: the tracer saw no wake-up";
        return Err(ImportError::whole(why));
    };
    if !tracer.starts_with("wakeup") {
        return Err(ImportError::whole(format!(
            "{tracer} keeps the longest stretch that nothing could interrupt ({} µs), which is not a \
             wake-up: import a trace of wakeup_rt, or of sched_waking and sched_switch",
            latency_ns / 1_000
        )));
    }
    // `sleep-2389 (uid:0 nice:0 policy:1 rt_prio:5)`
    let task = head("task: ").unwrap_or("");
    let (name, about) = task.rsplit_once(" (").unwrap_or((task, ""));
    let (name, _) = name.rsplit_once('-').unwrap_or((name, ""));
    let number = |of: &str| {
        let word = about.split(of).nth(1)?;
        let word = word.split([' ', ')']).next()?;
        word.parse::<u8>().ok()
    };
    let priority = match (number("policy:"), number("rt_prio:")) {
        (Some(policy @ (1 | 2)), Some(priority)) => Some((priority, policy == 2)),
        (Some(0 | 3 | 5), _) => Some((0, false)),
        _ => None,
    };
    let name: String = name
        .trim()
        .chars()
        .filter(|c| !c.is_control())
        .take(40)
        .collect();
    let histogram = Histogram {
        bins: vec![(latency_ns, latency_ns.saturating_add(999), 1)],
        min_ns: Some(latency_ns),
        max_ns: Some(latency_ns),
        ..Histogram::default()
    };
    Ok(Imported {
        tool: "wakeup",
        measures: "the longest wake-up, from the wake-up to the switch to the thread",
        lacks: vec![
            Lack::Other(
                "all wake-ups except the longest, the only one that the tracer keeps".into(),
            ),
            Lack::BeforeWakeUp,
            Lack::BelowMicroseconds,
            Lack::DueTimes,
            Lack::ExecutionTimes,
            Lack::Machine,
        ],
        threads: vec![Thread::new(
            if name.is_empty() {
                "thread".to_owned()
            } else {
                name
            },
            None,
            Values::Histogram(histogram),
        )],
        priority,
        ..Imported::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "# tracer: wakeup_rt\n#\n# wakeup_rt latency trace v1.1.5 on 6.1.0\n\
        # latency: 26 us, #4/4, CPU#1 | (M:preempt VP:0, KP:0, SP:0 HP:0 #P:4)\n\
        #    | task: my-servo-2389 (uid:0 nice:0 policy:1 rt_prio:80)\n";

    #[test]
    fn the_longest_wake_up_is_read_with_its_thread_and_policy() {
        let text =
            format!("{HEAD}  <idle>-0       3d.h4    1us+:      0:120:R   + [003]  2389: 19:S\n");
        let found = read(&text, &Asked::default()).unwrap();
        assert_eq!(
            (found.threads[0].name.as_str(), found.priority),
            ("my-servo", Some((80, false)))
        );
        let Values::Histogram(histogram) = &found.threads[0].values else {
            panic!("{found:?}");
        };
        assert_eq!((histogram.count(), histogram.max_ns), (1, Some(26_000)));
    }

    #[test]
    fn a_tracer_that_measures_no_wake_up_is_named() {
        let text = HEAD.replace("wakeup_rt", "irqsoff");
        let error = read(&text, &Asked::default()).unwrap_err().to_string();
        assert!(
            error.contains("irqsoff keeps the longest stretch") && error.contains("26 µs"),
            "{error}"
        );
    }
}
