//! Names and descriptions: printable, bounded, and safe to show on a terminal or use in a path.

use crate::document::{Node, Section};
use crate::error::{Finding, Findings};
use crate::keys::LONGEST_NAME;
use wakepath_timeline::is_unprintable;

const LONGEST_DESCRIPTION: usize = 2_000;

/// The entry `name`, which must be there.
pub(super) fn read_needed_name(
    section: &Section<'_>,
    example: &str,
    findings: &mut Findings,
) -> Option<String> {
    let node = section.need("name", &format!("give one, {example}"));
    findings.keep(node.and_then(|node| read_name(&node)))
}

fn read_name(node: &Node<'_>) -> Result<String, Finding> {
    let name = node.text("give a name in quotes")?;
    let remedy = format!("give up to {LONGEST_NAME} printable characters");
    let length = name.chars().count();
    if name.is_empty() {
        Err(node.refuse("is empty", remedy))
    } else if length > LONGEST_NAME {
        Err(node.refuse(format!("has {length} characters"), remedy))
    } else if name.chars().any(is_unprintable) {
        Err(node.refuse("holds a control or invisible character", remedy))
    } else if name.contains(['/', '\\']) || name.starts_with('.') {
        let problem = "could be taken for a path";
        Err(node.refuse(problem, "leave out slashes and a leading dot"))
    } else if name.trim() != name || name.chars().any(|c| c.is_whitespace() && c != ' ') {
        let problem = "has white space at an end or other than plain spaces";
        Err(node.refuse(problem, "use plain spaces between words only"))
    } else {
        Ok(name.to_owned())
    }
}

/// The description in one line: line breaks and runs of white space become single spaces.
pub(super) fn read_description(node: &Node<'_>) -> Result<String, Finding> {
    let text = node.text("give text in quotes")?;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().any(is_unprintable) {
        let problem = "holds a control or invisible character";
        return Err(node.refuse(problem, "give printable text"));
    }
    match line.chars().count() {
        0..=LONGEST_DESCRIPTION => Ok(line),
        length => {
            let remedy = format!("give at most {LONGEST_DESCRIPTION}");
            Err(node.refuse(format!("has {length} characters"), remedy))
        }
    }
}
