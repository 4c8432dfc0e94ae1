//! Checks that kernels can do what their guests need.
//!
//! Also chooses the modules, files and values for each kernel, before anything is written or boots.

use crate::architecture::Architecture;
use crate::asked::GuestsAsked;
use crate::brought::{Brought, written};
use crate::configuration::{Asked, Configuration, Lack, Weight, lacking, wanted};
use crate::disk::{CHECKSUMS, Disk};
use crate::host::Host;
use crate::kernel::Kernel;
use crate::kernel_name::KernelName;
use crate::modules::{self, Module, ModuleFault, Tree};
use crate::{LabError, Result};
use std::collections::BTreeSet;
use std::path::Path;
use wakepath_guest::order::OrderedWrite;
use wakepath_scenario::Scenario;

/// A requested kernel.
pub(crate) struct Chosen {
    /// As the user called it.
    pub called: String,
    /// Its parsed name.
    pub name: KernelName,
    /// Its own parameters.
    pub parameters: String,
    pub kernel: Kernel,
}

/// The users' additions to guests, parsed.
pub(crate) struct Added {
    modules: Vec<modules::Asked>,
    pub brought: Vec<Brought>,
    pub writes: Vec<OrderedWrite>,
    pub disk: Option<Disk>,
}

impl Added {
    /// Parses the options.
    ///
    /// # Errors
    /// Options that can't be parsed.
    pub fn new(asked: &GuestsAsked) -> Result<Self> {
        let added = &asked.added;
        let modules = added.modules.iter().map(|text| modules::Asked::parse(text));
        let disk = added.disk.as_ref().map(|given| {
            let fault = |fault| LabError::Disk {
                given: given.clone(),
                fault,
            };
            Disk::parse(given).map_err(fault)
        });
        Ok(Self {
            modules: modules
                .collect::<std::result::Result<_, _>>()
                .map_err(LabError::ModulesAsked)?,
            brought: added
                .files
                .iter()
                .map(|text| Brought::parse(text))
                .collect::<Result<_>>()?,
            writes: added
                .writes
                .iter()
                .map(|text| written(text))
                .collect::<Result<_>>()?,
            disk: disk.transpose()?,
        })
    }
}

/// A kernel and the requirements on it.
pub(crate) struct Fitting<'a> {
    pub asked: &'a GuestsAsked,
    pub added: &'a Added,
    pub architecture: Architecture,
    pub host: &'a Host,
    pub scenario: Option<&'a Scenario>,
}

