//! Boot parameters as a second entry, beside the one that works, for trying once. Which files are
//! written is told beforehand; the working entry is never touched, and no boot loader's program is
//! run: its commands are printed.

use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use wakepath_machine::Root;

/// The boot loaders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Loader {
    /// GRUB with its own menu (Debian, Ubuntu).
    Grub,
    /// GRUB reading Boot Loader Specification entries (Fedora, RHEL).
    GrubWithEntries,
    /// systemd-boot.
    SystemdBoot,
    /// The Raspberry Pi's own.
    RaspberryPi,
    /// U-Boot or cboot with `extlinux.conf` (Jetson).
    Extlinux,
    /// U-Boot with `uEnv.txt` (BeagleBone).
    UEnv,
}

/// A file to be written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewFile {
    /// Where.
    pub path: String,
    /// What.
    pub content: String,
    /// What is there now; none for a file of our own.
    pub before: Option<String>,
}

/// A second entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BootChange {
    /// For which loader.
    pub loader: Loader,
    /// The files.
    pub files: Vec<NewFile>,
    /// What to run to boot it once.
    pub try_once: Vec<String>,
    /// What happens if it doesn't come up, and how to take it back.
    pub undo: String,
    /// What could go wrong with this loader here.
    pub cautions: Vec<String>,
}

/// Why there is no second entry.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum BootError {
    /// None of the loaders' files are there.
    #[error(
        "no boot loader's files found below {0}: GRUB, systemd-boot, Raspberry Pi, extlinux, uEnv.txt"
    )]
    NoLoader(String),
    /// A file is not as expected.
    #[error("{path}: {why}")]
    Unfit {
        /// The file.
        path: String,
        /// What is wrong.
        why: String,
    },
    /// A parameter could break out of its line.
    #[error("the parameter `{0}` holds a character that a boot loader could take for its own")]
    Parameter(String),
}

const TITLE: &str = "wakepath";

fn unfit(path: &str, why: impl Into<String>) -> BootError {
    BootError::Unfit {
        path: path.to_owned(),
        why: why.into(),
    }
}

/// Prepares a second entry for the loader that is found. It writes nothing.
///
/// # Errors
/// When no loader is found, or its files are not as expected.
pub fn prepare(root: &Root, parameters: &str) -> Result<BootChange, BootError> {
    let harmless =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '=' | ',' | '-' | '.' | '_' | ' ' | ':');
    if let Some(bad) = parameters
        .split(' ')
        .find(|word| !word.chars().all(harmless))
    {
        return Err(BootError::Parameter(bad.to_owned()));
    }
    let text = |path: &str| root.text(path).known().cloned();
    for folder in ["/boot/firmware", "/boot"] {
        let config = format!("{folder}/config.txt");
        let line = format!("{folder}/cmdline.txt");
        if let (Some(config), Some(line)) = (text(&config), text(&line)) {
            return raspberry_pi(root, folder, &config, &line, parameters);
        }
    }
    if let Some(file) = text("/boot/extlinux/extlinux.conf") {
        return extlinux(&file, parameters);
    }
    if let Some(file) = text("/boot/uEnv.txt") {
        return uenv(&file, parameters);
    }
    for folder in ["/boot/efi", "/efi", "/boot"] {
        if root.exists(&format!("{folder}/loader/loader.conf")) {
            return entries(root, folder, Loader::SystemdBoot, parameters);
        }
    }
    for config in ["/boot/grub/grub.cfg", "/boot/grub2/grub.cfg"] {
        if let Some(file) = text(config) {
            return match file.contains("blscfg") {
                true => entries(root, "/boot", Loader::GrubWithEntries, parameters),
                false => grub(config, &file, parameters),
            };
        }
    }
    Err(BootError::NoLoader("/boot".into()))
}

