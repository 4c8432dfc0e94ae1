//! Where in the program and in the kernel the worst cycles waited or ran, if stacks were recorded.

use crate::explained::title;
use crate::markup::Markup;
use crate::table::{Table, number, words};
use std::cmp::Reverse;
use wakepath_explain::{Explanation, LateCycle, LatePiece, LateStack};
use wakepath_timeline::duration::three_digits;

/// Stacks listed of each condition.
const LISTED: usize = 5;
/// Functions of each stack, the innermost.
const FUNCTIONS: usize = 6;

/// Writes the table.
pub(super) fn write(markup: &mut Markup, explanation: &Explanation) {
    let mut table = Table::new("Condition and cycle")
        .caption(
            "Functions in which the worst cycles lost most time, the innermost first: of the program, and of the kernel.",
        )
        .column(number("Took"))
        .column(words("Cause"))
        .column(words("Program"))
        .column(words("Kernel"));
    let mut has_any = false;
    for condition in &explanation.conditions {
        let mut longest: Vec<_> = condition.worst.iter().filter_map(longest).collect();
        longest.sort_by_cached_key(|(_, piece, _)| Reverse(piece.ns));
        let mut listed: Vec<(_, usize)> = Vec::new();
        for of in longest {
            let is_alike = |listed: &&mut ((_, _, &LateStack), usize)| listed.0.2 == of.2;
            match listed.iter_mut().find(is_alike) {
                Some(same) => same.1 += 1,
                None => listed.push((of, 0)),
            }
        }
        for ((cycle, piece, stack), more) in listed.into_iter().take(LISTED) {
            has_any = true;
            let more = match more {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            table.row(
                format!(
                    "{}: segment {} cycle {}{more}",
                    title(explanation, condition),
                    cycle.segment,
                    cycle.cycle
                ),
                vec![
                    three_digits(i64::try_from(piece.ns).unwrap_or(i64::MAX)).into(),
                    piece.cause.clone().into(),
                    functions(&stack.user).into(),
                    functions(&stack.kernel).into(),
                ],
            );
        }
    }
    if has_any {
        table.write_html(markup, "Functions of the worst cycles");
    }
}

/// The longest piece of a cycle that has a stack.
fn longest(cycle: &LateCycle) -> Option<(&LateCycle, &LatePiece, &LateStack)> {
    let pieces = cycle.pieces.iter().chain(&cycle.execution);
    let with_stacks = pieces.filter_map(|piece| Some((cycle, piece, piece.stack.as_ref()?)));
    with_stacks.max_by_key(|(_, piece, _)| piece.ns)
}

fn functions(of: &[String]) -> String {
    let inner = &of[..of.len().min(FUNCTIONS)];
    let more = if of.len() > FUNCTIONS { " ← …" } else { "" };
    inner.join(" ← ") + more
}
