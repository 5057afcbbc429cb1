//! The Debian package: installed, started, upgraded and removed on a machine of its own. See `tests/machine`.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use tempfile::TempDir;

use crate::eventually::{LONG, eventually_blocking};
use crate::machine::Machine;
use crate::take_over::take_over;

const AREAS: &str = r#"{"type":"FeatureCollection","features":[{"type":"Feature",
    "properties":{"area_id":"7","area_name":"RW 07","parent_name":"Pluit","city_name":"Jakarta","city":"jbd","region":"ID-JK"},
    "geometry":{"type":"Polygon","coordinates":[[[106.8,-6.1],[106.9,-6.1],[106.9,-6.2],[106.8,-6.1]]]}}]}"#;

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
        let make = |version: &str| {
            let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("deploy/package");
            let mut package = Command::new(script);
            package.arg(env!("CARGO_BIN_EXE_siaga")).arg(folder.path());
            // Quick to write; releases take the default.
            package.args(["--deb-version", version, "--fast", "--compress-type", "gz"]);
            let output = package.stderr(Stdio::inherit()).output().unwrap();
            assert!(output.status.success(), "deploy/package failed");
            PathBuf::from(String::from_utf8(output.stdout).unwrap().trim_end())
        };
        Packages { first: make("1.0.0-1"), second: make("1.0.1-1"), _folder: folder }
    })
}

/// A machine with the first version installed, whose service serves.
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

/// The response to a request, which bash can send.
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

/// Imports an area, as the user of the service.
fn import(machine: &Machine) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("areas.geojson");
    std::fs::write(&file, AREAS).unwrap();
    machine.printed("mkdir /srv/city");
    machine.put(&file, "/srv/city/areas.geojson");
    machine.printed("cd /srv && runuser -u siaga -- siaga import city");
}

/// Makes a key and sets the state of the imported area with it.
fn flood(machine: &Machine) {
    let made =
        machine.printed("cd / && runuser -u siaga -- siaga key create --name desk --scope floods:write");
    let header = format!("X-Api-Key: {}\\r\\n", made.split_whitespace().last().unwrap());
    let set = || response(machine, "PUT", "/v1/floods/7", &header, r#"{"state":3}"#);
    eventually_blocking("the server knows area and key", LONG, set, |set| set.starts_with("HTTP/1.1 200"));
}

fn is_flooded(machine: &Machine) -> bool {
    get(machine, "/v1/floods/states").contains(r#""area_id":"7","state":3"#)
}

#[test]
fn an_installed_service_is_enabled_and_commands_find_its_configuration_and_its_data() {
    let machine = installed();
    assert_eq!(machine.printed("systemctl is-enabled siaga"), "enabled");
    assert_eq!(
        machine.printed("systemctl show --property=User,NRestarts --value siaga").replace('\n', " "),
        "0 siaga"
    );
    import(&machine);
    flood(&machine);
    assert!(is_flooded(&machine));
    let check = machine.printed("cd / && runuser -u siaga -- siaga check");
    assert!(check.contains(r#"path = "/var/lib/siaga/siaga.db""#), "{check}");
    machine.printed("systemctl reload siaga");
    serves(&machine);
}

#[test]
fn only_the_service_and_root_can_read_the_key_and_the_data() {
    let machine = installed();
    let modes = machine
        .printed("stat --format='%U:%G %a' /etc/siaga/environment /var/lib/siaga /var/lib/siaga/siaga.db");
    assert_eq!(modes, "root:siaga 640\nsiaga:siaga 750\nsiaga:siaga 600");
    let refused = machine.run(&["runuser", "-u", "nobody", "--", "siaga", "status"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!((refused.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.contains("/etc/siaga/environment: Permission denied"), "{error}");
    assert!(error.contains("sudo -u siaga siaga"), "{error}");
}

#[test]
fn a_variable_of_the_caller_wins_over_the_environment_file_and_a_wrong_line_is_named_without_its_secret() {
    let machine = installed();
    let check = machine.printed("cd / && SIAGA_FILE__PATH=/elsewhere.db siaga check");
    assert!(check.contains(r#"path = "/elsewhere.db""#), "{check}");
    machine.printed("echo \"SIAGA_LOG__LEVEL 'hidden\" >>/etc/siaga/environment");
    let refused = machine.run(&["siaga", "check"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert_eq!((refused.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert_eq!(error, "siaga: /etc/siaga/environment: line 6 is not NAME='value'\n");
}

#[test]
fn a_package_has_a_manual_page_for_each_command_and_completions_for_three_shells() {
    let machine = installed();
    let page = machine.printed("zcat /usr/share/man/man1/siaga-import.1.gz");
    assert!(page.contains("replace"), "{page}");
    let main = machine.printed("zcat /usr/share/man/man1/siaga.1.gz");
    assert!(main.contains("siaga\\-backup") && !main.contains("siaga\\-manual"), "{main}");
    let completion = ". /usr/share/bash-completion/completions/siaga && complete -p siaga";
    assert!(machine.run(&["bash", "-c", completion]).status.success());
    machine.printed("test -s /usr/share/siaga/country/id/texts/id.json");
    machine.printed("test -s /usr/share/zsh/vendor-completions/_siaga");
    machine.printed("test -s /usr/share/fish/vendor_completions.d/siaga.fish");
}

#[test]
fn a_package_has_the_program_that_takes_over_a_cognicity() {
    let machine = installed();
    let refused = machine.run(&["siaga-take-over", "--from", "nowhere", "/srv/copy"]);
    let error = String::from_utf8(refused.stderr).unwrap();
    assert!(error.starts_with("siaga-take-over: --from must be the address of a database"), "{error}");
}

#[test]
fn an_upgrade_restarts_the_service_and_keeps_configuration_key_and_data() {
    let machine = installed();
    import(&machine);
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
}

#[test]
fn a_stopped_and_disabled_service_stays_so_by_an_upgrade() {
    let machine = installed();
    machine.printed("systemctl disable --now siaga");
    install(&machine, &packages().second);
    let state = machine.run(&["systemctl", "is-enabled", "siaga"]).stdout;
    assert_eq!(String::from_utf8(state).unwrap().trim_end(), "disabled");
}

#[test]
fn a_removed_package_leaves_configuration_and_data_and_a_purged_one_neither() {
    let machine = installed();
    import(&machine);
    flood(&machine);
    let key = machine.printed("cat /etc/siaga/environment");
    machine.printed("dpkg --remove siaga");
    assert!(get(&machine, "/health/ready").is_empty());
    machine.printed(
        "test -s /var/lib/siaga/siaga.db && test -s /etc/siaga/Rocket.toml && ! test -e /usr/bin/siaga",
    );

    install(&machine, &packages().first);
    serves(&machine);
    assert!(is_flooded(&machine));
    assert_eq!(machine.printed("cat /etc/siaga/environment"), key);

    machine.printed("dpkg --purge siaga");
    assert!(get(&machine, "/health/ready").is_empty());
    machine.printed("! test -e /var/lib/siaga && ! test -e /etc/siaga && id siaga");
}
