//! The server tutorial, step by step, with stand-ins for the directories and programs of a machine. What the package installs
//! and what systemd does is tested with the package.

use std::fs;
use std::path::Path;

use crate::blocks::{Block, blocks_on};
use crate::port::free_port;
use crate::sh_blocks::{put_programs, shell};

const PAGE: &str = "docs/your-city.md";

/// Stand-ins for programs that a test cannot run. `sudo` runs the command.
const STAND_INS: [(&str, &str); 8] = [
    ("sudo", "if [ \"$1\" = -u ]; then shift 2; fi\nexec \"$@\"\n"),
    ("siaga", "export ROCKET_CONFIG=ROOT/etc/siaga/Rocket.toml\nexec PROGRAM \"$@\"\n"),
    ("systemctl", include_str!("systemctl.sh")),
    ("install", "for last; do :; done\nmkdir -p \"$last\"\n"),
    ("apt-get", ""),
    ("scp", ""),
    ("sha256sum", ""),
    ("ssh", ""),
];

/// The text with the directories, the program and the address of the test.
fn here(text: &str, root: &Path, port: u16) -> String {
    let root = root.display().to_string();
    let mut text = text.replace("PROGRAM", env!("CARGO_BIN_EXE_siaga")).replace("ROOT", &root);
    for directory in ["/etc/siaga", "/etc/caddy", "/etc/systemd", "/var/lib/siaga", "/var/backups/siaga"] {
        // Not again where the directory of the test precedes it.
        let marked = text.replace(&format!("{root}{directory}"), "\0");
        text = marked.replace(directory, "\0").replace('\0', &format!("{root}{directory}"));
    }
    let address = format!("http://127.0.0.1:{port}");
    text.replace("http://127.0.0.1:8000", &address)
        .replace("https://flood.example.org/v1/f", &format!("{address}/v1/f"))
}

/// The blocks in order, with the reader's own steps between them.
fn session(blocks: &[Block]) -> String {
    let mut session = String::new();
    for block in blocks.iter().filter(|block| block.mark.as_deref() == Some("on the server")) {
        if block.text.contains("siaga restore") {
            // A change after the backup.
            session += "curl -X PUT -H \"X-Api-Key: $KEY\" -d '{\"state\":4}' https://flood.example.org/v1/floods/5\n";
        }
        let text = block
            .text
            .replace("/var/lib/siaga/city\n", "/var/lib/siaga/city >key\nKEY=$(awk 'END {print $NF}' key)\n");
        session += &text.replace("2026-11-23-021500.db", "$(ls /var/backups/siaga | head -n 1)");
    }
    session
}

#[test]
fn a_reader_of_the_tutorial_for_a_server_serves_a_city_and_restores_a_backup() {
    let (root, blocks) = (tempfile::tempdir().unwrap(), blocks_on(PAGE));
    let port = free_port();
    let at = |path: &str| root.path().join(path);
    for directory in ["bin", "etc/siaga", "etc/caddy", "etc/systemd/system", "var/lib/siaga"] {
        fs::create_dir_all(at(directory)).unwrap();
    }
    crate::extract::write(&at("city.osm.pbf"));
    // As the package installs it.
    fs::write(at("etc/siaga/Rocket.toml"), "").unwrap();
    let here = |text: &str| here(text, root.path(), port);
    let programs = STAND_INS.map(|(name, text)| (name, here(&format!("#!/bin/sh\nset -eu\n{text}"))));
    put_programs(root.path(), &programs);
    let session = format!("trap 'systemctl stop siaga' EXIT\n{}", session(&blocks));
    let mut shell = shell(root.path(), &here(&session));
    shell.env("ROCKET_PORT", port.to_string());
    // As the package writes it.
    shell.env("SIAGA_IMAGES__SIGNING_KEY", "made for the test");
    let output = shell.output().unwrap();
    let (printed, error) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{error}\n{printed}");
    // The change that followed the backup is undone.
    assert!(printed.contains("\"state\":4,\"updated\":true"), "{printed}");
    let last = printed.rsplit("flooded areas").next().unwrap();
    assert!(last.trim_start().starts_with("0\n"), "{printed}");
}
