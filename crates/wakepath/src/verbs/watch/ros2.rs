//! `--ros2`: the library whose functions mark what ROS 2 does, found where the watched program has it or will have it,
//! and those functions as places to record.

use crate::command_line::Watch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use wakepath_archive::watch::Threads;
use wakepath_probe::usdt::{Argument, Function, Mark, NoProbes, Place, exported};
use wakepath_ros2::{FUNCTIONS, LATER, PREFIX, RCL_FUNCTIONS, RCL_LIBRARY, RCL_PREFIX, RETURNS};

/// The library's file, in every version so far.
const LIBRARY: &str = "libtracetools.so";
/// Without these no callback is known.
const NEEDED: [&str; 2] = ["callback_start", "callback_end"];
/// Above the numbers of marks of cycles and sections.
const FIRST_NUMBER: u16 = 1024;

/// Why callbacks can't be recorded.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error(
        "{0}: no {LIBRARY} in LD_LIBRARY_PATH or AMENT_PREFIX_PATH: source the setup script of ROS 2 first, or name the library as --ros2=LIBRARY"
    )]
    NotInstalled(&'static str),
    #[error(
        "{0}: no watched process has {LIBRARY} in memory: it is not a program of ROS 2, or one that was built without tracing"
    )]
    NotMapped(&'static str),
    #[error("--ros2: {}: {why}", file.display())]
    Unreadable { file: PathBuf, why: NoProbes },
    #[error(
        "--ros2: {} has no function {PREFIX}{name}: it is another library, or one that was built without tracing",
        file.display()
    )]
    Another { file: PathBuf, name: &'static str },
    #[error(
        "--ros2: {}: {PREFIX}{one} and {PREFIX}{other} are one piece of code, so that their calls can't be distinguished: link it without folding of identical code (--icf=none)",
        file.display()
    )]
    Folded {
        file: PathBuf,
        one: &'static str,
        other: &'static str,
    },
}

/// Whether callbacks of ROS 2 were requested, instead of recorded only if present.
pub(super) fn is_asked(arguments: &Watch) -> bool {
    arguments.ros2.is_some() || !arguments.chain.is_empty()
}

/// The option that asks for them.
fn asked_by(arguments: &Watch) -> &'static str {
    match arguments.ros2 {
        Some(_) => "--ros2",
        None => "--chain, of topics of ROS 2 (threads that wake one another are found without it)",
    }
}

/// The functions to record; none without ROS 2, unless requested.
pub(super) fn marks(arguments: &Watch, threads: &Threads) -> Result<Vec<Mark>, Refused> {
    let is_asked = is_asked(arguments);
    let files = match &arguments.ros2 {
        Some(Some(file)) => BTreeSet::from([file.clone()]),
        _ => found(arguments, threads, LIBRARY),
    };
    if files.is_empty() && is_asked {
        return Err(if arguments.command.is_empty() {
            Refused::NotMapped(asked_by(arguments))
        } else {
            Refused::NotInstalled(asked_by(arguments))
        });
    }
    let mut marks = Vec::new();
    for file in &files {
        match of_file(file, is_asked, arguments.command.is_empty(), marks.len()) {
            Ok(own) => marks.extend(own),
            Err(why) if is_asked => return Err(why),
            // What nobody asked for is not missed.
            Err(_) => {}
        }
    }
    if !marks.is_empty() {
        let beside = files.iter().filter_map(|file| file.parent());
        let beside = beside.map(|place| place.join(RCL_LIBRARY));
        let own = beside.filter(|file| file.is_file());
        let files: BTreeSet<PathBuf> = match own.collect::<BTreeSet<_>>() {
            none if none.is_empty() => found(arguments, threads, RCL_LIBRARY),
            own => own,
        };
        for file in files {
            marks.extend(of_rcl(&file, marks.len()));
        }
        marks.extend(super::ros2_control::marks(arguments, threads, marks.len()));
    }
    Ok(marks)
}

