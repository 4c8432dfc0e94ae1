//! Entries of the Boot Loader Specification, of systemd-boot and of GRUB.

use super::{BootChange, BootError, Loader, NewFile, TITLE, unfit};
use wakepath_machine::Root;

/// Entries of the Boot Loader Specification: one file each.
pub(super) fn prepare(
    root: &Root,
    folder: &str,
    loader: Loader,
    parameters: &str,
) -> Result<BootChange, BootError> {
    let place = format!("{folder}/loader/entries");
    let names = root.names(&place);
    let names = names.known().cloned().unwrap_or_default();
    let newest = names
        .iter()
        .filter(|name| name.ends_with(".conf") && !name.contains("rescue") && !name.contains(TITLE))
        .max()
        .ok_or_else(|| unfit(&place, "no entry to copy (a unified kernel image?)"))?;
    let source = format!("{place}/{newest}");
    let read = root.text(&source);
    let text = read
        .known()
        .ok_or_else(|| unfit(&source, read.to_string()))?;
    if !text.lines().any(|line| line.starts_with("options")) {
        return Err(unfit(&source, "has no options line"));
    }
    let changed: Vec<String> = text
        .lines()
        .map(|line| {
            if line.starts_with("options") {
                format!("{} {parameters}", line.trim_end())
            } else if line.starts_with("title") {
                format!("title {TITLE} trial")
            } else {
                line.to_owned()
            }
        })
        .collect();
    let (name, try_once, mut cautions) = match loader {
        // Three attempts are counted down in the file's name.
        Loader::SystemdBoot => (
            format!("{TITLE}+3.conf"),
            format!("bootctl set-oneshot {TITLE}.conf && reboot"),
            Vec::new(),
        ),
        _ => (
            format!("{TITLE}.conf"),
            format!("grub2-reboot {TITLE} && reboot"),
            vec![
                "grub2-reboot needs a grubenv that GRUB can write: not on LVM, RAID or btrfs"
                    .into(),
            ],
        ),
    };
    if !root
        .names(&format!("{folder}/EFI/Linux"))
        .known()
        .is_none_or(Vec::is_empty)
    {
        cautions.push("this machine has unified kernel images, which this does not change".into());
    }
    Ok(BootChange {
        loader,
        files: vec![NewFile {
            path: format!("{place}/{name}"),
            content: format!("{}\n", changed.join("\n")),
            before: None,
        }],
        try_once: vec![try_once],
        undo: "the default entry is the next boot's again; remove the file".into(),
        cautions,
    })
}