impl Fitting<'_> {
    /// The modules that the kernel loads. Prints a line for each feature that won't work in its
    /// guests.
    ///
    /// # Errors
    /// [`LabError::Lacking`] if none of its guests could do the task; modules that aren't
    /// available.
    pub fn modules(&self, chosen: &Chosen, parameters: &[Vec<String>]) -> Result<Vec<Module>> {
        let mut wanted_modules = self.added.modules.clone();
        wanted_modules.extend(self.added.disk.into_iter().flat_map(Disk::modules));
        let configuration = Configuration::new(&chosen.kernel)?;
        let mut missed = BTreeSet::new();
        if let Some(configuration) = &configuration {
            for parameters in parameters {
                let lacks = self.lacks(configuration, parameters, &wanted_modules);
                let (brought, lacks): (Vec<Lack>, Vec<Lack>) = lacks
                    .into_iter()
                    .partition(|lack| self.may_bring(lack, chosen));
                let brought = brought.iter().filter_map(|lack| lack.module);
                wanted_modules.extend(brought.map(|name| modules::Asked {
                    name: name.to_owned(),
                    parameters: String::new(),
                }));
                let told = |weight| -> Vec<String> {
                    let mine = lacks.iter().filter(|lack| lack.weight == weight);
                    mine.map(ToString::to_string).collect()
                };
                let needed = told(Weight::Needed);
                if !needed.is_empty() {
                    return Err(LabError::Lacking {
                        kernel: chosen.called.clone(),
                        lacks: needed.join(", "),
                        from: configuration.from.clone(),
                    });
                }
                missed.extend(told(Weight::Missed));
            }
        }
        for lack in missed {
            (self.host.tell)(&format!("warning: {} lacks {lack}", chosen.called));
        }
        if wanted_modules.is_empty() {
            Ok(Vec::new())
        } else {
            let tree = self.tree(chosen, &wanted_modules)?;
            if self.added.disk.is_some() && tree.has(CHECKSUMS) {
                let name = CHECKSUMS.to_owned();
                let parameters = String::new();
                wanted_modules.insert(0, modules::Asked { name, parameters });
            }
            tree.needed(&wanted_modules)
        }
    }

    fn lacks(
        &self,
        configuration: &Configuration,
        parameters: &[String],
        loaded: &[modules::Asked],
    ) -> Vec<Lack> {
        let wants = wanted(&Asked {
            architecture: self.architecture,
            cpus: self.asked.cpus,
            parameters,
            scenario: self.scenario,
            modules: !loaded.is_empty(),
        });
        let is_loaded = |name: &str| loaded.iter().any(|module| module.name == name);
        lacking(&wants, configuration, is_loaded)
    }

    /// Whether a missing option is a module in one of the searched directories.
    fn may_bring(&self, lack: &Lack, chosen: &Chosen) -> bool {
        let there = self.asked.added.modules_from.is_some() || chosen.kernel.package.is_some();
        lack.module.is_some() && there
    }

    /// The directory of a kernel's modules.
    fn tree(&self, chosen: &Chosen, wanted: &[modules::Asked]) -> Result<Tree> {
        let release = chosen.kernel.release.as_deref();
        if let Some(directory) = &self.asked.added.modules_from {
            return Tree::open(Path::new(directory), release);
        }
        let cache = self.host.cache();
        match chosen
            .name
            .modules(&chosen.kernel, self.architecture, &cache)?
        {
            Some(directory) => Tree::open(&directory, release),
            None => {
                let names = wanted.iter().map(|module| module.name.as_str());
                Err(LabError::ModulesAsked(ModuleFault::Nowhere {
                    kernel: chosen.called.clone(),
                    names: names.collect::<Vec<_>>().join(", "),
                }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;
    use wakepath_archive::GuestAdditions;

    const CONFIGURATION: &str = "CONFIG_64BIT=y\nCONFIG_BLK_DEV_INITRD=y\nCONFIG_BINFMT_ELF=y\n\
        CONFIG_PROC_FS=y\nCONFIG_SYSFS=y\nCONFIG_FUTEX=y\nCONFIG_SERIAL_8250_CONSOLE=y\n\
        CONFIG_MODULES=y\n";

    fn modules(
        place: &Path,
        configuration: &str,
        added: GuestAdditions,
    ) -> std::result::Result<usize, String> {
        let path = place.join("bzImage");
        let config = place.join("config-1");
        fs::write(&path, "").unwrap();
        fs::write(&config, configuration).unwrap();
        let chosen = Chosen {
            called: "./bzImage".into(),
            name: KernelName::Path(path.clone()),
            parameters: String::new(),
            kernel: Kernel {
                path: path.clone(),
                started: path,
                sha256: String::new(),
                package: None,
                config: Some(config),
                release: None,
            },
        };
        let asked = GuestsAsked {
            kernels: vec!["./bzImage".into()],
            variants: Vec::new(),
            architecture: "x86-64".into(),
            cpus: 1,
            topology: None,
            before: Vec::new(),
            ns_per_instruction: 1,
            memory_mib: 64,
            added,
        };
        let host = Host {
            own: PathBuf::new(),
            program: PathBuf::new(),
            version: String::new(),
            tell: |_| (),
        };
        let added = Added::new(&asked).map_err(|error| error.to_string())?;
        let fitting = Fitting {
            asked: &asked,
            added: &added,
            architecture: Architecture::X86_64,
            host: &host,
            scenario: None,
        };
        let found = fitting.modules(&chosen, &[Vec::new()]);
        found
            .map(|found| found.len())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_kernel_that_can_be_no_guest_is_refused_by_what_it_lacks_in_one_line() {
        let place = tempfile::tempdir().unwrap();
        let none = GuestAdditions::default();
        assert_eq!(modules(place.path(), CONFIGURATION, none.clone()), Ok(0));
        let without = CONFIGURATION.replace("CONFIG_SYSFS=y\n", "# CONFIG_SYSFS is not set\n");
        let said = modules(place.path(), &without, none.clone()).unwrap_err();
        assert!(
            said.starts_with("./bzImage can't be this guest: it was built without CONFIG_SYSFS ("),
            "{said}"
        );
        assert!(
            said.ends_with("config-1") && said.lines().count() == 1,
            "{said}"
        );
        let module = GuestAdditions {
            modules: vec!["dummy".into()],
            ..none
        };
        let said = modules(place.path(), CONFIGURATION, module.clone()).unwrap_err();
        assert!(
            said.contains("give their directory with `--modules DIR`"),
            "{said}"
        );
        let fixed = CONFIGURATION.replace("CONFIG_MODULES=y\n", "");
        let said = modules(place.path(), &fixed, module).unwrap_err();
        assert!(
            said.contains("CONFIG_MODULES (no module can be loaded)"),
            "{said}"
        );
        let wrong = GuestAdditions {
            writes: vec!["/etc/a=1".into()],
            ..GuestAdditions::default()
        };
        let said = modules(place.path(), CONFIGURATION, wrong).unwrap_err();
        assert!(
            said.starts_with("--init-write /etc/a=1: give PATH=VALUE"),
            "{said}"
        );
    }

    #[test]
    fn a_disk_needs_its_modules_and_a_kernel_without_them_is_named_in_one_line() {
        let place = tempfile::tempdir().unwrap();
        let tree = place.path().join("modules");
        fs::create_dir(&tree).unwrap();
        fs::write(tree.join("other.ko"), "").unwrap();
        let disk = |text: &str| GuestAdditions {
            modules_from: Some(tree.display().to_string()),
            disk: Some(text.into()),
            ..GuestAdditions::default()
        };
        let said = modules(place.path(), CONFIGURATION, disk("8ms")).unwrap_err();
        assert!(said.starts_with("--disk 8ms: give the time"), "{said}");
        let slow = disk("latency=8ms,rate=2MiB/s");
        let said = modules(place.path(), CONFIGURATION, slow.clone()).unwrap_err();
        assert!(said.contains("holds no module ext4, neither"), "{said}");
        fs::write(tree.join("modules.builtin"), "kernel/fs/ext4/ext4.ko\n").unwrap();
        let said = modules(place.path(), CONFIGURATION, slow).unwrap_err();
        assert!(said.contains("holds no module null_blk, neither"), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
}
