//! How to repeat the run: its command, and the scenario as carried out.

use crate::markup::Markup;
use crate::page::Reported;
use wakepath_archive::{Ending, shell_words};

/// Writes both.
pub(super) fn write(markup: &mut Markup, number: usize, run: &Reported<'_>) {
    let identity = &run.assessment.run;
    markup.raw("<p>The command:</p>");
    code(markup, "Command", &command_line(&identity.command));
    let ending = match &identity.ending {
        Ending::Complete => String::new(),
        Ending::Interrupted => " It was interrupted before its end.".into(),
        Ending::CutShort | Ending::Unknown => " Its end is not recorded.".into(),
        Ending::Failed { reason } => format!(" It could not continue: {reason}."),
    };
    let about = format!(
        "Run {}, by wakepath {}, begun {}; recording {}.{ending}",
        identity.run_id, identity.wakepath, identity.started, identity.directory
    );
    markup.element("p", &[], about);
    let heading = format!("scenario-{number}");
    markup.element("h3", &[("id", &heading)], "The scenario as carried out");
    markup.raw(
        "<p>Saved as <code>scenario.toml</code>, this repeats the run with any later version:</p>",
    );
    code(
        markup,
        "Command with the scenario",
        "wakepath run scenario.toml",
    );
    code(markup, "Scenario", &run.manifest.scenario.toml);
}

fn code(markup: &mut Markup, label: &str, text: &str) {
    markup.open(
        "pre",
        &[
            ("tabindex", &"0"),
            ("role", &"group"),
            ("aria-label", &label),
        ],
    );
    markup.command(text);
    markup.close("pre");
}

/// The words as they are typed into a shell.
pub(in crate::page) fn command_line(words: &[String]) -> String {
    if words.is_empty() {
        "not recorded".into()
    } else {
        shell_words(words)
    }
}
