//! A report as PDF: printed by an installed Chromium without a window, from a page of which all
//! chapters stand open. The page loads nothing, so neither does the browser.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};
use wakepath_programs::NotFound;

/// What Chromium is called, by distribution.
const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome-stable",
    "google-chrome",
];
/// A page is printed in seconds; a small board under load may take many.
const PATIENCE: Duration = Duration::from_secs(120);

/// Why there is no PDF.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoPdf {
    #[error(
        "--pdf: no Chromium is installed: install the package chromium (Ubuntu: chromium-browser)"
    )]
    NoProgram,
    #[error("--pdf: {0}")]
    Distrusted(NotFound),
    #[error("--pdf: {}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
    #[error("--pdf: {} made no PDF within {} s", program.display(), PATIENCE.as_secs())]
    TooLong { program: PathBuf },
    #[error("--pdf: {} made no PDF ({status})", program.display())]
    Failed {
        program: PathBuf,
        status: ExitStatus,
    },
}

/// The program that prints.
pub(super) fn program() -> Result<PathBuf, NoPdf> {
    let mut distrusted = None;
    for name in NAMES {
        match wakepath_programs::find(name) {
            Ok(program) => return Ok(program),
            Err(NotFound::Nowhere { .. }) => {}
            Err(why) => distrusted = distrusted.or(Some(why)),
        }
    }
    Err(distrusted.map_or(NoPdf::NoProgram, NoPdf::Distrusted))
}

/// The page as PDF; `beside` is a file in whose directory there is room for a moment: a Chromium that
/// is confined may read nothing but the user's own.
pub(super) fn printed(program: &Path, page: &str, beside: &Path) -> Result<Vec<u8>, NoPdf> {
    let place = TemporaryDirectory::new(beside)?;
    let (html, pdf) = (place.0.join("page.html"), place.0.join("page.pdf"));
    std::fs::write(&html, page).map_err(|error| place.failed(error))?;
    let mut command = Command::new(program);
    command
        .args(["--headless", "--disable-gpu", "--disable-dev-shm-usage"])
        .args(["--no-first-run", "--disable-background-networking"])
        .arg(format!(
            "--user-data-dir={}",
            place.0.join("profile").display()
        ))
        .arg("--no-pdf-header-footer")
        .arg(format!("--print-to-pdf={}", pdf.display()));
    if rustix::process::geteuid().is_root() {
        // Chromium's sandbox does not run as root; it only shows this program's own page.
        command.arg("--no-sandbox");
    }
    command
        .arg(format!("file://{}", html.display()))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let status = waited(command, program)
        .map_err(|error| error.unwrap_or_else(|error| place.failed(error)))?;
    let bytes = std::fs::read(&pdf).unwrap_or_default();
    if bytes.starts_with(b"%PDF-") {
        Ok(bytes)
    } else {
        Err(NoPdf::Failed {
            program: program.to_owned(),
            status,
        })
    }
}

/// Waits for its end, and kills it if that takes too long.
fn waited(mut command: Command, program: &Path) -> Result<ExitStatus, Result<NoPdf, io::Error>> {
    let mut child = command.spawn().map_err(Err)?;
    let began = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(Err)? {
            return Ok(status);
        }
        if began.elapsed() > PATIENCE {
            let _ = child.kill();
            let _ = child.wait();
            let program = program.to_owned();
            return Err(Ok(NoPdf::TooLong { program }));
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A directory of this process alone, gone when it is done.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn new(beside: &Path) -> Result<Self, NoPdf> {
        let directory = beside.parent().unwrap_or(Path::new(""));
        let name = format!("wakepath-pdf-{}", std::process::id());
        let path = std::path::absolute(directory.join(name)).map_err(|error| NoPdf::Io {
            path: directory.to_owned(),
            error,
        })?;
        // Fails if one exists, made by any user.
        let made = DirBuilder::new().mode(0o700).create(&path);
        made.map_err(|error| NoPdf::Io {
            path: path.clone(),
            error,
        })?;
        Ok(Self(path))
    }

    fn failed(&self, error: io::Error) -> NoPdf {
        NoPdf::Io {
            path: self.0.clone(),
            error,
        }
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_browser_a_line_names_the_package() {
        let said = NoPdf::NoProgram.to_string();
        assert!(
            said.contains("install the package chromium") && !said.contains('\n'),
            "{said}"
        );
    }

    #[test]
    fn a_browser_that_prints_nothing_is_said_and_its_place_is_gone() {
        let place = tempfile::tempdir().unwrap();
        let beside = place.path().join("report.html");
        let failed = printed(Path::new("/bin/false"), "<p>", &beside).unwrap_err();
        assert!(matches!(failed, NoPdf::Failed { .. }), "{failed}");
        let failed = printed(Path::new("/no/such/program"), "<p>", &beside).unwrap_err();
        assert!(matches!(failed, NoPdf::Io { .. }), "{failed}");
        assert_eq!(std::fs::read_dir(place.path()).unwrap().count(), 0);
    }
}
