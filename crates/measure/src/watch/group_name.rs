//! A control group as a user names it: by its path, or as the unit or the container that it is of.

/// Digits by which Docker and others show a container.
const LEAST_DIGITS: usize = 12;
/// Ends of the names of units that have a group.
const UNITS: [&str; 3] = [".service", ".scope", ".slice"];

/// The name of a control group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupName(String);

impl GroupName {
    /// A path from the root of the hierarchy, a unit with or without the end of its name, or a container's number, whole
    /// or its first twelve digits.
    pub fn new(name: &str) -> Self {
        if name.starts_with('/') {
            Self(name.trim_end_matches('/').into())
        } else {
            Self(name.into())
        }
    }

    /// Whether a process with this `/proc/PID/cgroup` is in the group, or in one below it, in any hierarchy.
    pub(super) fn holds(&self, groups: &str) -> bool {
        let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
        paths.into_iter().any(|path| self.is_in(path))
    }

    fn is_in(&self, path: &str) -> bool {
        if self.0.is_empty() || self.0.starts_with('/') {
            let below = path.strip_prefix(&self.0);
            return below.is_some_and(|below| below.is_empty() || below.starts_with('/'));
        }
        path.split('/').any(|part| self.names(part))
    }

    fn names(&self, part: &str) -> bool {
        let is_unit = |end| part.strip_suffix(end) == Some(&self.0);
        // docker-ID.scope, cri-containerd-ID.scope, libpod-ID.scope, ID.
        let is_number =
            self.0.len() >= LEAST_DIGITS && self.0.chars().all(|of| of.is_ascii_hexdigit());
        let number = part.strip_suffix(".scope").unwrap_or(part);
        let number = number.rsplit('-').next().unwrap_or(number);
        part == self.0
            || UNITS.into_iter().any(is_unit)
            || (is_number && number.starts_with(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_units_and_containers_hold_their_processes_and_no_others() {
        let unit = "12:cpu,cpuacct:/\n0::/system.slice/robot.service/worker\n";
        let id = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
        let docker = format!("0::/system.slice/docker-{id}.scope\n");
        let plain = format!("4:cpu:/docker/{id}\n0::/\n");
        for (name, groups, holds) in [
            ("/system.slice/robot.service", unit, true),
            ("/system.slice/robot.service/", unit, true),
            ("/system.slice/robot", unit, false),
            ("/", unit, true),
            ("robot", unit, true),
            ("robot.service", unit, true),
            ("worker", unit, true),
            ("rob", unit, false),
            (&id[..12], &docker, true),
            (id, &docker, true),
            (id, &plain, true),
            (&id[..11], &docker, false),
            (&id[1..13], &docker, false),
            ("docker", &docker, false),
        ] {
            assert_eq!(
                GroupName::new(name).holds(groups),
                holds,
                "{name} of {groups}"
            );
        }
    }
}
