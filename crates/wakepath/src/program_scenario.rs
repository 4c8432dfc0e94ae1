//! A scenario whose loops are those of a program of the user's own.

use std::ffi::OsString;
use std::path::Path;
use wakepath_measure::AnnouncedLoop;
use wakepath_timeline::{CpuSet, Overrun, Policy};

type Failure = Box<dyn std::error::Error>;

/// The command line as a run has it.
pub fn command_of(file: &Path, rest: &[OsString]) -> Result<Vec<String>, Failure> {
    let words = std::iter::once(file.as_os_str()).chain(rest.iter().map(AsRef::as_ref));
    let words: Option<_> = words.map(|word| word.to_str().map(str::to_owned)).collect();
    words.ok_or_else(|| {
        "the program's name or arguments are not UTF-8, and a run could not record them".into()
    })
}

/// Replacement of a scenario's own loop.
pub struct ProgramLoops<'a> {
    pub name: String,
    pub command: Vec<String>,
    pub loops: Vec<AnnouncedLoop>,
    pub criterion: Option<toml::Table>,
    pub policies: &'a [String],
    pub cpu: Option<u16>,
    pub idle: bool,
}

impl ProgramLoops<'_> {
    /// The scenario's text with it: the phases stay, and how often they are gone through.
    pub fn put_into(&self, text: &str) -> Result<String, Failure> {
        let mut table: toml::Table = text.parse()?;
        for key in [
            "description",
            "rate",
            "period",
            "cpu",
            "cpus",
            "threads",
            "period-step",
            "work",
            "policies",
            "criterion",
            "flight",
        ] {
            table.remove(key);
        }
        table.insert("name".into(), self.name.as_str().into());
        if self.idle {
            table.remove("phases");
        }
        let policies = self.compared();
        let tasks = self
            .loops
            .iter()
            .map(|one| self.task(one, policies.is_empty()));
        table.insert("tasks".into(), tasks.collect::<Vec<_>>().into());
        if !policies.is_empty() {
            table.insert("policies".into(), policies.into());
        }
        if let Some(criterion) = &self.criterion {
            table.insert("criterion".into(), criterion.clone().into());
        }
        Ok(toml::to_string(&table)?)
    }

    /// The policies that are compared; none where each loop has its own.
    fn compared(&self) -> Vec<String> {
        if !self.policies.is_empty() {
            return self.policies.to_vec();
        }
        let own: Vec<Policy> = self.loops.iter().map(|one| one.policy).collect();
        match own.split_first() {
            Some((first, rest)) if rest.iter().all(|other| other == first) => {
                vec![written(*first)]
            }
            _ => Vec::new(),
        }
    }

    fn task(&self, one: &AnnouncedLoop, has_its_own_policy: bool) -> toml::Value {
        let mut task = toml::Table::new();
        task.insert("name".into(), one.name.as_str().into());
        task.insert("period".into(), format!("{} ns", one.period_ns).into());
        let cpus = match self.cpu {
            Some(cpu) => cpu.to_string(),
            None => CpuSet::from(&one.cpus[..]).to_string(),
        };
        task.insert("cpus".into(), cpus.into());
        if has_its_own_policy {
            task.insert("policy".into(), written(one.policy).into());
        }
        if one.overrun != Overrun::Skip {
            task.insert("overrun".into(), one.overrun.to_string().into());
        }
        let mut work = toml::Table::new();
        work.insert("kind".into(), "program".into());
        work.insert("command".into(), self.command.clone().into());
        task.insert("work".into(), work.into());
        task.into()
    }
}

/// A policy as a scenario has it.
fn written(policy: Policy) -> String {
    policy.to_string()
}

/// The program's file name, as a scenario may be called.
pub fn scenario_name(file: &Path) -> String {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '-' })
        .collect();
    match name.trim_matches('-') {
        "" => "program".into(),
        name => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attitude() -> AnnouncedLoop {
        AnnouncedLoop {
            name: "attitude".into(),
            period_ns: 4_000_000,
            overrun: Overrun::Skip,
            policy: Policy::Fifo { priority: 80 },
            cpus: vec![1],
        }
    }

    fn loops(loops: Vec<AnnouncedLoop>, policies: &[String]) -> toml::Table {
        let program_loops = ProgramLoops {
            name: "my-loop".into(),
            command: vec!["./my-loop".into()],
            loops,
            criterion: Some(
                crate::criterion_options::parse("latency 200us, miss 0.1 %, consecutive-misses 1")
                    .unwrap(),
            ),
            policies,
            cpu: None,
            idle: false,
        };
        let check = wakepath_scenario::builtin::named("check").unwrap().text;
        program_loops.put_into(check).unwrap().parse().unwrap()
    }

    #[test]
    fn a_program_s_loop_takes_the_place_of_the_scenario_s() {
        let table = loops(vec![attitude()], &[]);
        assert_eq!(table["policies"][0].as_str(), Some("FIFO 80"));
        assert_eq!(table["tasks"][0]["cpus"].as_str(), Some("1"));
        assert_eq!(table["tasks"][0]["work"]["kind"].as_str(), Some("program"));
        assert!(table["tasks"][0].get("policy").is_none());
        assert!(table["tasks"][0].get("overrun").is_none());
        assert_eq!(table["phases"].as_array().unwrap().len(), 2);
        let criterion = &table["criterion"];
        assert_eq!(criterion["latency"].as_str(), Some("200us"));
        assert_eq!(criterion["miss-fraction"].as_str(), Some("0.1 %"));
        assert_eq!(criterion["consecutive-misses"].as_integer(), Some(1));
    }

    #[test]
    fn loops_under_policies_of_their_own_are_a_task_set_unless_policies_are_named() {
        let slow = AnnouncedLoop {
            name: "position".into(),
            policy: Policy::Other { nice: 0 },
            ..attitude()
        };
        let table = loops(vec![attitude(), slow.clone()], &[]);
        assert!(!table.contains_key("policies"));
        assert_eq!(table["tasks"][1]["policy"].as_str(), Some("OTHER nice 0"));
        let table = loops(vec![attitude(), slow], &["RR 50".to_owned()]);
        assert_eq!(table["policies"][0].as_str(), Some("RR 50"));
    }

    #[test]
    fn a_loop_s_overrun_is_in_its_task() {
        let stops = AnnouncedLoop {
            overrun: Overrun::Stop,
            ..attitude()
        };
        let table = loops(vec![stops], &[]);
        assert_eq!(table["tasks"][0]["overrun"].as_str(), Some("stop"));
    }

    #[test]
    fn a_program_s_name_becomes_a_scenario_s() {
        assert_eq!(scenario_name(Path::new("/opt/my_loop.py")), "my-loop-py");
        assert_eq!(scenario_name(Path::new("/opt/__")), "program");
    }
}
