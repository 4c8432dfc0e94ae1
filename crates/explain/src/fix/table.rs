//! The catalogue as the table of the guide.

use super::{Fix, Proof, Who, all};

/// In Markdown.
pub fn table() -> String {
    let mut page = String::from(
        "| fix | changes | who can change it | `wakepath try` | tested |\n|---|---|---|---|---|\n",
    );
    for fix in all() {
        page += &row(fix);
    }
    page
}

fn row(fix: &Fix) -> String {
    let who: Vec<&str> = fix.who.iter().copied().map(word).collect();
    let trial = match fix.trial {
        Some(command) => format!("`{}`", command.replace("{}", "…")),
        None => "–".into(),
    };
    let proof = match fix.proof {
        Proof::Tests(_) => "yes".into(),
        Proof::NotHere(why) => format!("no: {why}"),
    };
    let who = who.join(", ");
    format!(
        "| {} | {} | {who} | {trial} | {proof} |\n",
        fix.name, fix.changes
    )
}

fn word(who: Who) -> &'static str {
    match who {
        Who::User => "who starts the program",
        Who::Root => "root",
        Who::KernelBuilder => "kernel builder",
        Who::Programmer => "programmer",
        Who::Host => "host's or firmware's administrator",
    }
}
