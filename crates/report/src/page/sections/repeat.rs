//! How to repeat the run: its command, and the scenario as carried out.

use crate::markup::Markup;
use crate::page::Reported;
use wakepath_archive::Ending;

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
    markup.element("code", &[], text);
    markup.close("pre");
}

/// Words as a shell takes them.
pub(in crate::page) fn command_line(words: &[String]) -> String {
    let plain = |word: &str| {
        let allowed = |c: char| c.is_alphanumeric() || "-_./=:,+@%".contains(c);
        !word.is_empty() && word.chars().all(allowed)
    };
    let quoted = words.iter().map(|word| match plain(word) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    });
    let text = quoted.collect::<Vec<_>>().join(" ");
    match text.is_empty() {
        true => "not recorded".into(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::command_line;

    #[test]
    fn the_command_can_be_given_to_a_shell_again() {
        let words = ["wakepath", "check", "--policy", "FIFO 80", "it's"].map(String::from);
        assert_eq!(
            command_line(&words),
            r"wakepath check --policy 'FIFO 80' 'it'\''s'"
        );
        assert_eq!(command_line(&[]), "not recorded");
    }
}