fn of_file(
    file: &Path,
    is_needed: bool,
    is_later: bool,
    already: usize,
) -> Result<Vec<Mark>, Refused> {
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let places = exported(&file, PREFIX);
    let mut places = places.map_err(|why| Refused::Unreadable {
        file: file.clone(),
        why,
    })?;
    if let Some(name) = NEEDED.iter().find(|name| !places.contains_key(**name)) {
        return Err(Refused::Another { file, name });
    }
    let known = FUNCTIONS.iter().filter_map(|function| {
        let place = places.remove(function.name)?;
        let later = LATER.iter().filter(|_| is_later);
        let mut later = later.filter(|of| of.name == function.name);
        Some((*later.next().unwrap_or(function), place))
    });
    let known: Known = known.collect();
    let mut by_offset = BTreeMap::new();
    for (function, place) in &known {
        if let Some(one) = by_offset.insert(place.offset, function.name) {
            let other = function.name;
            return Err(Refused::Folded { file, one, other });
        }
    }
    Ok(marked(&file, known, is_needed, already))
}

/// Functions and their places.
pub(super) type Known = Vec<(wakepath_ros2::Function, Place)>;

/// What answers and requests to actions are taken with; nothing where the library doesn't show it.
fn of_rcl(file: &Path, already: usize) -> Vec<Mark> {
    let file = std::fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let places = exported(&file, RCL_PREFIX).unwrap_or_default();
    let known = RCL_FUNCTIONS.iter().filter_map(|function| {
        let name = function.name.trim_end_matches(RETURNS);
        Some((*function, *places.get(name)?))
    });
    marked(&file, known.collect(), false, already)
}

pub(super) fn marked(file: &Path, known: Known, is_needed: bool, already: usize) -> Vec<Mark> {
    let first = usize::from(FIRST_NUMBER) + already;
    let numbered = (first..).zip(known);
    let marks = numbered.map(|(number, (function, place))| Mark {
        number: u16::try_from(number).unwrap_or(u16::MAX),
        file: file.to_owned(),
        places: vec![place],
        is_needed,
        function: Some(Function {
            name: function.name.into(),
            arguments: function.arguments.iter().map(argument).collect(),
        }),
    });
    marks.collect()
}

fn argument(of: &wakepath_ros2::Argument) -> Argument {
    match *of {
        wakepath_ros2::Argument::Number(at, _) => Argument::Number(at),
        wakepath_ros2::Argument::Flag(at, _) => Argument::Byte(at),
        wakepath_ros2::Argument::Text(at, _) => Argument::Text(at),
        wakepath_ros2::Argument::StdText(at) => Argument::StdText(at),
        wakepath_ros2::Argument::Result => Argument::Result,
        wakepath_ros2::Argument::Caller => Argument::Caller,
        wakepath_ros2::Argument::Word(at, offset) => Argument::Word(at, offset),
        wakepath_ros2::Argument::Pointed(at) => Argument::Pointed(at),
        wakepath_ros2::Argument::TextAt(at, offset) => Argument::TextAt(at, offset),
    }
}

/// The copies of a library in the watched processes, or the one that a program to be started will find.
pub(super) fn found(arguments: &Watch, threads: &Threads, library: &str) -> BTreeSet<PathBuf> {
    if arguments.command.is_empty() {
        let files = super::usdt::mapped(threads).into_iter();
        return files.filter(|file| is_copy(file, library)).collect();
    }
    let variable = |name: &str| std::env::var_os(name).unwrap_or_default();
    let (libraries, prefixes) = (variable("LD_LIBRARY_PATH"), variable("AMENT_PREFIX_PATH"));
    let prefixes = std::env::split_paths(&prefixes).map(|prefix| prefix.join("lib"));
    let mut places = std::env::split_paths(&libraries).chain(prefixes);
    let file = places.find_map(|place| {
        let file = place.join(library);
        (place.is_absolute() && file.is_file()).then_some(file)
    });
    file.into_iter().collect()
}

fn is_copy(file: &Path, library: &str) -> bool {
    let name = file.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with(library))
}
