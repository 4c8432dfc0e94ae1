//! The guest's only file system: its program, the order, and files for the loads.
//!
//! The same content gives the same bytes.

use crate::architecture::Architecture;
use crate::brought::Brought;
use crate::fault::ProgramFault;
use crate::modules::Module;
use crate::programs::Wanted;
use crate::{LabError, Result, foreign, programs};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use wakepath_guest::cpio::{Entry, Kind, pack};
use wakepath_guest::order::{COVERED, ORDER_PATH, Order, PROGRAM_PATH, UNDER};
use wakepath_guest::sha256_hex;

/// An archive that a kernel starts from. Not compressed: a smaller file would cost the guest the
/// unpacking, at an emulated CPU's pace.
#[derive(Debug, Clone)]
pub struct Initramfs {
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their SHA-256, in hexadecimal.
    pub sha256: String,
}

/// An initramfs in an unnamed file, which vanishes with this process.
#[derive(Debug, Clone)]
pub struct Packed {
    /// To be read.
    pub file: Arc<File>,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

/// The path at which the emulator finds the file: its standard output, to which it writes nothing.
pub(crate) const INITRAMFS: &str = "/proc/self/fd/1";

/// Where the guest's wakepath finds the program with an EtherCAT master: next to itself.
const MASTER_PATH: &str = "/bin/wakepath-ethercat";

/// Mount points, and directories that programs expect.
const DIRECTORIES: [&str; 7] = ["bin", "dev", "lab", "proc", "run", "sys", "tmp"];

/// Content of a guest's initramfs, in addition to wakepath.
pub struct Content<'a> {
    /// The guest's order.
    pub order: &'a Order,
    /// Further programs, each with its libraries and at its own path.
    pub programs: &'a [Wanted],
    /// The program with an EtherCAT master, if the scenario needs it.
    pub master: Option<&'a Path>,
    /// Libraries that hold a controller.
    pub libraries: &'a [String],
    /// Modules that its kernel loads.
    pub modules: &'a [Module],
    /// The user's files.
    pub brought: &'a [Brought],
    /// Its kernel's configuration and release.
    pub config: Option<(&'a Path, &'a str)>,
}

impl Initramfs {
    /// Packs `program` (wakepath itself) and the rest.
    ///
    /// # Errors
    /// A program or a file that is missing or can't be read.
    pub fn build(
        architecture: Architecture,
        program: &Path,
        content: &Content<'_>,
    ) -> Result<Self> {
        let mut files: BTreeMap<String, Entry> = BTreeMap::new();
        programs::refuse_other(program, architecture)?;
        programs::add(&mut files, program, Path::new(PROGRAM_PATH))?;
        if let Some(master) = content.master {
            programs::refuse_other(master, architecture)?;
            programs::add(&mut files, master, Path::new(MASTER_PATH))?;
        }
        for wanted in content.programs {
            match wanted {
                Wanted::OfThisHost { program, package } => {
                    let path = programs::installed(program, package)?;
                    programs::refuse_other(&path, architecture)?;
                    programs::add(&mut files, &path, &path)?;
                }
                Wanted::Unpacked { program, root } => {
                    foreign::add(&mut files, root, program, architecture)?;
                }
            }
        }
        for library in content.libraries {
            programs::refuse_other(Path::new(library), architecture)?;
            programs::add(&mut files, Path::new(library), Path::new(library))?;
        }
        // The user's files replace the default ones.
        let mut brought = BTreeMap::new();
        for one in content.brought {
            one.add(&mut brought, architecture)?;
        }
        files.extend(brought);
        put_under(&mut files, content.order)?;
        let mut add = |path: &str, kind: Kind| {
            let path = path.to_owned();
            files.insert(path.clone(), Entry { path, kind });
        };
        let plain = |bytes: Vec<u8>| Kind::File {
            executable: false,
            bytes,
        };
        if let Some((config, release)) = content.config {
            let bytes = fs::read(config).map_err(|e| LabError::io("read", config, e))?;
            add(&format!("boot/config-{release}"), plain(bytes));
        }
        for module in content.modules {
            let entry = module.entry();
            add(&entry.path, entry.kind);
        }
        add(
            ORDER_PATH.trim_start_matches('/'),
            plain(content.order.to_bytes()),
        );
        // The kernel opens this for its first process before the process can mount anything.
        add("dev/console", Kind::CharacterDevice { major: 5, minor: 1 });
        add_directories(&mut files);
        let bytes = pack(&files.into_values().collect::<Vec<_>>());
        let sha256 = sha256_hex(&bytes);
        Ok(Self { bytes, sha256 })
    }

