//! CPUs, which must exist.

use super::{Form, Whole, whole};
use crate::KnownCpus;
use crate::document::Node;
use crate::error::Finding;
use crate::keys::Shape;
use crate::units::parse_cpus;
use toml::Value;
use wakepath_timeline::{CpuSet, MOST_CPUS, quoted};

/// CPUs as text, or one by its number; all must exist.
pub(crate) struct Cpus<'a> {
    pub(crate) known: Option<&'a KnownCpus>,
    pub(crate) is_one: bool,
}

const ONE: Whole<u16> = whole(0, MOST_CPUS as i64 - 1);

impl Form for Cpus<'_> {
    type Value = CpuSet;
    fn shape(&self) -> Shape {
        if self.is_one {
            ONE.shape()
        } else {
            Shape::CpuSet
        }
    }
    fn remedy(&self) -> String {
        "give CPUs as text, such as \"1\", \"2-3\" or \"0,2-3\"".into()
    }
    fn read(&self, node: &Node<'_>) -> Result<CpuSet, Finding> {
        let cpus = if self.is_one {
            CpuSet::from_iter([ONE.read(node)?])
        } else {
            node.quantity(&self.remedy(), parse_cpus)?
        };
        present(node, cpus, self.known)
    }
    fn write(&self, cpus: &CpuSet) -> Value {
        cpus.to_string().into()
    }
}

/// Refuses a set that holds a CPU that is not there.
fn present(node: &Node<'_>, cpus: CpuSet, known: Option<&KnownCpus>) -> Result<CpuSet, Finding> {
    let Some((known, absent)) = known.and_then(|known| Some((known, known.first_absent(&cpus)?)))
    else {
        return Ok(cpus);
    };
    let problem = if node.is_integer() {
        "is not there".to_owned()
    } else {
        format!("names CPU {absent}, which is not there")
    };
    let all = known.cpus().to_string();
    let there = match all.len() {
        0..=200 => all,
        // A machine whose usable CPUs are scattered; the whole list would fill the screen.
        _ => format!("{} CPUs, {}", known.cpus().len(), quoted(&all)),
    };
    Err(node.refuse(problem, format!("there are {there}")))
}
