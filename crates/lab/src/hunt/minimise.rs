//! Makes a program smaller as long as it does the same.

use wakepath_guest::hunt::{Program, Value};

/// A change that makes a program smaller.
#[derive(Debug, Clone)]
enum Change {
    /// Without this call.
    Without(usize),
    /// With this number of repetitions of a call.
    Times(usize, u32),
    /// With this argument of a call.
    Argument(usize, usize, Value),
}

/// The smallest program found: nothing more can be removed, or `is_over` before the next round. `keeps` tries a
/// batch and returns for each program whether it does what it should.
///
/// # Errors
/// Those of `keeps`.
pub fn minimise<E>(
    program: &Program,
    mut keeps: impl FnMut(&[Program]) -> Result<Vec<bool>, E>,
    mut is_over: impl FnMut() -> bool,
) -> Result<Program, E> {
    let mut smallest = program.clone();
    while !is_over() {
        let changes = changes(&smallest);
        if changes.is_empty() {
            break;
        }
        let each: Vec<Program> = changes
            .iter()
            .map(|one| changed(&smallest, std::slice::from_ref(one)))
            .collect();
        let mut kept = keeps(&each)?.into_iter();
        let good: Vec<Change> = changes
            .into_iter()
            .filter(|_| kept.next() == Some(true))
            .collect();
        let Some(first) = good.first() else {
            break;
        };
        // As many as can be made together: all, the first half, the first quarter …
        let halves = std::iter::successors(Some(good.len()), |count| Some(count / 2));
        let together: Vec<Program> = halves
            .take_while(|count| *count > 1)
            .map(|count| changed(&smallest, &good[..count]))
            .filter(|program| !program.calls.is_empty())
            .collect();
        let best = if together.is_empty() {
            None
        } else {
            keeps(&together)?.iter().position(|is_kept| *is_kept)
        };
        smallest = match best {
            Some(best) => together[best].clone(),
            None => changed(&smallest, std::slice::from_ref(first)),
        };
    }
    Ok(smallest)
}

/// First without each call, then with fewer repetitions and smaller arguments.
fn changes(program: &Program) -> Vec<Change> {
    let mut all: Vec<Change> = match program.calls.len() {
        0 | 1 => Vec::new(),
        calls => (0..calls).map(Change::Without).collect(),
    };
    for (number, call) in program.calls.iter().enumerate() {
        let fewer = [call.times / 2, 1].into_iter();
        let fewer = fewer.filter(|times| (1..call.times).contains(times));
        all.extend(fewer.map(|times| Change::Times(number, times)));
        for (argument, value) in call.arguments.iter().enumerate() {
            let value = match value {
                Value::Room(bytes @ 2..) => Value::Room(bytes / 2),
                Value::Number(large @ 4096..) if (*large as i64) > 0 => Value::Number(large / 2),
                _ => continue,
            };
            all.push(Change::Argument(number, argument, value));
        }
    }
    all
}

fn changed(program: &Program, changes: &[Change]) -> Program {
    let mut program = program.clone();
    let mut without = Vec::new();
    for change in changes {
        match change {
            Change::Without(call) => without.push(*call),
            Change::Times(call, times) => program.calls[*call].times = *times,
            Change::Argument(call, argument, value) => {
                program.calls[*call].arguments[*argument] = value.clone();
            }
        }
    }
    // The last first: the others keep their numbers.
    without.sort_unstable();
    without
        .iter()
        .rev()
        .fold(program, |program, call| program.without(*call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::convert::Infallible;
    use wakepath_guest::hunt::parse;

    #[test]
    fn only_what_matters_is_left() {
        let text = "r0 = sync()\nr1 = socket(2, 1, 0)\nr2 = 8 x dup(r1)\nr3 = sync()\n\
                    r4 = write(r2, room(4096), 0x4000)\n";
        let program = parse(text).unwrap();
        let keeps = |programs: &[Program]| {
            let matters = |program: &Program| {
                let text = program.to_string();
                text.contains("socket") && text.contains("write(") && text.contains("room(")
            };
            Ok::<_, Infallible>(programs.iter().map(matters).collect())
        };
        let smallest = minimise(&program, keeps, || false).unwrap();
        assert_eq!(smallest.calls.len(), 2);
        assert!(smallest.calls[1].name == "write");
        assert!(smallest.is_sound());
    }

    #[test]
    fn no_batch_is_empty() {
        let program = parse("r0 = 2 x sync()\nr1 = dup(1)\n").unwrap();
        let always = |programs: &[Program]| {
            assert!(!programs.is_empty());
            Ok::<_, Infallible>(vec![true; programs.len()])
        };
        assert_eq!(minimise(&program, always, || false).unwrap().calls.len(), 1);
    }

    #[test]
    fn what_can_not_be_smaller_stays() {
        let program = parse("r0 = 8 x dup(1)\n").unwrap();
        let never = |programs: &[Program]| Ok::<_, Infallible>(vec![false; programs.len()]);
        assert_eq!(minimise(&program, never, || false).unwrap(), program);
    }

    #[test]
    fn it_ends_only_when_nothing_more_can_be_removed() {
        let program = parse("r0 = write(1, room(0x100000), 0x40000000)\n").unwrap();
        let mut batches = 0;
        let keeps = |programs: &[Program]| {
            batches += 1;
            let is_room = |program: &Program| program.to_string().contains("room(");
            Ok::<_, Infallible>(programs.iter().map(is_room).collect())
        };
        let smallest = minimise(&program, keeps, || false).unwrap();
        assert_eq!(smallest.to_string(), "r0 = write(1, room(1), 0x800)\n");
        assert!((20..50).contains(&batches), "{batches}");
    }

    #[test]
    fn of_two_calls_of_which_one_is_needed_one_stays() {
        let program = parse("r0 = 1024 x sync()\nr1 = sync()\nr2 = dup(1)\n").unwrap();
        let keeps = |programs: &[Program]| {
            let is_kept = |program: &Program| program.to_string().contains("sync");
            Ok::<_, Infallible>(programs.iter().map(is_kept).collect())
        };
        let smallest = minimise(&program, keeps, || false).unwrap();
        assert_eq!(smallest.to_string(), "r0 = sync()\n");
    }

    #[test]
    fn it_ends_when_its_time_is_over() {
        let program = parse("r0 = sync()\nr1 = write(1, room(64), 1)\n").unwrap();
        let always = |programs: &[Program]| Ok::<_, Infallible>(vec![true; programs.len()]);
        assert_eq!(minimise(&program, always, || true).unwrap(), program);
        let mut over = [false, true].into_iter();
        let once = minimise(&program, always, || over.next().unwrap()).unwrap();
        assert!(once.calls.len() < 2);
    }
}