    /// Writes it into a file of `directory` that nobody finds there.
    ///
    /// # Errors
    /// When the directory has no room.
    pub fn keep_in(self, directory: &Path) -> Result<Packed> {
        let path = directory.join(format!(".initramfs-{}", std::process::id()));
        let failed = |action| move |error| (action, error);
        let written = || {
            let mut file = File::create_new(&path).map_err(failed("make"))?;
            // Read-only, so that no guest can change the shared file.
            let read = File::open(&path).map_err(failed("read"));
            fs::remove_file(&path).map_err(failed("remove"))?;
            file.write_all(&self.bytes).map_err(failed("write"))?;
            read
        };
        let file = written().map_err(|(action, error)| LabError::io(action, &path, error))?;
        Ok(Packed {
            file: Arc::new(file),
            sha256: self.sha256,
        })
    }
}

/// Mounts that accept no foreign files: a command there is run from its path below [`UNDER`].
const OF_THE_KERNEL: [&str; 2] = ["proc", "sys"];

/// Whether a path of an initramfs is below one of these mounts.
fn is_in(path: &str, places: &[&str]) -> bool {
    let first = path.split('/').next();
    first.is_some_and(|first| places.contains(&first))
}

/// Path of a command's program in the guest.
pub(crate) fn command_path(path: &str) -> String {
    if is_in(path.trim_start_matches('/'), &OF_THE_KERNEL) {
        format!("/{UNDER}{path}")
    } else {
        path.to_owned()
    }
}

/// Moves files that a mount would hide below [`UNDER`].
fn put_under(files: &mut BTreeMap<String, Entry>, order: &Order) -> Result<()> {
    let is_a_command = |path: &str| {
        let mut words = order.commands.iter().flat_map(|one| one.words.first());
        words.any(|word| word.strip_prefix(&format!("/{UNDER}/")) == Some(path))
    };
    let of_the_kernel = |path: &&String| is_in(path, &OF_THE_KERNEL) && !is_a_command(path);
    if let Some(path) = files.keys().find(of_the_kernel) {
        return Err(LabError::Program {
            path: Path::new("/").join(path),
            why: ProgramFault::OfTheKernel,
        });
    }
    let places = [&COVERED[..], &OF_THE_KERNEL[..]].concat();
    let covered = files.extract_if(.., |path, _| is_in(path, &places));
    let moved: Vec<Entry> = covered
        .map(|(path, entry)| Entry {
            path: format!("{UNDER}/{path}"),
            ..entry
        })
        .collect();
    files.extend(moved.into_iter().map(|entry| (entry.path.clone(), entry)));
    Ok(())
}

