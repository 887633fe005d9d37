//! Rules of the house that the compiler cannot check.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &str) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                // The comparison in `benches/peers` is a package of its own, with its own build folder.
                if path.file_name().is_none_or(|name| name != "target") {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let text = fs::read_to_string(&path).expect("readable source");
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

fn imports<'a>(text: &'a str, name: &'a str) -> impl Iterator<Item = &'a str> {
    text.lines().filter(move |line| {
        let line = line.trim_start();
        !line.starts_with("//")
            && (line.contains(&format!("use {name}")) || line.contains(&format!("{name}::")))
    })
}

#[test]
fn kernels_know_nothing_of_the_rest() {
    for (path, text) in sources("src/kernel") {
        for forbidden in [
            "bevy",
            "bevy_rapier3d",
            "faer",
            "crate::body",
            "crate::step",
            "crate::mesh",
            "crate::Real",
        ] {
            let found: Vec<_> = imports(&text, forbidden).collect();
            assert!(
                found.is_empty(),
                "{} uses {forbidden}: {found:?}",
                path.display()
            );
        }
    }
}

#[test]
fn bodies_and_meshes_know_nothing_of_the_tick() {
    for folder in ["src/body", "src/mesh", "src/io"] {
        for (path, text) in sources(folder) {
            let found: Vec<_> = imports(&text, "crate::step").collect();
            assert!(
                found.is_empty(),
                "{} uses the tick: {found:?}",
                path.display()
            );
        }
    }
}

#[test]
fn only_the_rapier_bridge_knows_rapier() {
    for (path, text) in sources("src") {
        let bridge = path.components().any(|part| {
            Path::new(&part)
                .file_stem()
                .is_some_and(|stem| stem == "rapier")
        });
        let found: Vec<_> = imports(&text, "bevy_rapier3d").collect();
        assert!(
            bridge || found.is_empty(),
            "{} uses Rapier: {found:?}",
            path.display()
        );
    }
}

#[test]
fn the_library_prints_nothing() {
    for (path, text) in sources("src") {
        let library = text.split("#[cfg(test)]").next().unwrap_or_default();
        // Files of tests alone hang on a `#[cfg(test)] mod` elsewhere.
        let tests = text.contains("#[test]") && !text.contains("#[cfg(test)]");
        let prints = library.contains("println!(") || library.contains("dbg!(");
        assert!(
            tests || !prints,
            "{} prints: use Bevy's log",
            path.display()
        );
    }
}

#[test]
fn no_file_is_long() {
    let mut lengths = Vec::new();
    for folder in ["src", "examples", "tests", "benches"] {
        for (path, text) in sources(folder) {
            let length = text.lines().count();
            assert!(
                length <= 500,
                "{} has {length} lines: split it by concept",
                path.display()
            );
            lengths.push(length);
        }
    }
    lengths.sort_unstable();
    let median = lengths[lengths.len() / 2];
    assert!(median <= 200, "the median file has {median} lines");
}

/// A stranger finds the equation of every kernel: each public function cites its source.
#[test]
fn every_kernel_cites_its_equation() {
    let mut missing = Vec::new();
    for (path, text) in sources("src/kernel") {
        let text = text
            .split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap_or_default();
        let mut doc = String::new();
        for line in text.lines().map(str::trim) {
            if let Some(comment) = line.strip_prefix("///") {
                doc.push_str(comment);
            } else if line.starts_with("pub fn") {
                if !doc.contains("Eq:") {
                    missing.push(format!("{}: {line}", path.display()));
                }
                doc.clear();
            } else if !line.starts_with("#[") {
                doc.clear();
            }
        }
    }
    assert!(
        missing.is_empty(),
        "functions without an `Eq:` line:\n{}",
        missing.join("\n")
    );
}

/// Every key that a source cites stands in the list of references, and no paper is listed for nothing.
#[test]
fn every_citation_has_its_reference() {
    let list = include_str!("../../src/references.md");
    let listed: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("- **\\["))
        .filter_map(|line| line.split("\\]**").next())
        .collect();
    let texts: Vec<(PathBuf, String)> = sources("src");
    for (path, text) in &texts {
        for citation in text
            .split("Eq: ")
            .skip(1)
            .filter_map(|rest| rest.lines().next())
        {
            for key in citation
                .split('[')
                .skip(1)
                .filter_map(|rest| rest.split(']').next())
            {
                let known = listed.iter().any(|listed| key.starts_with(listed));
                assert!(
                    known,
                    "{} cites [{key}], which is not in references.md",
                    path.display()
                );
            }
        }
    }
    for key in listed.iter().filter(|key| **key != "003") {
        let used = texts
            .iter()
            .any(|(_, text)| text.contains(&format!("[{key}")));
        assert!(used, "references.md lists [{key}], which nothing cites");
    }
}
