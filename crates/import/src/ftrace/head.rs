//! What stands before an event's fields in a line of text: task, CPU, instant, event. The kernel,
//! trace-cmd and perf each write it in several ways.

/// What stands before an event's fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head<'a> {
    pub(crate) current: u32,
    pub(crate) cpu: u16,
    pub(crate) at_ns: u64,
    /// Whether the instant has digits below a microsecond.
    pub(crate) has_nanoseconds: bool,
    /// Event and fields.
    pub(crate) rest: &'a str,
}

/// Why a line has no such beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NoHead {
    /// It is no event's line.
    Other,
    /// It is, but its instant counts something else than seconds.
    Clock,
}

/// Reads a line. A thread's name may hold anything: the CPU's brackets are the first that stand
/// after a number and before an instant.
pub(crate) fn head(line: &str) -> Result<Head<'_>, NoHead> {
    let mut clock = false;
    for (at, _) in line.match_indices('[') {
        if let Some(found) = bracketed(line, at, &mut clock) {
            return Ok(found);
        }
    }
    if let Some(found) = latency(line) {
        return Ok(found);
    }
    Err(if clock { NoHead::Clock } else { NoHead::Other })
}

/// `task-pid (tgid) [cpu] flags seconds: event: fields`. perf has `task pid [cpu]` or `pid/tid`.
fn bracketed<'a>(line: &'a str, at: usize, clock: &mut bool) -> Option<Head<'a>> {
    let mut before = line[..at].trim_end();
    // The process, with the option record-tgid: `(  812)`.
    if let Some((rest, group)) = before.rsplit_once('(')
        && group.ends_with(')')
    {
        before = rest.trim_end();
    }
    let last = before.rsplit([' ', '-', '/']).next()?;
    let current = last.parse().ok()?;
    let (cpu, rest) = line[at + 1..].split_once(']')?;
    let cpu = cpu.parse().ok()?;
    // Flags are present unless switched off.
    let mut words = rest.split_whitespace();
    let instant = words.by_ref().take(2).find(|word| word.ends_with(':'))?;
    let (_, after) = rest.split_once(instant)?;
    let instant = instant.strip_suffix(':')?;
    *clock |= instant.bytes().all(|byte| byte.is_ascii_digit());
    let (at_ns, has_nanoseconds) = seconds(instant)?;
    Some(Head {
        current,
        cpu,
        at_ns,
        has_nanoseconds,
        rest: after.trim_start(),
    })
}

/// `task-pid cpu+flags instant`: the latency format. The kernel's instants are microseconds since the trace
/// began, followed by a mark for long gaps; trace-cmd's are seconds.
fn latency(line: &str) -> Option<Head<'_>> {
    for (at, _) in line.match_indices('-') {
        let found = || {
            let mut words = line[at + 1..].split_whitespace();
            let current = words.next()?.parse().ok()?;
            let flags = words.next()?;
            let digits = flags.bytes().take_while(u8::is_ascii_digit).count();
            let cpu = flags[..digits].parse().ok()?;
            // Flags are letters, dots and small numbers, directly after the CPU.
            (flags.len() >= digits + 4 && flags.len() <= digits + 8).then_some(())?;
            let instant = words.next()?;
            let (_, after) = line[at + 1..].split_once(instant)?;
            let (at_ns, has_nanoseconds, rest) = match instant.split_once("us") {
                Some((micros, mark)) => {
                    let (whole, part) = micros.split_once('.').unwrap_or((micros, ""));
                    let whole: u64 = whole.parse().ok()?;
                    let below = below(part, 3)?;
                    let at_ns = whole.checked_mul(1_000)?.checked_add(below)?;
                    let rest = after.trim_start();
                    let rest = match mark.ends_with(':') {
                        true => rest,
                        // `   26us : event`, `26us+ : event`.
                        false => rest.strip_prefix(':')?.trim_start(),
                    };
                    (at_ns, !part.is_empty(), rest)
                }
                None => {
                    let (at_ns, has) = seconds(instant.strip_suffix(':')?)?;
                    (at_ns, has, after.trim_start())
                }
            };
            Some(Head {
                current,
                cpu,
                at_ns,
                has_nanoseconds,
                rest,
            })
        };
        if let Some(head) = found() {
            return Some(head);
        }
    }
    None
}

/// Seconds with a fraction of up to nine digits, in nanoseconds.
fn seconds(instant: &str) -> Option<(u64, bool)> {
    let (seconds, fraction) = instant.split_once('.')?;
    if fraction.is_empty() {
        return None;
    }
    let below = below(fraction, 9)?;
    let at_ns = seconds.parse::<u64>().ok()?;
    let at_ns = at_ns.checked_mul(1_000_000_000)?.checked_add(below)?;
    let at_ns = Some(at_ns).filter(|ns| i64::try_from(*ns).is_ok())?;
    Some((at_ns, fraction.len() > 6))
}

/// A fraction as a whole number of `digits` digits; `None` if it has more.
fn below(fraction: &str, digits: u32) -> Option<u64> {
    let length = u32::try_from(fraction.len()).ok()?;
    if length > digits || !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = match fraction {
        "" => 0,
        some => some.parse::<u64>().ok()?,
    };
    value.checked_mul(10_u64.pow(digits - length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> (u32, u16, u64, &str) {
        let head = head(line).unwrap_or_else(|_| panic!("{line}"));
        (head.current, head.cpu, head.at_ns, head.rest)
    }

    #[test]
    fn every_way_of_writing_the_head_is_read() {
        let at = 12_000_345_000;
        let rest = "sched_waking: comm=x pid=9 prio=120 target_cpu=001";
        for line in [
            "a [001] b-7-812     (  812) [003] d..2.   12.000345: ",
            "          <idle>-812     (-----) [003] d..2   12.000345: ",
            "            servo-812   [003]    12.000345: ",
            "            servo-812     [003]    12.000345000: ",
            "           servo   812 [003]    12.000345: ",
            "  my servo 2  99/812   [003]    12.000345: ",
            "   servo-812     3d..2.    12.000345: ",
            "   my-servo-812     3d..2.    12.000345: ",
            "   my-servo-812     3d..h...    12.000345: ",
        ] {
            assert_eq!(
                found(&format!("{line}{rest}")),
                (812, 3, at, rest),
                "{line}"
            );
        }
        // The kernel's latency format, in microseconds.
        for (line, at_ns) in [
            ("  <idle>-0       3dNh4.    1us+: ", 1_000),
            ("trace-cm-1994    3d..2   345us!: ", 345_000),
            ("    rcu-12        3d..2.   26us : ", 26_000),
        ] {
            let line = format!("{line}{rest}");
            let (_, cpu, at, read) = found(&line);
            assert_eq!((cpu, at, read), (3, at_ns, rest), "{line}");
        }
        assert_eq!(head("hello"), Err(NoHead::Other));
        assert_eq!(head(" => hrtimer_interrupt"), Err(NoHead::Other));
        assert_eq!(head("a-1 [000] 123456: x: y"), Err(NoHead::Clock));
        assert_eq!(
            head("a-1 [000] 99999999999999999999.5: x: y"),
            Err(NoHead::Other)
        );
    }
}
