//! A fix by its name: words before the program's command, or one kernel setting.

use crate::machine_facts::refuse_offline;
use std::path::Path;
use std::process::Command;
use wakepath_console::option_value;
use wakepath_measure::own_executable;
use wakepath_rt::attributes;
use wakepath_timeline::Policy;
use wakepath_tuning::{Action, Compare, Step, System};

type Failure = Box<dyn std::error::Error>;

const KNOWN: &str = "policy='FIFO 80', cpu=1, slack, malloc, rtprio=99, memlock=unlimited, rttime=unlimited, or a file of \
     the kernel with its value, such as /proc/irq/24/smp_affinity_list=0";

/// Keeps glibc's malloc from giving memory back, as `mallopt` does from inside.
const MALLOC: [&str; 3] = ["env", "MALLOC_MMAP_MAX_=0", "MALLOC_TRIM_THRESHOLD_=-1"];

/// A fix.
#[derive(Default)]
pub struct Fix {
    /// Words before the program's command.
    pub before: Vec<String>,
    /// Policy for the loop's thread.
    pub policy: Option<Policy>,
    /// A setting to be written and put back.
    pub setting: Option<Step>,
}

impl Fix {
    /// Reads what was typed.
    ///
    /// # Errors
    /// If there is no such fix, or its value can't be right.
    pub fn read(text: &str) -> Result<Self, Failure> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let before = match (name, value) {
            ("policy", Some(value)) => {
                return Ok(Self {
                    policy: Some(option_value::policy(value)?),
                    ..Self::default()
                });
            }
            ("cpu", Some(value)) => {
                refuse_offline(&option_value::cpus(value)?)?;
                vec!["taskset".into(), "-c".into(), value.into()]
            }
            // `exec` sets the slack to 1 ns.
            ("slack", None) => under(&attributes::get(0)?.to_string()),
            ("malloc", None) => MALLOC.map(str::to_owned).into(),
            ("rtprio" | "memlock" | "rttime", Some(value)) => {
                vec!["prlimit".into(), format!("--{name}={value}")]
            }
            (path, Some(value)) if path.starts_with("/proc/") || path.starts_with("/sys/") => {
                return Ok(Self {
                    setting: Some(setting(path, value)?),
                    ..Self::default()
                });
            }
            _ => return Err(format!("{text}: no such fix; try can apply {KNOWN}").into()),
        };
        Ok(Self {
            before,
            ..Self::default()
        })
    }

    /// Applies the policy or the words before the command to a program that does nothing: a refusal
    /// here would happen in each turn.
    ///
    /// # Errors
    /// Names the fix, and repeats what was refused.
    pub fn works_here(&self, name: &str) -> Result<(), Failure> {
        let before = match self.policy {
            Some(policy) => under(&policy.to_string()),
            None => self.before.clone(),
        };
        let Some((word, more)) = before.split_first() else {
            return Ok(());
        };
        let mut command = match word.as_str() {
            "wakepath" => Command::new(own_executable()),
            other => Command::new(other),
        };
        let output = command.args(more).arg("true").output()?;
        if output.status.success() {
            Ok(())
        } else {
            let said = String::from_utf8_lossy(&output.stderr);
            let said = said.lines().next().unwrap_or("it ends with an error");
            let said = said.strip_prefix(&format!("{word}: ")).unwrap_or(said);
            Err(format!("{name} can't be tried here: {said}").into())
        }
    }

    /// What keeps it for this thread: the command line, with the program's, if one does.
    pub fn kept(&self, thread: &str, program: &str) -> String {
        if let Some(policy) = self.policy {
            return format!(
                "give {thread} {policy} in the program (pthread_setschedparam, sched_setattr), or from outside (chrt)"
            );
        }
        let setting = self.setting.iter().flat_map(|step| &step.actions);
        let mut lines: Vec<String> = setting.map(Action::command).collect();
        if !self.before.is_empty() {
            let quoted = |word: &String| {
                if word.contains(' ') {
                    format!("'{word}'")
                } else {
                    word.clone()
                }
            };
            let words: Vec<String> = self.before.iter().map(quoted).collect();
            lines.push(format!("{} {program}", words.join(" ")));
        }
        lines.join("; ")
    }
}

fn under(policy: &str) -> Vec<String> {
    let words = ["wakepath", "exec", "--quiet", "--policy", policy, "--"];
    words.map(str::to_owned).into()
}

fn setting(path: &str, value: &str) -> Result<Step, Failure> {
    let system = System::host();
    let before = system.read(&Action::write(path, value));
    let before = before.map_err(|why| format!("{path}: {why}"))?;
    // The kernel reads a quota back together with its period.
    let period = before.split_once(' ').map(|(_, period)| period);
    let is_quota = Path::new(path).ends_with("cpu.max") && !value.contains(' ');
    let value = match period.filter(|_| is_quota) {
        Some(period) => format!("{value} {period}"),
        None => value.to_owned(),
    };
    let compare = if path.ends_with("_list") {
        Compare::Cpus
    } else {
        Compare::Words
    };
    let action = Action::compared(path, value, compare);
    if compare.same(&before, &action.value()) {
        return Err(format!("{path} is {} already: nothing to try", before.trim()).into());
    }
    Ok(Step {
        id: "try".into(),
        checks: Vec::new(),
        reason: String::new(),
        effect: String::new(),
        cost: String::new(),
        undo: String::new(),
        actions: vec![action],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_is_kept_as_it_was_tried() {
        let kept = |text: &str| Fix::read(text).unwrap().kept("ctl", "./pilot --fast");
        assert!(kept("policy=FIFO 80").starts_with("give ctl FIFO 80 in the program"));
        assert_eq!(
            kept("malloc"),
            "env MALLOC_MMAP_MAX_=0 MALLOC_TRIM_THRESHOLD_=-1 ./pilot --fast"
        );
        assert_eq!(
            kept("rttime=unlimited"),
            "prlimit --rttime=unlimited ./pilot --fast"
        );
    }

    #[test]
    fn what_is_no_fix_is_refused_with_those_that_are() {
        for text in [
            "prio=80",
            "policy",
            "malloc=1",
            "/etc/passwd=x",
            "policy=FIFO 100",
        ] {
            assert!(Fix::read(text).is_err(), "{text}");
        }
        let error = Fix::read("mlockall").err().unwrap().to_string();
        assert!(error.contains("malloc, rtprio=99"), "{error}");
    }
}
