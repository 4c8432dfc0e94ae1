//! The running kernel's preemption model.
//!
//! A model that was configured or requested at boot is reported as such, never as in effect.

use serde::{Deserialize, Serialize};

use super::{CommandLine, DebugFiles, Kernel, KernelConfig, Release};
use crate::{Misread, Reading, Root};

const DEBUG_PATH: &str = "/sys/kernel/debug/sched/preempt";

/// When the kernel lets a woken task run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PreemptionModel {
    /// Kernel code is not preempted.
    None,
    /// At marked places only.
    Voluntary,
    /// Anywhere but in sections that forbid it.
    Full,
    /// As full for real-time tasks, at the tick for others (Linux 6.13 and later).
    Lazy,
    /// `PREEMPT_RT`: almost everywhere, interrupt handlers in threads.
    RealTime,
    /// Unknown.
    #[default]
    #[serde(other)]
    Unknown,
}

impl PreemptionModel {
    /// The kernel's word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Voluntary => "voluntary",
            Self::Full => "full",
            Self::Lazy => "lazy",
            Self::RealTime => "PREEMPT_RT",
            Self::Unknown => "unknown",
        }
    }

    fn from_word(word: &str) -> Option<Self> {
        [Self::None, Self::Voluntary, Self::Full, Self::Lazy]
            .into_iter()
            .find(|model| model.word() == word)
    }
}

/// Certainty that the model is the running one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Read back from the running kernel, or built in so that it can't be otherwise.
    InEffect,
    /// Asked for on the command line; not confirmed.
    AsRequested,
    /// The default the kernel was built with; not confirmed.
    AsConfigured,
    /// Unknown.
    #[default]
    #[serde(other)]
    Unknown,
}

/// The preemption model and its certainty.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Preemption {
    /// The model.
    pub model: PreemptionModel,
    /// Whether it is in effect or only configured.
    pub standing: Standing,
    /// The file it follows from.
    pub evidence: String,
    /// Way to confirm it, if it isn't confirmed.
    pub remedy: Option<String>,
    /// The kernel's own report, if the model can be changed at run time.
    pub chosen: Reading<String>,
}

impl Preemption {
    pub(super) fn read(
        root: &Root,
        kernel: &Kernel,
        config: &KernelConfig,
        command_line: &CommandLine,
        debug_files: DebugFiles,
        x86: bool,
    ) -> Self {
        use PreemptionModel as Model;
        use Standing::{AsConfigured, AsRequested, InEffect};

        let chosen = root.parsed(DEBUG_PATH, parenthesised);
        let realtime = root.number::<u32>("/sys/kernel/realtime");
        let found = |model, standing, evidence: &str| Self {
            model,
            standing,
            evidence: evidence.to_owned(),
            remedy: None,
            chosen: chosen.clone(),
        };
        if realtime.known() == Some(&1) {
            return found(Model::RealTime, InEffect, realtime.path());
        }
        let Some(version) = kernel.version.known() else {
            return found(Model::Unknown, Standing::Unknown, kernel.version.path());
        };
        let version_path = kernel.version.path();
        let flag = |name: &str| version.split_whitespace().any(|word| word == name);
        // The out-of-tree patch wrote "PREEMPT RT" up to Linux 5.0.
        if flag("PREEMPT_RT") || version.contains("PREEMPT RT") {
            return found(Model::RealTime, InEffect, version_path);
        }
        let configured = configured_model(config);
        // From 5.12 to 5.17 a dynamic kernel calls itself PREEMPT; only x86 had one then.
        let release = kernel.release_numbers();
        let hidden = x86
            && release
                >= Some(Release {
                    major: 5,
                    minor: 12,
                })
            && release
                < Some(Release {
                    major: 5,
                    minor: 18,
                });
        let dynamic = flag("PREEMPT_DYNAMIC")
            || chosen.known().is_some()
            || config
                .is_set("PREEMPT_DYNAMIC")
                .unwrap_or(hidden && flag("PREEMPT"));
        if dynamic {
            if let Some(model) = chosen.known().and_then(|word| Model::from_word(word)) {
                return found(model, InEffect, DEBUG_PATH);
            }
            let requested = command_line.value("preempt").and_then(Model::from_word);
            let unconfirmed = match (requested, configured) {
                (Some(model), _) => found(model, AsRequested, command_line.text.path()),
                (None, Some(model)) => found(model, AsConfigured, config.options.path()),
                (None, None) => found(Model::Unknown, Standing::Unknown, DEBUG_PATH),
            };
            return Self {
                remedy: debug_files.remedy().map(str::to_owned),
                ..unconfirmed
            };
        }
        // Without PREEMPT_DYNAMIC the model is built in, so the configuration of this very
        // kernel is the model in effect.
        if flag("PREEMPT") {
            // A lazy kernel calls itself PREEMPT too; before 6.13 there was none.
            let lazy_exists = release
                >= Some(Release {
                    major: 6,
                    minor: 13,
                });
            return match configured {
                Some(model) => found(model, InEffect, config.options.path()),
                None if !lazy_exists => found(Model::Full, InEffect, version_path),
                None => found(Model::Unknown, Standing::Unknown, version_path),
            };
        }
        match configured {
            Some(model) => found(model, InEffect, config.options.path()),
            None => found(Model::Unknown, Standing::Unknown, config.options.path()),
        }
    }
}

