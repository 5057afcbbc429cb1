//! The Debian package: installed, started, upgraded and removed in a container. See `tests/machine`.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::eventually::{LONG, eventually_blocking};
use crate::programs::{cap_check, gauges, take_over};

const AREAS: &str = r#"{"type":"FeatureCollection","features":[{"type":"Feature",
    "properties":{"area_id":"7","area_name":"RW 07","parent_name":"Pluit","city_name":"Jakarta","city":"jbd","region":"ID-JK"},
    "geometry":{"type":"Polygon","coordinates":[[[106.8,-6.1],[106.9,-6.1],[106.9,-6.2],[106.8,-6.1]]]}}]}"#;

/// A copy of this machine with its own systemd; stopped on drop.
struct Machine {
    folder: TempDir,
}

impl Machine {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let started = script().arg("start").arg(folder.path()).status().unwrap();
        assert!(started.success(), "tests/machine could not start a machine");
        Self { folder }
    }

    /// Runs a command as root.
    fn run(&self, command: &[&str]) -> Output {
        self.command(command).output().unwrap()
    }

    /// Runs a shell line, asserts that every part succeeds, and returns its output.
    fn printed(&self, line: &str) -> String {
        let output = self.run(&["sh", "-euc", line]);
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    /// Writes the content of a file of this machine into one of that machine.
    fn put(&self, from: &Path, to: &str) {
        let mut tee = self.command(&["tee", to]);
        let written = tee.stdin(File::open(from).unwrap()).stdout(Stdio::null()).status().unwrap();
        assert!(written.success(), "{to}");
    }

    fn command(&self, command: &[&str]) -> Command {
        let mut run = script();
        run.arg("run").arg(self.folder.path()).args(command).stdin(Stdio::null());
        run
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let stopped = script().arg("stop").arg(self.folder.path()).status();
        assert!(stopped.is_ok_and(|status| status.success()), "tests/machine could not stop the machine");
    }
}

fn script() -> Command {
    Command::new(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/machine"))
}

/// The packages of the tested program, of two versions.
struct Packages {
    first: PathBuf,
    second: PathBuf,
    _folder: TempDir,
}

fn packages() -> &'static Packages {
    static PACKAGES: OnceLock<Packages> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        take_over();
        cap_check();
        gauges();
        let make = |version: &str| {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/package");
            let mut package = Command::new(script);
            package.arg(env!("CARGO_BIN_EXE_siaga")).arg(folder.path());
            // Fast compression; releases use the default.
            package.args(["--deb-version", version, "--fast", "--compress-type", "gz"]);
            let output = package.stderr(Stdio::inherit()).output().unwrap();
            assert!(output.status.success(), "deploy/package failed");
            PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
        };
        Packages { first: make("1.0.0-1"), second: make("1.0.1-1"), _folder: folder }
    })
}

/// A machine with the first version installed and serving.
fn installed() -> Machine {
    let machine = Machine::start();
    install(&machine, &packages().first);
    serves(&machine);
    machine
}

fn install(machine: &Machine, package: &Path) {
    machine.put(package, "/root/siaga.deb");
    // The page index of `man` and the disk of a machine in memory need no time.
    machine.printed("dpkg --install --no-triggers --force-unsafe-io /root/siaga.deb");
}

/// Sends a request with bash.
fn response(machine: &Machine, method: &str, target: &str, headers: &str, body: &str) -> String {
    let line = format!(
        "exec 3<>/dev/tcp/127.0.0.1/8000; printf '{method} {target} HTTP/1.1\\r\\nHost: localhost\\r\\nConnection: close\\r\\n\
         {headers}Content-Length: {}\\r\\n\\r\\n{body}' >&3; cat <&3",
        body.len()
    );
    let output = machine.run(&["bash", "-euc", &line]);
    String::from_utf8(output.stdout).unwrap()
}

fn get(machine: &Machine, target: &str) -> String {
    response(machine, "GET", target, "", "")
}

/// Waits until the service responds.
fn serves(machine: &Machine) {
    let ready = |response: &String| response.starts_with("HTTP/1.1 200");
    eventually_blocking("the service is ready", LONG, || get(machine, "/health/ready"), ready);
}

