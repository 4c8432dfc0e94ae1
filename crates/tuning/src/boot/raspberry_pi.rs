//! The Raspberry Pi's own loader: a second configuration that the firmware tries once.

use super::{BootChange, BootError, Loader, NewFile, TITLE, unfit};
use wakepath_machine::Root;

pub(super) fn prepare(
    root: &Root,
    folder: &str,
    config: &str,
    line: &str,
    parameters: &str,
) -> Result<BootChange, BootError> {
    let path = format!("{folder}/cmdline.txt");
    if line.trim().is_empty() || line.trim().lines().count() != 1 {
        return Err(unfit(&path, "one line was expected"));
    }
    if root.exists(&format!("{folder}/tryboot.txt")) {
        let path = format!("{folder}/tryboot.txt");
        return Err(unfit(
            &path,
            "already exists: another program's trial, or an A/B system",
        ));
    }
    let kept: Vec<&str> = config
        .lines()
        .filter(|line| !line.trim_start().starts_with("cmdline="))
        .collect();
    let mut cautions = Vec::new();
    if root.exists(&format!("{folder}/current")) {
        cautions.push(format!(
            "{folder}/current is there: this Ubuntu has its own trial boot; check that it does not use tryboot.txt"
        ));
    }
    Ok(BootChange {
        loader: Loader::RaspberryPi,
        files: vec![
            NewFile {
                path: format!("{folder}/{TITLE}.txt"),
                content: format!("{} {parameters}\n", line.trim()),
                before: None,
            },
            NewFile {
                path: format!("{folder}/tryboot.txt"),
                content: format!("{}\n[all]\ncmdline={TITLE}.txt\n", kept.join("\n")),
                before: None,
            },
        ],
        try_once: vec!["reboot '0 tryboot'".into()],
        undo: "the firmware forgets the trial at the next reboot; remove the two files".into(),
        cautions,
    })
}
