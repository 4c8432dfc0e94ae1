//! U-Boot with `uEnv.txt`, which has no second entry: prepares a file to copy by hand.

use super::{BootChange, BootError, Loader, NewFile, TITLE, unfit};

pub(super) fn prepare(file: &str, parameters: &str) -> Result<BootChange, BootError> {
    let path = "/boot/uEnv.txt";
    let keys = ["cmdline=", "optargs="];
    let key = keys
        .into_iter()
        .find(|key| file.lines().any(|line| line.starts_with(key)))
        .ok_or_else(|| unfit(path, "has neither cmdline= nor optargs="))?;
    let changed: Vec<String> = file
        .lines()
        .map(|line| {
            if line.starts_with(key) {
                format!("{} {parameters}", line.trim_end())
            } else {
                line.to_owned()
            }
        })
        .collect();
    Ok(BootChange {
        loader: Loader::UEnv,
        files: vec![NewFile {
            path: format!("/boot/uEnv.{TITLE}.txt"),
            content: format!("{}\n", changed.join("\n")),
            before: None,
        }],
        try_once: vec![
            format!("cp {path} {path}.before"),
            format!("cp /boot/uEnv.{TITLE}.txt {path}"),
            "reboot".into(),
        ],
        undo: format!("mv {path}.before {path}"),
        cautions: vec![
            "U-Boot reads only one uEnv.txt: there is no second entry and no trial. Have a serial console or a card \
             reader ready before you copy"
                .into(),
        ],
    })
}
