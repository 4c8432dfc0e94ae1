//! GRUB with its own menu: an entry in the file that it leaves to others.

use super::{BootChange, BootError, Loader, NewFile, TITLE, unfit};

/// GRUB's own menu: a copy of its first entry in `custom.cfg`, which the menu reads by itself.
pub(super) fn prepare(config: &str, file: &str, parameters: &str) -> Result<BootChange, BootError> {
    if !file.contains("custom.cfg") {
        return Err(unfit(
            config,
            "does not read custom.cfg (41_custom is missing)",
        ));
    }
    let folder = config.trim_end_matches("/grub.cfg");
    let block: Vec<&str> = {
        let lines = file
            .lines()
            .skip_while(|line| !line.starts_with("menuentry "));
        let mut block: Vec<&str> = lines.clone().take_while(|line| *line != "}").collect();
        block.extend(lines.skip(block.len()).take(1));
        block
    };
    if block.last() != Some(&"}") {
        return Err(unfit(
            config,
            "has no menuentry that ends with `}` on a line of its own",
        ));
    }
    let mut entry = String::new();
    let mut kernels = 0;
    for (position, line) in block.iter().enumerate() {
        let first = line.split_whitespace().next().unwrap_or_default();
        if position == 0 {
            entry.push_str(&format!(
                "menuentry '{TITLE} trial' --id {TITLE}-trial {{\n"
            ));
        } else if matches!(first, "linux" | "linux16" | "linuxefi") {
            kernels += 1;
            entry.push_str(&format!("{} {parameters}\n", line.trim_end()));
        } else {
            entry.push_str(line);
            entry.push('\n');
        }
    }
    if kernels != 1 {
        return Err(unfit(
            config,
            "the first menuentry has not exactly one `linux` line",
        ));
    }
    let mut cautions = vec![
        "one-shot only where GRUB can write grubenv: not on LVM, RAID or btrfs; then choose the \
         entry in the menu"
            .into(),
    ];
    if !file.contains("next_entry") {
        cautions.push("grub.cfg ignores next_entry: grub-reboot has no effect".into());
    }
    Ok(BootChange {
        loader: Loader::Grub,
        files: vec![NewFile {
            path: format!("{folder}/custom.cfg"),
            content: entry,
            before: None,
        }],
        try_once: vec![format!("grub-reboot {TITLE}-trial && reboot")],
        undo: "the default entry is the next boot's again; remove the file".into(),
        cautions,
    })
}
