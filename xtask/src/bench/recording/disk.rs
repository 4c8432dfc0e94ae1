//! A separate disk that can be filled and made to hang: ext4 in a file, mounted by root.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A mounted file system, gone with the value.
pub struct Disk {
    image: PathBuf,
    place: PathBuf,
}

impl Disk {
    /// Makes one of 64 MiB under a directory.
    pub fn made(scratch: &Path) -> Result<Self, String> {
        let (image, place) = (scratch.join("disk.img"), scratch.join("disk"));
        let said = |error: std::io::Error| error.to_string();
        std::fs::create_dir_all(&place).map_err(said)?;
        let file = std::fs::File::create(&image).map_err(said)?;
        file.set_len(64 << 20).map_err(said)?;
        carried_out(Command::new("mkfs.ext4").args(["-q", "-F"]).arg(&image))?;
        carried_out(
            Command::new("mount")
                .args(["-o", "loop"])
                .arg(&image)
                .arg(&place),
        )?;
        Ok(Self { image, place })
    }

    /// Its mount point.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// Leaves no room on it.
    pub fn fill(&self) -> Result<(), String> {
        let hog = self.place.join("hog");
        let mut from = std::fs::File::open("/dev/zero").map_err(|error| error.to_string())?;
        let mut to = std::fs::File::create(hog).map_err(|error| error.to_string())?;
        match std::io::copy(&mut from, &mut to) {
            Err(error) if error.kind() == std::io::ErrorKind::StorageFull => Ok(()),
            Err(error) => Err(error.to_string()),
            Ok(_) => Err("it does not fill".into()),
        }
    }

    /// Lets nobody write for a while: who tries waits.
    pub fn stall(&self, time: Duration) -> Result<(), String> {
        let freeze = |how: &str| carried_out(Command::new("fsfreeze").arg(how).arg(&self.place));
        freeze("--freeze")?;
        std::thread::sleep(time);
        freeze("--unfreeze")
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.place).status();
        let _ = std::fs::remove_file(&self.image);
    }
}

fn carried_out(command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{}: {error}", command.get_program().display()))?;
    if output.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).trim().to_owned())
    }
}
