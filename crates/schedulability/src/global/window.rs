//! From one window to the next on the way to the least that holds a job with all that interferes:
//! R = C + ⌊Σ min(most_i(R), R − C + 1) / M⌋. Step by step, where terms are cut off by the window's
//! own length, each step would be a nanosecond; a window that can't be the answer is leapt over.

/// The next window after `window_ns`, or the same if it is the answer. `most_ns` has, for each other task,
/// the most that it can do in this window; in longer ones it does no less. `None`: sums beyond 64 bits.
///
/// If k terms are cut off and the others sum to S, no window shorter than C + S / (M − k) is an answer as
/// long as all k stay cut off, which they do up to the smallest of their own limits; if k is M or more,
/// there is none at all.
#[inline]
pub(super) fn next(execution_ns: u64, cpus: u32, window_ns: u64, most_ns: &[u64]) -> Option<u64> {
    let free_ns = window_ns.checked_sub(execution_ns)?.checked_add(1)?;
    let (mut cut, mut least_ns, mut rest_ns) = (0_u64, u64::MAX, 0_u64);
    for &most_ns in most_ns {
        if most_ns >= free_ns {
            cut += 1;
            least_ns = least_ns.min(most_ns);
        } else {
            rest_ns = rest_ns.checked_add(most_ns)?;
        }
    }
    leap(execution_ns, cpus, window_ns, (cut, least_ns, rest_ns))
}

/// As [`next`], from how many terms are cut off, the least limit of those, and the sum of the others.
#[inline]
pub(super) fn leap(
    execution_ns: u64,
    cpus: u32,
    window_ns: u64,
    (cut, least_ns, rest_ns): (u64, u64, u64),
) -> Option<u64> {
    let cpus = u64::from(cpus);
    let free_ns = window_ns.checked_sub(execution_ns)?.checked_add(1)?;
    let sum_ns = cut.checked_mul(free_ns)?.checked_add(rest_ns)?;
    let next_ns = execution_ns.checked_add(sum_ns / cpus)?;
    if next_ns <= window_ns {
        return Some(window_ns);
    }
    let leap_ns = if cut < cpus {
        least_ns.min(rest_ns / (cpus - cut))
    } else {
        least_ns
    };
    Some(next_ns.max(execution_ns.checked_add(leap_ns)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::Random;

    #[test]
    fn leaps_end_where_single_steps_end() {
        let mut random = Random::new(5, 0, 0);
        let mut random = |below: u64| random.bits() % below;
        for _ in 0..20_000 {
            let cpus = 1 + random(4) as u32;
            let execution_ns = 1 + random(9);
            // Each term grows with the window, from an offset by a slope up to a ceiling.
            let terms: Vec<[u64; 3]> = (0..random(7))
                .map(|_| [random(30), random(3), 1 + random(120)])
                .collect();
            let most = |window_ns: u64| -> Vec<u64> {
                let term =
                    |[offset, slope, most]: &[u64; 3]| (offset + slope * window_ns / 2).min(*most);
                terms.iter().map(term).collect()
            };
            let (mut leaping, mut stepping) = (execution_ns, execution_ns);
            loop {
                let free_ns = stepping - execution_ns + 1;
                let sum: u64 = most(stepping).iter().map(|most| most.min(&free_ns)).sum();
                if execution_ns + sum / u64::from(cpus) <= stepping {
                    break;
                }
                stepping += 1;
            }
            loop {
                let next_ns = next(execution_ns, cpus, leaping, &most(leaping)).expect("small");
                if next_ns == leaping {
                    break;
                }
                leaping = next_ns;
            }
            assert_eq!(leaping, stepping, "{execution_ns} on {cpus}: {terms:?}");
        }
    }
}
