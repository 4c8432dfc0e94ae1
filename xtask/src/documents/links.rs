//! Links between pages: each leads to a file of the repository, and to a heading if it names one.

use crate::place;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// Pages below these, and those of the root.
const FOLDERS: [&str; 3] = ["docs", "examples", "crates"];

/// Every link that leads nowhere, with its page.
pub fn broken() -> Result<Vec<String>, String> {
    let root = place::root();
    let mut pages = Vec::new();
    list(&root, &mut pages, false)?;
    for folder in FOLDERS {
        list(&root.join(folder), &mut pages, true)?;
    }
    let mut texts = BTreeMap::new();
    for page in pages {
        let text =
            fs::read_to_string(&page).map_err(|error| format!("{}: {error}", page.display()))?;
        texts.insert(page, text);
    }
    let mut found = Vec::new();
    for (page, text) in &texts {
        let wrong = links(text)
            .into_iter()
            .filter(|link| !leads_somewhere(page, link, &texts));
        let page = page
            .strip_prefix(&root)
            .unwrap_or(page)
            .display()
            .to_string();
        found.extend(wrong.map(|link| format!("{page}: the link {link} leads nowhere")));
    }
    Ok(found)
}

fn list(folder: &Path, pages: &mut Vec<PathBuf>, is_deep: bool) -> Result<(), String> {
    let said = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(said)? {
        let path = entry.map_err(said)?.path();
        if path.is_dir() && !path.is_symlink() {
            if is_deep && !path.ends_with("target") {
                list(&path, pages, true)?;
            }
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
    Ok(())
}

/// Targets within the repository.
fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for line in outside_of_blocks(text) {
        for (number, piece) in line.split('`').enumerate() {
            // Between backquotes is code.
            if number % 2 == 1 {
                continue;
            }
            let targets = piece.split("](").skip(1);
            let targets = targets.filter_map(|rest| Some(rest.split_once(')')?.0));
            found.extend(targets.filter(|target| !target.contains(':')));
        }
    }
    found
}

fn leads_somewhere(page: &Path, link: &str, texts: &BTreeMap<PathBuf, String>) -> bool {
    let (path, heading) = link.split_once('#').unwrap_or((link, ""));
    let target = match path {
        "" => page.to_owned(),
        path => normal(&page.parent().unwrap_or(page).join(path)),
    };
    match texts.get(&target) {
        Some(text) => heading.is_empty() || headings(text).contains(heading),
        None => target.exists(),
    }
}

/// Without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    whole
}

/// Headings as a link names them.
fn headings(text: &str) -> BTreeSet<String> {
    let lines = outside_of_blocks(text).filter(|line| line.starts_with('#'));
    let name = |line: &str| {
        let kept = line.trim_start_matches('#').trim().to_lowercase();
        let kept = kept
            .chars()
            .filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        kept.collect::<String>().replace(' ', "-")
    };
    lines.map(name).collect()
}

fn outside_of_blocks(text: &str) -> impl Iterator<Item = &str> {
    let mut is_inside = false;
    text.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_inside ^= is_fence;
        !is_inside && !is_fence
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_pages_leads_somewhere() {
        assert_eq!(broken().unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_link_leads_to_a_file_and_to_its_heading() {
        let page = "# One\n\nA [file](b.md), [heading](b.md#how-it-s-done), [own](#one), [web](https://x.y), `[no](code)`.\n\
                    ```\n[no](block)\n# no heading\n```\n";
        assert_eq!(links(page), ["b.md", "b.md#how-it-s-done", "#one"]);
        let other = "## How `it` is done: by hand\n";
        let texts = [("/r/docs/a.md", page), ("/r/docs/b.md", other)];
        let texts = texts
            .map(|(path, text)| (PathBuf::from(path), text.to_owned()))
            .into();
        let at = Path::new("/r/docs/a.md");
        assert!(leads_somewhere(at, "#one", &texts));
        assert!(leads_somewhere(
            at,
            "../docs/b.md#how-it-is-done-by-hand",
            &texts
        ));
        assert!(!leads_somewhere(at, "b.md#how-it-s-done", &texts));
        assert!(!leads_somewhere(at, "#no-heading", &texts));
        assert!(!leads_somewhere(at, "nowhere.md", &texts));
    }
}
