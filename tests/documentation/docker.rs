//! The image of `deploy/Dockerfile`, which no test builds.

use std::fs;
use std::path::{Component, Path, PathBuf};

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The Rust files below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let below = entries.map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    below.flatten().filter(|path| path.extension().is_some_and(|extension| extension == "rs")).collect()
}

/// The first part of a file's path in the repository, such as `country`.
fn top(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.strip_prefix(ROOT).unwrap().components() {
        match part {
            Component::ParentDir => drop(parts.pop().unwrap()),
            part => parts.push(part.as_os_str().to_str().unwrap().to_owned()),
        }
    }
    parts.swap_remove(0)
}

#[test]
fn the_context_of_the_image_has_all_files_that_the_program_includes() {
    let list = fs::read_to_string(Path::new(ROOT).join("deploy/Dockerfile.dockerignore")).unwrap();
    let mut count = 0;
    for file in ["src", "crates"].iter().flat_map(|folder| sources(&Path::new(ROOT).join(folder))) {
        let text = fs::read_to_string(&file).unwrap();
        let included =
            ["include_str!(\"", "include_bytes!(\""].iter().flat_map(|call| text.split(call).skip(1));
        for path in included.map(|rest| rest.split('"').next().unwrap()) {
            let folder = top(&file.parent().unwrap().join(path));
            assert!(list.lines().any(|line| line == format!("!{folder}")), "{folder}: {}", file.display());
            count += 1;
        }
    }
    assert!(count > 30, "{count}");
}
