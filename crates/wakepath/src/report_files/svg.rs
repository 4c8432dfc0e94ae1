//! Figures as files, each complete with its subject and source.

use super::{Drawn, Failure, put};
use std::path::Path;
use wakepath_directory::{Directory, Trust};
use wakepath_report::{Figure, Origin};

/// One file for each figure; those of several runs have a number in front.
pub fn write_all_figures(directory: &Path, drawn: &[Drawn]) -> Result<usize, Failure> {
    let mut count = 0;
    for (number, run) in drawn.iter().enumerate() {
        let prefix = match drawn.len() {
            1 => String::new(),
            _ => format!("{}-", number + 1),
        };
        count += write_figures(
            directory,
            &prefix,
            run.figures.all(),
            &Origin::of_run(&run.assessment),
        )?;
    }
    Ok(count)
}

/// One file for each figure, with `prefix` before its name, and its source in the file.
pub fn write_figures<'a>(
    directory: &Path,
    prefix: &str,
    figures: impl Iterator<Item = &'a Figure>,
    origin: &Origin,
) -> Result<usize, Failure> {
    let directory = Directory::make_for_files(directory, Trust::Any)?;
    let mut names: Vec<String> = Vec::new();
    for figure in figures {
        // Two phases may differ only in what a file's name can't hold.
        let alike = names.iter().filter(|name| **name == figure.name).count();
        let more = if alike == 0 {
            String::new()
        } else {
            format!("-{}", alike + 1)
        };
        names.push(figure.name.clone());
        let name = format!("{prefix}{}{more}.svg", figure.name);
        put(&directory, &name, &figure.to_svg(origin))?;
    }
    Ok(names.len())
}
