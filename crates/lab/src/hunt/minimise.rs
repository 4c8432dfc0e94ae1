//! Makes a program smaller as long as it does the same.

use wakepath_guest::hunt::{Program, Value};

/// Most rounds; each is a batch of candidates.
const ROUNDS: usize = 8;

/// The smallest program found. `keeps` tries a batch and returns for each program whether it does what
/// it should.
///
/// # Errors
/// Those of `keeps`.
pub fn minimise<E>(
    program: &Program,
    mut keeps: impl FnMut(&[Program]) -> Result<Vec<bool>, E>,
) -> Result<Program, E> {
    let mut smallest = program.clone();
    for _ in 0..ROUNDS {
        let candidates = smaller(&smallest);
        let kept = keeps(&candidates)?;
        let good: Vec<usize> = (0..candidates.len())
            .filter(|at| kept.get(*at) == Some(&true))
            .collect();
        let Some(first) = good.first() else {
            break;
        };
        // All removable calls at once, if they can be missed together.
        let calls: Vec<usize> = good
            .iter()
            .copied()
            .filter(|at| *at < smallest.calls.len())
            .collect();
        let together = calls
            .iter()
            .rev()
            .fold(smallest.clone(), |program, call| program.without(*call));
        let is_more = calls.len() > 1 && !together.calls.is_empty();
        smallest = if is_more && keeps(std::slice::from_ref(&together))? == [true] {
            together
        } else {
            candidates[*first].clone()
        };
    }
    Ok(smallest)
}

/// Smaller programs: first without each call, then with fewer repetitions and smaller arguments.
fn smaller(program: &Program) -> Vec<Program> {
    let calls = program.calls.len();
    let mut candidates: Vec<Program> = (0..calls).map(|call| program.without(call)).collect();
    for (number, call) in program.calls.iter().enumerate() {
        for times in [1, call.times / 2] {
            if times > 0 && times < call.times {
                let mut smaller = program.clone();
                smaller.calls[number].times = times;
                candidates.push(smaller);
            }
        }
        for (argument, value) in call.arguments.iter().enumerate() {
            let value = match value {
                Value::Room(bytes @ 2..) => Value::Room(bytes / 2),
                Value::Number(large @ 4096..) if (*large as i64) > 0 => Value::Number(large / 2),
                _ => continue,
            };
            let mut smaller = program.clone();
            smaller.calls[number].arguments[argument] = value;
            candidates.push(smaller);
        }
    }
    candidates
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
        let smallest = minimise(&program, keeps).unwrap();
        assert_eq!(smallest.calls.len(), 2);
        assert!(smallest.calls[1].name == "write");
        assert!(smallest.is_sound());
    }

    #[test]
    fn what_can_not_be_smaller_stays() {
        let program = parse("r0 = 8 x dup(1)\n").unwrap();
        let never = |programs: &[Program]| Ok::<_, Infallible>(vec![false; programs.len()]);
        assert_eq!(minimise(&program, never).unwrap(), program);
    }
}
