//! Reduces a program to the calls that can have caused its sections. Pure.

use super::section::Section;
use wakepath_guest::hunt::Program;

/// The calls that caused the sections, the calls whose results they use, and the earlier calls that use the same
/// results. A section without a call can come from each.
pub fn slice(program: &Program, sections: &[Section]) -> Program {
    let calls = sections.iter().map(|one| one.call);
    let Some(mut needed) = calls.collect::<Option<Vec<usize>>>() else {
        return program.clone();
    };
    let uses = |call: usize| -> Vec<usize> {
        let arguments = program
            .calls
            .get(call)
            .map_or(&[][..], |call| &call.arguments);
        arguments.iter().flat_map(|value| value.uses()).collect()
    };
    let mut at = 0;
    while let Some(&call) = needed.get(at) {
        let used = uses(call);
        let shares = |other: &usize| {
            used.contains(other) || uses(*other).iter().any(|result| used.contains(result))
        };
        let more: Vec<usize> = (0..call)
            .filter(shares)
            .filter(|one| !needed.contains(one))
            .collect();
        needed.extend(more);
        at += 1;
    }
    let others = (0..program.calls.len())
        .rev()
        .filter(|call| !needed.contains(call));
    others.fold(program.clone(), |program, call| program.without(call))
}

#[cfg(test)]
mod tests {
    use super::*;
    use wakepath_guest::hunt::parse;

    #[test]
    fn calls_that_share_a_result_with_the_causing_call_stay() {
        let text = "r0 = dup(1)\nr1 = dup(2)\nr2 = dup(r0)\nr3 = sync()\nr4 = read(r0, {r1/8}, 8)\nr5 = dup(r0)\n";
        let program = parse(text).unwrap();
        let caused = |call| {
            let section = Section {
                began: "a".into(),
                ended: "b".into(),
                length: 1,
                call,
            };
            slice(&program, &[section]).to_string()
        };
        let wanted = "r0 = dup(1)\nr1 = dup(2)\nr2 = dup(r0)\nr3 = read(r0, {r1/8}, 8)\n";
        assert_eq!(caused(Some(4)), wanted);
        assert_eq!(caused(Some(3)), "r0 = sync()\n");
        assert_eq!(caused(None), text);
    }
}