/// Adds every file's parent directories, and the required ones. A directory sorts before its
/// content, as the kernel's unpacking needs.
fn add_directories(files: &mut BTreeMap<String, Entry>) {
    let mut wanted: Vec<String> = DIRECTORIES.map(String::from).to_vec();
    for path in files.keys() {
        let above = Path::new(path).ancestors().skip(1);
        wanted.extend(above.map(|path| path.display().to_string()));
    }
    for path in wanted.into_iter().filter(|path| !path.is_empty()) {
        let kind = Kind::Directory;
        files.entry(path.clone()).or_insert(Entry { path, kind });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    #[cfg(target_arch = "x86_64")]
    const OWN: Architecture = Architecture::X86_64;
    #[cfg(target_arch = "x86_64")]
    const OTHER: Architecture = Architecture::Aarch64;
    #[cfg(not(target_arch = "x86_64"))]
    const OWN: Architecture = Architecture::Aarch64;
    #[cfg(not(target_arch = "x86_64"))]
    const OTHER: Architecture = Architecture::X86_64;

    #[test]
    fn a_program_for_another_architecture_is_refused() {
        let error = build(OTHER, &order(), &[]).unwrap_err();
        let said = format!("is for {OWN}, the guest is {OTHER}");
        assert!(error.to_string().contains(&said), "{error}");
    }

    fn build(architecture: Architecture, order: &Order, programs: &[Wanted]) -> Result<Initramfs> {
        let own = std::env::current_exe().unwrap();
        let content = Content {
            order,
            programs,
            master: None,
            libraries: &[],
            modules: &[],
            brought: &[],
            config: None,
        };
        Initramfs::build(architecture, &own, &content)
    }

    fn order() -> Order {
        Order {
            modules: Vec::new(),
            writes: Vec::new(),
            disk: None,
            commands: Vec::new(),
            scenario: Some("name = \"a\"\n".into()),
            ns_per_instruction: 1,
            seed: 1,
            cpus: 1,
            turn_ns: None,
            hunt: None,
            caches_bytes: None,
        }
    }

    #[test]
    fn the_same_content_gives_the_same_bytes_and_another_order_others() {
        let first = build(OWN, &order(), &[]).unwrap();
        let second = build(OWN, &order(), &[]).unwrap();
        assert_eq!(first.sha256, second.sha256);
        let other = Order { seed: 2, ..order() };
        let other = build(OWN, &other, &[]).unwrap();
        assert_ne!(first.sha256, other.sha256);
    }

    /// The names in an archive of the form "newc", in order (initramfs-buffer-format in the
    /// kernel's documentation).
    fn names(archive: &[u8]) -> Vec<String> {
        let mut names = Vec::new();
        let mut at = 0;
        while archive[at..].starts_with(b"070701") {
            let field = |from: usize| {
                let digits = std::str::from_utf8(&archive[at + from..at + from + 8]).unwrap();
                usize::from_str_radix(digits, 16).unwrap()
            };
            let (content, name) = (field(54), field(94));
            let text = &archive[at + 110..at + 110 + name - 1];
            names.push(String::from_utf8(text.to_vec()).unwrap());
            at = (at + 110 + name).next_multiple_of(4) + content.next_multiple_of(4);
            if names.last().is_some_and(|name| name == "TRAILER!!!") {
                break;
            }
        }
        names
    }

    #[test]
    fn a_directory_comes_before_what_is_in_it() {
        let archive = build(OWN, &order(), &[]).unwrap();
        let names = names(&archive.bytes);
        let at = |name: &str| {
            let found = names.iter().position(|found| found == name);
            found.unwrap_or_else(|| panic!("{name} is missing: {names:?}"))
        };
        assert!(at("bin") < at("bin/wakepath"));
        assert!(at("dev") < at("dev/console"));
        assert!(at("lab") < at("lab/order.json"));
    }

    #[test]
    fn a_program_where_the_guest_mounts_something_is_put_where_it_stays_visible() {
        let place = tempfile::tempdir_in("/tmp").unwrap();
        let program = place.path().join("program");
        fs::copy("/bin/true", &program).unwrap();
        let wanted = [Wanted::OfThisHost {
            program: program.display().to_string(),
            package: "none",
        }];
        let archive = build(OWN, &order(), &wanted).unwrap();
        let names = names(&archive.bytes);
        let path = program.display().to_string();
        assert!(names.contains(&format!("{UNDER}{path}")), "{names:?}");
        assert!(!names.contains(&path[1..].to_owned()), "{names:?}");
    }

    #[test]
    fn a_command_from_a_place_of_the_kernels_runs_from_where_it_stays_and_a_load_does_not() {
        let program = "/proc/self/exe";
        assert_eq!(command_path("/usr/bin/a"), "/usr/bin/a");
        let wanted = [Wanted::OfThisHost {
            program: program.into(),
            package: "none",
        }];
        let said = build(OWN, &order(), &wanted).unwrap_err().to_string();
        assert!(
            said.starts_with("/proc/self/exe: the guest's kernel"),
            "{said}"
        );
        let mut order = order();
        order.commands.push(wakepath_guest::order::OrderedCommand {
            words: vec![command_path(program)],
            may_fail: false,
        });
        let names = names(&build(OWN, &order, &wanted).unwrap().bytes);
        let place = "lab/under/proc/self/exe".to_owned();
        assert!(names.contains(&place), "{names:?}");
    }

    #[test]
    fn an_initramfs_has_no_name_that_a_killed_laboratory_could_leave() {
        let place = tempfile::tempdir().unwrap();
        let bytes = b"initramfs".to_vec();
        let sha256 = sha256_hex(&bytes);
        let packed = Initramfs { bytes, sha256 }.keep_in(place.path()).unwrap();
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
        let read = std::process::Command::new("cat")
            .arg(INITRAMFS)
            .stdout(packed.file.try_clone().unwrap())
            .stderr(std::process::Stdio::piped())
            .output();
        // Writing fails: the initramfs that other guests share must not change.
        assert!(!read.unwrap().status.success());
        assert_eq!(
            fs::read(format!("/proc/self/fd/{}", packed.file.as_raw_fd())).unwrap(),
            b"initramfs"
        );
    }

    #[test]
    fn a_missing_program_is_named_with_its_package() {
        let further = [Wanted::OfThisHost {
            program: "no-such-program".into(),
            package: "some-package",
        }];
        let error = build(OWN, &order(), &further).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no-such-program is not installed: install the package some-package"
        );
    }
}
