//! The command that tries a fix, as it is printed after the fix.

const TRY: &str = ". To try it: wakepath try ";
const PROGRAM: &str = " -- PROGRAM";

/// A fix with the command that tries it.
pub(super) fn printed(text: &str, fix: &str) -> String {
    format!("{text}. To try it: wakepath try {fix} -- PROGRAM")
}

/// A printed fix whose command tries it for the thread of this name; `None` for one without a command.
pub(crate) fn for_thread(printed: &str, thread: &str) -> Option<String> {
    let command = printed.strip_suffix(PROGRAM)?;
    let is_plain = |of: char| of.is_ascii_alphanumeric() || "-_./:@+,=%".contains(of);
    let name = match !thread.is_empty() && thread.chars().all(is_plain) {
        true => thread.to_owned(),
        false => format!("'{}'", thread.replace('\'', "'\\''")),
    };
    // A name that begins with a hyphen would be read as an option.
    let joint = if thread.starts_with('-') { '=' } else { ' ' };
    Some(format!("{command} --thread{joint}{name}{PROGRAM}")).filter(|_| command.contains(TRY))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_names_the_thread_as_a_shell_reads_it() {
        let fix = printed("run it under FIFO", "policy='FIFO 80'");
        let tried = |thread: &str| for_thread(&fix, thread).unwrap();
        let begin = "run it under FIFO. To try it: wakepath try policy='FIFO 80' --thread";
        assert_eq!(tried("ctl"), format!("{begin} ctl -- PROGRAM"));
        assert_eq!(tried("-x"), format!("{begin}=-x -- PROGRAM"));
        assert_eq!(
            tried("a 'b'"),
            format!("{begin} 'a '\\''b'\\''' -- PROGRAM")
        );
        assert_eq!(for_thread("use wakepath -- PROGRAM", "ctl"), None);
        assert_eq!(for_thread("no command", "ctl"), None);
    }
}
