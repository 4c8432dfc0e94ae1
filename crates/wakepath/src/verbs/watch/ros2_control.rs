//! ros2_control: the parts of the manager's cycle, and each controller's update, as places to record. Its library and
//! the controllers' are as they were installed.

use super::ros2::{Known, found, marked};
use super::usdt::mapped;
use crate::command_line::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use wakepath_archive::watch::Threads;
use wakepath_probe::usdt::{Mark, Place, exported};
use wakepath_ros2::{
    Argument, CONTROLLER_LIBRARY, CONTROLLER_UPDATE, Function, MANAGER, MANAGER_LIBRARY, MANGLED,
    Method, NAMED, UPDATE,
};

/// Where ament lists packages with controllers.
const LISTED: &str = "share/ament_index/resource_index/controller_interface__pluginlib__plugin";

/// The manager's calls, and those of all controllers that it can load; none without ros2_control.
pub(super) fn marks(arguments: &Watch, threads: &Threads, already: usize) -> Vec<Mark> {
    let managers = found(arguments, threads, MANAGER_LIBRARY);
    if managers.is_empty() {
        return Vec::new();
    }
    let bases = found(arguments, threads, CONTROLLER_LIBRARY);
    let plug_ins = if arguments.command.is_empty() {
        mapped(threads).into_iter().collect()
    } else {
        listed()
    };
    let files: BTreeSet<&PathBuf> = managers.iter().chain(&bases).chain(&plug_ins).collect();
    let mut marks = Vec::new();
    for file in files {
        let places = exported(file, MANGLED).unwrap_or_default();
        let already = already + marks.len();
        marks.extend(marked(file, known(&places), false, already));
    }
    marks
}

fn known(places: &BTreeMap<String, Place>) -> Known {
    let mut known = Known::new();
    let mut offsets = BTreeSet::new();
    for (name, place) in places {
        let is_method = |of: &&Method| name.starts_with(of.begins) && name.ends_with(of.ends);
        if let Some(method) = MANAGER.iter().find(is_method) {
            known.extend(with_return(method.function, *place));
        } else if is_method(&&NAMED) {
            known.push((NAMED.function, *place));
        } else if name.contains(UPDATE.0)
            && name.ends_with(UPDATE.1)
            && offsets.insert(place.offset)
        {
            known.extend(with_return(CONTROLLER_UPDATE, *place));
        }
    }
    known
}

/// The function's beginning and its return.
fn with_return(function: Function, place: Place) -> [(Function, Place); 2] {
    let name = match function.name {
        "manager_read" => "manager_read_returns",
        "manager_update" => "manager_update_returns",
        "manager_write" => "manager_write_returns",
        _ => "controller_update_returns",
    };
    let returns = Function {
        name,
        arguments: &[Argument::Result],
    };
    [(function, place), (returns, place)]
}

/// The libraries of controllers that ament lists.
fn listed() -> BTreeSet<PathBuf> {
    let prefixes = std::env::var_os("AMENT_PREFIX_PATH").unwrap_or_default();
    let mut files = BTreeSet::new();
    for prefix in std::env::split_paths(&prefixes) {
        for package in std::fs::read_dir(prefix.join(LISTED))
            .into_iter()
            .flatten()
            .flatten()
        {
            let descriptions = std::fs::read_to_string(package.path()).unwrap_or_default();
            for description in descriptions.split([';', '\n']).filter(|of| !of.is_empty()) {
                let text = std::fs::read_to_string(prefix.join(description.trim()));
                files.extend(libraries(&prefix, &text.unwrap_or_default()));
            }
        }
    }
    files
}

/// Those that a description of plug-ins names: `<library path="arm_controllers">`.
fn libraries(prefix: &Path, description: &str) -> Vec<PathBuf> {
    let names = description.split("<library").skip(1).filter_map(|of| {
        let (tag, _) = of.split_once('>')?;
        let (_, value) = tag.split_once("path=")?;
        let mark = value.chars().next()?;
        value.strip_prefix(mark)?.split(mark).next()
    });
    let file = |name: &str| {
        let name = Path::new(name).file_name()?.to_str()?;
        let name = name.trim_end_matches(".so");
        let forms = [format!("lib{name}.so"), format!("{name}.so")];
        let files = forms.into_iter().map(|form| prefix.join("lib").join(form));
        files.into_iter().find(|file| file.is_file())
    };
    names.filter_map(file).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_updates_of_controllers_and_the_parts_of_the_manager_are_found_by_their_mangled_names() {
        let place = |offset: u64| Place {
            offset,
            semaphore: None,
        };
        let names = [
            "18controller_manager17ControllerManager4readERKN6rclcpp4TimeERKNS1_8DurationE",
            "18controller_manager17ControllerManager6updateERKN6rclcpp4TimeERKNS1_8DurationE",
            "3arm3PidI1xE6updateERKN6rclcpp4TimeERKNS2_8DurationE",
            "3arm3Pid6updateEi",
            "20controller_interface23ControllerInterfaceBase4initERKNSt7__cxx1112basic_stringE",
        ];
        let places = names
            .iter()
            .zip(1..)
            .map(|(name, at)| ((*name).to_owned(), place(at)));
        let found = known(&places.collect());
        let found: Vec<(&str, u64)> = found.iter().map(|(of, at)| (of.name, at.offset)).collect();
        assert_eq!(
            found,
            [
                ("manager_read", 1),
                ("manager_read_returns", 1),
                ("manager_update", 2),
                ("manager_update_returns", 2),
                ("controller_init", 5),
                ("controller_update", 3),
                ("controller_update_returns", 3),
            ]
        );
    }

    #[test]
    fn a_description_of_plug_ins_names_libraries_that_are_there() {
        let prefix = tempfile::tempdir().unwrap();
        std::fs::create_dir(prefix.path().join("lib")).unwrap();
        for file in ["liba.so", "libb.so"] {
            std::fs::write(prefix.path().join("lib").join(file), "").unwrap();
        }
        let text = "<class_libraries><library path=\"a\"><class/></library>\n<library path='lib/libb.so'>\
                    <library path=\"nowhere\"></class_libraries><library path=";
        let found = libraries(prefix.path(), text);
        let expected = ["liba.so", "libb.so"].map(|file| prefix.path().join("lib").join(file));
        assert_eq!(found, expected);
    }
}
