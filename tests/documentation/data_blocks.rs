//! What pages have as data, which at least is what it is said to be.

use serde_json::Value;

use crate::blocks::blocks;
use crate::tools::{printed, python};

#[test]
fn what_pages_have_as_json_is_json() {
    let blocks = blocks("json");
    assert!(blocks.len() > 2, "{blocks:?}");
    for block in blocks {
        let read: Result<Value, _> = serde_json::from_str(&block.text);
        assert!(read.is_ok(), "{read:?} of {block:?}");
    }
}

#[test]
fn what_pages_have_as_yaml_is_yaml() {
    let blocks = blocks("yaml");
    assert!(!blocks.is_empty());
    for block in blocks {
        let read = "import sys, yaml; assert isinstance(yaml.safe_load(sys.argv[1]), dict)";
        printed(&block.page, python().args(["-c", read, &block.text]));
    }
}