/// Imports an area, as the user of the service, makes a key, and sets the state of the area with it.
fn flood(machine: &Machine) {
    machine.printed(&format!("mkdir /srv/city && echo '{AREAS}' >/srv/city/areas.geojson"));
    machine.printed("cd /srv && runuser -u siaga -- siaga import city");
    let built =
        machine.printed("cd / && runuser -u siaga -- siaga key create --name desk --scope floods:write");
    let header = format!("X-Api-Key: {}\\r\\n", built.split_whitespace().last().unwrap());
    let set = || response(machine, "PUT", "/v1/floods/7", &header, r#"{"state":3}"#);
    eventually_blocking("the server knows area and key", LONG, set, |set| set.starts_with("HTTP/1.1 200"));
}

fn is_flooded(machine: &Machine) -> bool {
    get(machine, "/v1/floods/states").contains(r#""area_id":"7","state":3"#)
}

/// Asserts exit code 1; returns the single line on standard error.
fn refused(machine: &Machine, command: &[&str]) -> String {
    let refused = machine.run(command);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!((refused.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    error
}

#[test]
fn an_installed_service_is_enabled_and_commands_find_its_private_settings_and_data() {
    let machine = installed();
    assert_eq!(machine.printed("systemctl is-enabled siaga"), "enabled");
    let running = machine.printed("systemctl show --property=User,NRestarts --value siaga");
    assert_eq!(running.replace('\n', " "), "0 siaga");
    flood(&machine);
    assert!(is_flooded(&machine));
    let check = machine.printed("cd / && runuser -u siaga -- siaga check");
    assert!(check.contains(r#"path = "/var/lib/siaga/siaga.db""#), "{check}");
    machine.printed("systemctl reload siaga");
    serves(&machine);

    let modes = machine
        .printed("stat --format='%U:%G %a' /etc/siaga/environment /var/lib/siaga /var/lib/siaga/siaga.db");
    assert_eq!(modes, "root:siaga 640\nsiaga:siaga 750\nsiaga:siaga 600");
    let error = refused(&machine, &["runuser", "-u", "nobody", "--", "siaga", "status"]);
    for part in ["/etc/siaga/environment: Permission denied", "sudo -u siaga siaga"] {
        assert!(error.contains(part), "{error}");
    }

    // A variable of the caller overrides the file, and a wrong line is reported without its secret.
    let check = machine.printed("cd / && SIAGA_FILE__PATH=/elsewhere.db siaga check");
    assert!(check.contains(r#"path = "/elsewhere.db""#), "{check}");
    machine.printed("echo \"SIAGA_LOG__LEVEL 'hidden\" >>/etc/siaga/environment");
    let error = refused(&machine, &["siaga", "check"]);
    assert_eq!(error, "siaga: /etc/siaga/environment: line 6 is not NAME='value'\n");
}

#[test]
fn a_package_has_manual_pages_and_the_programs_beside_the_service() {
    let machine = installed();
    let page = machine.printed("zcat /usr/share/man/man1/siaga-import.1.gz");
    assert!(page.contains("replace"), "{page}");
    let main = machine.printed("zcat /usr/share/man/man1/siaga.1.gz");
    assert!(main.contains("siaga\\-backup") && !main.contains("siaga\\-manual"), "{main}");
    machine.printed("test -s /usr/share/siaga/country/id/texts/id.json");
    for (command, expected) in [
        (
            &["siaga-take-over", "--from", "nowhere", "/srv/copy"][..],
            "--from must be the address of a database",
        ),
        (&["cap-check", "nowhere.xml"], "nowhere.xml: No such file"),
        (&["siaga-gauges", "check", "nowhere.toml"], "nowhere.toml: No such file"),
    ] {
        let error = String::from_utf8(machine.run(command).stderr).unwrap();
        assert!(error.starts_with(&format!("{}: {expected}", command[0])), "{error}");
    }
}

#[test]
fn an_upgrade_restarts_the_service_and_keeps_configuration_key_and_data_and_a_disabled_one_stays_so() {
    let machine = installed();
    flood(&machine);
    machine.printed(
        "sed -i 's/^#base_url = .*/base_url = \"https:\\/\\/example.org\\/v1\"/' /etc/siaga/Rocket.toml",
    );
    let state = "systemctl show --property=MainPID --value siaga; cat /etc/siaga/environment; cat /etc/siaga/Rocket.toml";
    let before = machine.printed(state);
    install(&machine, &packages().second);
    serves(&machine);
    let after = machine.printed(state);
    let (process, settings) = before.split_once('\n').unwrap();
    let (new_process, kept) = after.split_once('\n').unwrap();
    assert_ne!(process, new_process);
    assert_eq!(settings, kept);
    assert_eq!(machine.printed("dpkg-query --show --showformat='${Version}' siaga"), "1.0.1-1");
    let check = machine.printed("cd / && runuser -u siaga -- siaga check");
    assert!(check.contains(r#"base_url = "https://example.org/v1""#), "{check}");
    assert!(is_flooded(&machine));

    machine.printed("systemctl disable --now siaga");
    install(&machine, &packages().second);
    let state = "systemctl is-enabled siaga || systemctl is-active siaga || true";
    assert_eq!(machine.printed(state), "disabled\ninactive");
}

#[test]
fn a_removed_package_leaves_configuration_and_data_and_a_purged_one_neither() {
    let machine = installed();
    flood(&machine);
    let key = machine.printed("cat /etc/siaga/environment");
    machine.printed("dpkg --remove siaga");
    assert!(get(&machine, "/health/ready").is_empty());
    machine.printed("test -s /var/lib/siaga/siaga.db && test -s /etc/siaga/Rocket.toml");
    machine.printed("! test -e /usr/bin/siaga");

    install(&machine, &packages().first);
    serves(&machine);
    assert!(is_flooded(&machine));
    assert_eq!(machine.printed("cat /etc/siaga/environment"), key);

    machine.printed("dpkg --purge siaga");
    assert!(get(&machine, "/health/ready").is_empty());
    machine.printed("! test -e /var/lib/siaga && ! test -e /etc/siaga && id siaga");
}
