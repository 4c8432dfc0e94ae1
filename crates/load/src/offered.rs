//! Lists the loads, what each disturbs, and whether it could run here and now.
//!
//! It starts none of them; for `ethercat` it creates the link and removes it again.

use crate::launch::THIS_PROGRAM;
use crate::resolve::{Room, resolve};
use crate::{Cache, Caches, Disturbance, LoadError, StartOptions, cpus, memory_budget};
use serde::Serialize;
use std::path::Path;
use wakepath_ethercat::{Ring, RingOptions};
use wakepath_scenario::{LoadKind, LoadSpec};

/// One load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Offered {
    /// As scenario files call it.
    pub name: &'static str,
    /// Description, one sentence.
    pub about: &'static str,
    /// Disturbed parts of the machine; empty if they depend on the load's arguments.
    pub disturbs: Vec<Disturbance>,
    /// Whether it is built in; otherwise it is a program's.
    pub is_built_in: bool,
    /// Reason why it can't run here; `None` if no reason is known.
    pub lacks: Option<String>,
}

/// All loads. `directory` is where their files would be.
///
/// # Errors
/// If the CPUs and the available memory and disk space are unknown.
pub fn offered(directory: &Path) -> Result<Vec<Offered>, LoadError> {
    // Sizes of caches determine a load's size, not its existence.
    let cache = Some(Cache {
        bytes: 1 << 20,
        shared_by_cpus: 1,
    });
    let options = StartOptions {
        caches: Caches {
            l1d: cache,
            l2: cache,
            l3: cache,
        },
        ..StartOptions::new(THIS_PROGRAM, directory)
    };
    let room = Room {
        usable_cpus: cpus::usable()?,
        memory_bytes: memory_budget::memory()?,
        disk_bytes: memory_budget::disk(directory)?,
    };
    let all = LoadKind::offered().map(|load| {
        let Some(kind) = load.kind else {
            // Any command: there is nothing to look for.
            return Offered {
                name: load.name,
                about: load.about,
                disturbs: Vec::new(),
                is_built_in: false,
                lacks: None,
            };
        };
        let is_ethercat = matches!(kind, LoadKind::Ethercat { .. });
        let spec = LoadSpec {
            kind,
            workers: 0,
            cpus: None,
        };
        let planned = resolve(&[spec], &options, &room, directory);
        let known = disturbs_of(load.name);
        let (disturbs, lacks) = match planned {
            Ok((plan, _)) => {
                let disturbs = plan.loads.into_iter().next();
                let disturbs = disturbs.map_or_else(Vec::new, |load| load.disturbs);
                (disturbs, is_ethercat.then(no_ring).flatten())
            }
            Err(error) => (
                known.unwrap_or_default().to_vec(),
                Some(why(&error, load.name)),
            ),
        };
        Offered {
            name: load.name,
            about: load.about,
            disturbs: match disturbs[..] {
                [Disturbance::Unknown] => Vec::new(),
                _ => disturbs,
            },
            is_built_in: known.is_none() && !matches!(load.name, "stress-ng"),
            lacks,
        }
    });
    Ok(all.collect())
}

/// For a program that might be missing. `None` if it is built in, or its arguments decide.
fn disturbs_of(name: &str) -> Option<&'static [Disturbance]> {
    use crate::disturbance::{bonnie, ethercat, fio, glmark2, gpu, hackbench, iperf3, wget};
    Some(match name {
        "ethercat" => ethercat::DISTURBS,
        "fio" => fio::DISTURBS,
        "hackbench" => hackbench::DISTURBS,
        "bonnie" => bonnie::DISTURBS,
        "iperf3" => iperf3::DISTURBS,
        "wget" => wget::DISTURBS,
        "gpu" => gpu::DISTURBS,
        "glmark2" => glmark2::DISTURBS,
        _ => return None,
    })
}

/// The table already names the load.
fn why(error: &LoadError, name: &str) -> String {
    let said = error.to_string();
    let own = format!("load {name}: ");
    said.strip_prefix(&own).unwrap_or(&said).to_owned()
}

fn no_ring() -> Option<String> {
    Ring::start(Path::new(THIS_PROGRAM), &RingOptions::default())
        .err()
        .map(|error| error.to_string())
}
