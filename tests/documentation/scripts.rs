//! What pages have for Node, browsers and Python.

use std::fs;
use std::path::Path;

use crate::blocks::{Block, blocks};
use crate::demo::Demo;
use crate::tools::{node, printed, python};

/// A browser without a window: it loads a page as it is printed and says how many shapes are on its map, and what one is called.
const BROWSER: &str = include_str!("browser.mjs");

/// Has each block of a language run in a folder of its own with the text that it has for a demo.
fn each(language: &str, run: impl Fn(&Demo, &Block, &Path, &str)) {
    let blocks = blocks(language);
    assert!(!blocks.is_empty());
    let demo = Demo::start();
    for block in blocks {
        let folder = tempfile::tempdir().unwrap();
        run(&demo, &block, folder.path(), &demo.put_into(&block.text));
    }
    demo.end();
}

fn place(block: &Block) -> String {
    format!("{}:{}", block.page, block.line)
}

#[test]
fn what_pages_have_for_node_runs_as_it_is_printed() {
    each("js", |_, block, folder, text| {
        fs::write(folder.join("block.mjs"), text).unwrap();
        printed(&place(block), node(folder).arg("block.mjs"));
    });
}

#[test]
fn what_pages_have_for_browsers_draws_every_flooded_area() {
    each("html", |demo, block, folder, text| {
        fs::write(folder.join("page.html"), text).unwrap();
        fs::write(folder.join("browser.mjs"), BROWSER).unwrap();
        let drawn = printed(&place(block), node(folder).args(["browser.mjs", "page.html"]));
        let first =
            &demo.get("floods?minimum_state=1&geoformat=geojson")["result"]["features"][0]["properties"];
        let name = [&first["parent_name"], &first["area_name"]].map(|name| name.as_str().unwrap()).join(", ");
        assert_eq!(drawn.trim(), format!("{} {name}", demo.flooded()), "{}", place(block));
    });
}

#[test]
fn what_pages_have_for_python_runs_as_it_is_printed() {
    each("python", |_, block, folder, text| {
        fs::write(folder.join("block.py"), text).unwrap();
        printed(&place(block), python().arg("block.py").current_dir(folder));
    });
}
