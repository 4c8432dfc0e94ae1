//! A directory of modules, as `make modules_install` and packages lay it out.
//!
//! Dependencies come from modules.dep, or from the modules themselves if depmod never ran.

use super::{Asked, Module, ModuleFault, as_called, file};
use crate::{LabError, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Modules by their names.
#[derive(Debug)]
pub(crate) struct Tree {
    root: PathBuf,
    /// Release of the kernel that they must be for.
    release: Option<String>,
    files: BTreeMap<String, PathBuf>,
    /// Dependencies in modules.dep, by file.
    depends: BTreeMap<PathBuf, Vec<PathBuf>>,
    /// In the kernel itself.
    built_in: BTreeSet<String>,
}

const DEPENDS: &str = "modules.dep";
const BUILT_IN: &str = "modules.builtin";

impl Tree {
    /// The modules of `release` in or below `directory`.
    pub fn open(directory: &Path, release: Option<&str>) -> Result<Self> {
        let wrong = |fault| LabError::Modules {
            path: directory.to_owned(),
            fault,
        };
        fs::read_dir(directory).map_err(|error| LabError::io("list", directory, error))?;
        let root = root(directory, release).ok_or_else(|| {
            let release = release.map(str::to_owned);
            wrong(ModuleFault::NoTree { release })
        })?;
        let mut files = BTreeMap::new();
        let mut left = vec![root.clone()];
        while let Some(directory) = left.pop() {
            let entries = fs::read_dir(&directory);
            let entries = entries.map_err(|error| LabError::io("list", &directory, error))?;
            for path in entries.flatten().map(|entry| entry.path()) {
                // The links `build` and `source` point out of the tree.
                if path.is_dir() && !path.is_symlink() {
                    left.push(path);
                } else if let Some(name) = file::name_of(&path) {
                    files.insert(name, path);
                }
            }
        }
        if files.is_empty() {
            let release = release.map(str::to_owned);
            return Err(wrong(ModuleFault::NoTree { release }));
        }
        let lines = |name: &str| fs::read_to_string(root.join(name)).unwrap_or_default();
        let depends = lines(DEPENDS)
            .lines()
            .filter_map(|line| dependencies(&root, line))
            .collect();
        let built_in = lines(BUILT_IN)
            .lines()
            .filter_map(|line| file::name_of(Path::new(line)))
            .collect();
        Ok(Self {
            root,
            release: release.map(str::to_owned),
            files,
            depends,
            built_in,
        })
    }

    /// Whether it has a module of this name as a file.
    pub fn has(&self, name: &str) -> bool {
        self.files.contains_key(name)
    }

    /// The requested modules and their dependencies, in an order in which they can be loaded.
    pub fn needed(&self, asked: &[Asked]) -> Result<Vec<Module>> {
        let mut needed = Vec::new();
        for one in asked {
            self.add(&one.name, None, &mut Vec::new(), &mut needed)?;
            if let Some(module) = needed.iter_mut().find(|module| module.name == one.name) {
                module.parameters.clone_from(&one.parameters);
            }
        }
        Ok(needed)
    }

    fn add(
        &self,
        name: &str,
        needed_by: Option<&str>,
        above: &mut Vec<String>,
        needed: &mut Vec<Module>,
    ) -> Result<()> {
        let there = needed.iter().any(|module| module.name == name);
        if there || self.built_in.contains(name) {
            return Ok(());
        }
        let wrong = |path: &Path, fault| LabError::Modules {
            path: path.to_owned(),
            fault,
        };
        if above.iter().any(|one| one == name) {
            let name = name.to_owned();
            return Err(wrong(&self.root, ModuleFault::Circle { name }));
        }
        let path = self.files.get(name).ok_or_else(|| {
            let (name, needed_by) = (name.to_owned(), needed_by.map(str::to_owned));
            wrong(&self.root, ModuleFault::NotThere { name, needed_by })
        })?;
        let bytes = fs::read(path).map_err(|error| LabError::io("read", path, error))?;
        let bytes = file::unpacked(path, bytes).map_err(|fault| wrong(path, fault))?;
        let info = file::info(&bytes).map_err(|fault| wrong(path, fault))?;
        if let (Some(is), Some(guest)) = (info.release, self.release.clone())
            && is != guest
        {
            return Err(wrong(path, ModuleFault::OtherKernel { is, guest }));
        }
        // From depmod if possible, which also resolves aliases; otherwise from the module itself.
        let depends: Vec<String> = match self.depends.get(path) {
            // The last dependency there must be loaded first (modules.dep(5)).
            Some(files) => files
                .iter()
                .rev()
                .filter_map(|f| file::name_of(f))
                .collect(),
            None => info.depends,
        };
        above.push(name.to_owned());
        for other in depends {
            self.add(&other, Some(name), above, needed)?;
        }
        above.pop();
        needed.push(Module {
            name: as_called(name),
            parameters: String::new(),
            path: path.clone(),
            bytes,
        });
        Ok(())
    }
}

/// Root of the modules: here, or in a directory of the kernel's release below.
fn root(directory: &Path, release: Option<&str>) -> Option<PathBuf> {
    let of_release = release.into_iter().flat_map(|release| {
        ["", "lib/modules", "usr/lib/modules"].map(|below| directory.join(below).join(release))
    });
    if let Some(found) = { of_release }.find(|place| place.is_dir()) {
        return Some(found);
    }
    let has = |name: &str| directory.join(name).exists();
    let is_one = has(DEPENDS) || has("modules.order") || has("kernel");
    // A directory with other releases' modules isn't this kernel's; loose files can be.
    let loose = || {
        let entries = fs::read_dir(directory).ok()?;
        let mut paths = entries.flatten().map(|entry| entry.path());
        paths.find(|path| file::name_of(path).is_some())
    };
    (is_one || loose().is_some()).then(|| directory.to_owned())
}

/// Parses a line of modules.dep: `FILE: FILE …`, with absolute paths or paths relative to `root`.
fn dependencies(root: &Path, line: &str) -> Option<(PathBuf, Vec<PathBuf>)> {
    let (file, others) = line.split_once(':')?;
    // Paths from the root of the file system are those of the machine that depmod ran on.
    let at = |file: &str| match file.find("/kernel/").filter(|_| file.starts_with('/')) {
        Some(from) => root.join(&file[from + 1..]),
        None => root.join(file.trim_start_matches('/')),
    };
    Some((at(file), others.split_whitespace().map(at).collect()))
}

#[cfg(test)]
mod tests {
    use super::super::file::tests::module;
    use super::*;

    fn put(root: &Path, name: &str, depends: &str) {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let info = format!("depends={depends}\0vermagic=6.1.0-test SMP \0");
        fs::write(path, module(&info)).unwrap();
    }

    fn names(tree: &Tree, asked: &str) -> std::result::Result<Vec<String>, String> {
        let asked = [Asked::parse(asked).unwrap()];
        let needed = tree.needed(&asked).map_err(|error| error.to_string())?;
        let told = needed.iter().map(|one| match one.parameters.as_str() {
            "" => one.name.clone(),
            parameters => format!("{} {parameters}", one.name),
        });
        Ok(told.collect())
    }

    #[test]
    fn what_a_module_needs_comes_before_it_with_modules_dep_and_without() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("lib/modules/6.1.0-test");
        put(&root, "kernel/net/a.ko", "b-b,d");
        put(&root, "kernel/net/b-b.ko", "c");
        put(&root, "kernel/c.ko", "");
        fs::write(root.join(BUILT_IN), "kernel/lib/d.ko\n").unwrap();
        let open = |release| Tree::open(place.path(), release).unwrap();
        let tree = open(Some("6.1.0-test"));
        let order = ["c", "b_b", "a number=2"].map(str::to_owned);
        assert_eq!(names(&tree, "a number=2").unwrap(), order);
        // Built into the kernel: nothing to load.
        assert_eq!(names(&tree, "d").unwrap(), [""; 0]);
        let line =
            "kernel/net/a.ko: kernel/net/b-b.ko kernel/c.ko\nkernel/net/b-b.ko: kernel/c.ko\n";
        fs::write(root.join(DEPENDS), line).unwrap();
        let tree = Tree::open(&root, None).unwrap();
        assert_eq!(names(&tree, "a number=2").unwrap(), order);
        let modules = tree.needed(&[Asked::parse("c").unwrap()]).unwrap();
        assert_eq!(modules[0].ordered().path, "/lab/modules/c.ko");
    }

    #[test]
    fn what_is_missing_for_another_kernel_or_goes_round_is_named() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path();
        let none = Tree::open(root, Some("6.1.0-test"))
            .unwrap_err()
            .to_string();
        assert!(
            none.contains("holds no kernel modules of 6.1.0-test"),
            "{none}"
        );
        assert!(Tree::open(&root.join("no"), None).is_err());
        put(root, "a.ko", "gone");
        put(root, "x.ko", "y");
        put(root, "y.ko", "x");
        let tree = Tree::open(root, None).unwrap();
        let said = names(&tree, "a").unwrap_err();
        assert!(
            said.ends_with("holds no module gone, which a needs"),
            "{said}"
        );
        let said = names(&tree, "nothing").unwrap_err();
        assert!(
            said.contains("no module nothing, neither as a file"),
            "{said}"
        );
        let said = names(&tree, "x").unwrap_err();
        assert!(said.contains("in a circle, x among them"), "{said}");
        let other = Tree::open(root, Some("6.12.1")).unwrap();
        let said = names(&other, "a").unwrap_err();
        assert!(
            said.ends_with("a module for the kernel 6.1.0-test, the guest's is 6.12.1"),
            "{said}"
        );
        for wrong in ["", "  ", "../a", "a.ko"] {
            assert!(Asked::parse(wrong).is_err(), "{wrong}");
        }
    }
}