/// The build-time choice; for dynamic kernels that is their default.
fn configured_model(config: &KernelConfig) -> Option<PreemptionModel> {
    use PreemptionModel as Model;
    // Only Linux 5.16 and 5.17 have the `_BEHAVIOUR` names.
    [
        ("PREEMPT_LAZY", Model::Lazy),
        ("PREEMPT_NONE", Model::None),
        ("PREEMPT_VOLUNTARY", Model::Voluntary),
        ("PREEMPT_NONE_BEHAVIOUR", Model::None),
        ("PREEMPT_VOLUNTARY_BEHAVIOUR", Model::Voluntary),
        ("PREEMPT_BEHAVIOUR", Model::Full),
        ("PREEMPT", Model::Full),
    ]
    .into_iter()
    .find(|(option, _)| config.is_set(option) == Some(true))
    .map(|(_, model)| model)
}

/// The word in parentheses: `none voluntary (full) lazy`.
fn parenthesised(text: &str) -> Result<String, Misread> {
    let chosen = text
        .split('(')
        .nth(1)
        .and_then(|rest| rest.split(')').next());
    chosen
        .map(str::to_owned)
        .ok_or_else(|| Misread::lacks("word in parentheses"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_own_answer_is_the_word_in_parentheses() {
        assert_eq!(parenthesised("none voluntary (full) lazy").unwrap(), "full");
        assert!(parenthesised("none voluntary full").is_err());
    }

    fn read(version: &str, release: &str, config: &[&str], line: &str) -> Preemption {
        let nowhere = Root::at("/nonexistent");
        let kernel = Kernel {
            version: Reading::found(version.to_owned(), "/proc/sys/kernel/version"),
            release: Reading::found(release.to_owned(), "/proc/sys/kernel/osrelease"),
            ..Kernel::default()
        };
        let options = config
            .iter()
            .map(|name| ((*name).to_owned(), "y".to_owned()))
            .collect();
        let config = if config.is_empty() {
            KernelConfig::default()
        } else {
            KernelConfig {
                options: Reading::found(options, "/boot/config"),
            }
        };
        let line = CommandLine {
            text: Reading::found(line.to_owned(), "/proc/cmdline"),
        };
        Preemption::read(&nowhere, &kernel, &config, &line, DebugFiles::Denied, true)
    }

    #[test]
    fn a_dynamic_kernel_that_cannot_be_asked_is_never_taken_as_confirmed() {
        let asked = read(
            "#1 SMP PREEMPT_DYNAMIC x",
            "6.18.1",
            &["PREEMPT_NONE"],
            "preempt=full",
        );
        assert_eq!(asked.model, PreemptionModel::Full);
        assert_eq!(asked.standing, Standing::AsRequested);
        assert!(asked.remedy.is_some());
        let configured = read(
            "#1 SMP PREEMPT_DYNAMIC x",
            "6.18.1",
            &["PREEMPT_NONE"],
            "quiet",
        );
        assert_eq!(configured.model, PreemptionModel::None);
        assert_eq!(configured.standing, Standing::AsConfigured);
    }

    #[test]
    fn a_static_kernel_is_what_it_was_built_as() {
        let full = read("#1 SMP PREEMPT x", "5.10.120", &[], "");
        assert_eq!(
            (full.model, full.standing),
            (PreemptionModel::Full, Standing::InEffect)
        );
        let lazy = read("#1 SMP PREEMPT x", "6.14.0", &["PREEMPT_LAZY"], "");
        assert_eq!(
            (lazy.model, lazy.standing),
            (PreemptionModel::Lazy, Standing::InEffect)
        );
        let unknown = read("#1 SMP PREEMPT x", "6.14.0", &[], "");
        assert_eq!(unknown.model, PreemptionModel::Unknown);
        let voluntary = read("#1 SMP x", "4.19.94-ti-r42", &["PREEMPT_VOLUNTARY"], "");
        assert_eq!(voluntary.model, PreemptionModel::Voluntary);
    }

    #[test]
    fn a_dynamic_kernel_from_before_it_said_so_is_not_taken_as_full() {
        let configured = ["PREEMPT_DYNAMIC", "PREEMPT"];
        let asked = read("#1 SMP PREEMPT x", "5.15.0", &configured, "preempt=none");
        assert_eq!(
            (asked.model, asked.standing),
            (PreemptionModel::None, Standing::AsRequested)
        );
        let unknown = read("#1 SMP PREEMPT x", "5.15.0", &[], "");
        assert_eq!(unknown.standing, Standing::Unknown);
        let known = read("#1 SMP PREEMPT x", "5.15.0", &["PREEMPT"], "preempt=none");
        assert_eq!(
            (known.model, known.standing),
            (PreemptionModel::Full, Standing::InEffect)
        );
    }

    #[test]
    fn an_rt_kernel_is_known_by_its_version() {
        let rt = read("#1 SMP PREEMPT_RT x", "6.12.0", &[], "");
        assert_eq!(
            (rt.model, rt.standing),
            (PreemptionModel::RealTime, Standing::InEffect)
        );
    }
}
