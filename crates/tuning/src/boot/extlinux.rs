//! U-Boot or cboot with `extlinux.conf`: a further label in its menu.

use super::{BootChange, BootError, Loader, NewFile, TITLE, unfit};

pub(super) fn prepare(file: &str, parameters: &str) -> Result<BootChange, BootError> {
    let path = "/boot/extlinux/extlinux.conf";
    let word = |line: &str, name: &str| -> Option<String> {
        let line = line.trim();
        let (first, rest) = line.split_once(char::is_whitespace)?;
        first
            .eq_ignore_ascii_case(name)
            .then(|| rest.trim().to_owned())
    };
    let labels: Vec<String> = file
        .lines()
        .filter_map(|line| word(line, "LABEL"))
        .collect();
    if labels.iter().any(|label| label == TITLE) {
        return Err(unfit(path, "already has an entry made by wakepath"));
    }
    if labels.len() >= 10 {
        return Err(unfit(path, "has ten entries, the loader's maximum"));
    }
    let default = file.lines().find_map(|line| word(line, "DEFAULT"));
    let default = default.or_else(|| labels.first().cloned());
    let default = default.ok_or_else(|| unfit(path, "has no LABEL"))?;
    let block: Vec<&str> = file
        .lines()
        .skip_while(|line| word(line, "LABEL").as_deref() != Some(default.as_str()))
        .skip(1)
        .take_while(|line| word(line, "LABEL").is_none())
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .collect();
    if !block.iter().any(|line| word(line, "APPEND").is_some()) {
        return Err(unfit(path, format!("the entry `{default}` has no APPEND")));
    }
    let mut entry = format!("\nLABEL {TITLE}\n");
    for line in block {
        if word(line, "MENU").is_some() {
            entry.push_str("      MENU LABEL wakepath trial\n");
        } else if word(line, "APPEND").is_some() {
            entry.push_str(&format!("{} {parameters}\n", line.trim_end()));
        } else {
            entry.push_str(line);
            entry.push('\n');
        }
    }
    let mut cautions = vec![
        "extlinux can't boot an entry once: choose it in the menu, on the console".into(),
        "it falls back only if loading fails, not if the kernel doesn't boot".into(),
    ];
    if file
        .lines()
        .any(|line| word(line, "TIMEOUT").as_deref() == Some("0"))
    {
        cautions.push("TIMEOUT 0 hides the menu: the entry can't be chosen".into());
    }
    Ok(BootChange {
        loader: Loader::Extlinux,
        files: vec![NewFile {
            path: path.into(),
            content: format!("{}\n{entry}", file.trim_end()),
            before: Some(file.to_owned()),
        }],
        try_once: vec![format!(
            "reboot, and choose `{TITLE}` in the menu on the serial console"
        )],
        undo: format!("DEFAULT stays `{default}`; remove the entry"),
        cautions,
    })
}
