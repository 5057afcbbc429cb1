//! What the pages of `docs/` say, tried.

mod toml_blocks;
