//! Where in the program and in the kernel the worst cycles waited or ran, if stacks were recorded.

use crate::markup::Markup;
use crate::table::{Table, number, words};
use wakepath_explain::{Explanation, LateCycle, LatePiece, LateStack};
use wakepath_timeline::duration::three_digits;

/// Cycles listed of each condition.
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
        longest.sort_by_cached_key(|(_, piece, _)| std::cmp::Reverse(piece.ns));
        for (cycle, piece, stack) in longest.into_iter().take(LISTED) {
            has_any = true;
            table.row(
                format!(
                    "{}, {}, {}: segment {} cycle {}",
                    condition.condition,
                    condition.phase,
                    condition.thread,
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