fn raspberry_pi(
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
            "is there already: somebody else's trial, or an A/B system",
        ));
    }
    let kept: Vec<&str> = config
        .lines()
        .filter(|line| !line.trim_start().starts_with("cmdline="))
        .collect();
    let mut cautions = Vec::new();
    if root.exists(&format!("{folder}/current")) {
        cautions.push(format!(
            "{folder}/current is there: this Ubuntu has its own way of trying a boot; check that it \
             leaves tryboot.txt alone"
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

fn extlinux(file: &str, parameters: &str) -> Result<BootChange, BootError> {
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
        return Err(unfit(path, "has an entry of ours already"));
    }
    if labels.len() >= 10 {
        return Err(unfit(path, "has ten entries; the loader reads no more"));
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
        "extlinux has no way of trying an entry once: choose it in the menu, on the console".into(),
        "it falls back only when loading fails, not when the kernel does not come up".into(),
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

fn uenv(file: &str, parameters: &str) -> Result<BootChange, BootError> {
    let path = "/boot/uEnv.txt";
    let keys = ["cmdline=", "optargs="];
    let key = keys
        .into_iter()
        .find(|key| file.lines().any(|line| line.starts_with(key)))
        .ok_or_else(|| unfit(path, "has neither cmdline= nor optargs="))?;
    let changed: Vec<String> = file
        .lines()
        .map(|line| match line.starts_with(key) {
            true => format!("{} {parameters}", line.trim_end()),
            false => line.to_owned(),
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
            "U-Boot reads one uEnv.txt: there is no second entry and no trial. Have the serial \
             console or a card reader at hand before you copy"
                .into(),
        ],
    })
}

/// Entries of the Boot Loader Specification: one file each.
fn entries(
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
        .ok_or_else(|| unfit(&place, "no entry to start from (a unified kernel image?)"))?;
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
        cautions.push("unified kernel images are there: theirs are not changed by this".into());
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

/// GRUB's own menu: a copy of its first entry in `custom.cfg`, which the menu reads by itself.
fn grub(config: &str, file: &str, parameters: &str) -> Result<BootChange, BootError> {
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
        cautions.push("grub.cfg does not look at next_entry: grub-reboot has no effect".into());
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

/// Where it really lies. What does not belong to a boot loader is not for us to write or remove,
/// whatever a kept copy says.
fn boot_file(path: &str, directory: &Path) -> Result<PathBuf, BootError> {
    let relative = Path::new(path.trim_start_matches('/'));
    let plain = relative
        .components()
        .all(|part| matches!(part, std::path::Component::Normal(_)));
    match plain && ["boot", "efi"].iter().any(|top| relative.starts_with(top)) {
        true => Ok(directory.join(relative)),
        false => Err(unfit(path, "is no boot loader's file")),
    }
}

/// Writes the files: temporary name, sync, rename, sync of the directory. A file that is not as
/// `prepare` saw it, or a link, is refused.
///
/// # Errors
/// The first file that can't be written.
pub fn write(change: &BootChange, directory: &Path) -> Result<Vec<PathBuf>, BootError> {
    let mut written = Vec::new();
    for file in &change.files {
        let path = boot_file(&file.path, directory)?;
        let told = |error: std::io::Error| unfit(&file.path, error.to_string());
        let now = match std::fs::symlink_metadata(&path) {
            Ok(found) if !found.is_file() => return Err(unfit(&file.path, "not a plain file")),
            Ok(_) => Some(std::fs::read_to_string(&path).map_err(told)?),
            Err(_) => None,
        };
        match (&file.before, now) {
            (None, None) => {}
            (Some(before), Some(now)) if now.trim_end() == before.trim_end() => {}
            _ => return Err(unfit(&file.path, "is not as it was looked at; left alone")),
        }
        let temporary = path.with_extension("wakepath-new");
        let mut new = File::options()
            .write(true)
            .create_new(true)
            .open(&temporary)
            .map_err(told)?;
        let done = new
            .write_all(file.content.as_bytes())
            .and_then(|()| new.sync_all())
            .and_then(|()| std::fs::rename(&temporary, &path));
        if let Err(error) = done {
            // The half-written file is ours.
            let _ = std::fs::remove_file(&temporary);
            return Err(told(error));
        }
        if let Some(parent) = path.parent() {
            File::open(parent)
                .and_then(|parent| parent.sync_all())
                .map_err(told)?;
        }
        written.push(path);
    }
    Ok(written)
}

/// Takes the files back where they are still as they were written.
///
/// # Errors
/// The first that is not, or can't be restored.
pub fn remove(change: &BootChange, directory: &Path) -> Result<(), BootError> {
    for file in change.files.iter().rev() {
        let path = boot_file(&file.path, directory)?;
        let told = |error: std::io::Error| unfit(&file.path, error.to_string());
        let now = match std::fs::read_to_string(&path) {
            Ok(now) => now,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => continue,
            Err(error) => return Err(told(error)),
        };
        match &file.before {
            _ if now != file.content => {
                return Err(unfit(&file.path, "somebody has changed it; left as it is"));
            }
            None => std::fs::remove_file(&path).map_err(told)?,
            Some(before) => {
                let restored = BootChange {
                    files: vec![NewFile {
                        path: file.path.clone(),
                        content: format!("{}\n", before.trim_end()),
                        before: Some(now),
                    }],
                    ..change.clone()
                };
                write(&restored, directory)?;
            }
        }
    }
    Ok(())
}
