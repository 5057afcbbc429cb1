//! The cache of `deploy/edge/nginx.conf` before the service, run by Debian's nginx.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use serde_json::Value;

use crate::demo::Demo;
use crate::eventually::{LONG, eventually_blocking, patiently};
use crate::nginx::{Proxy, events_come_soon, lines_without, put, replaced};
use crate::port::free_port;
use crate::proxy::Proxy as Link;
use crate::tools::printed;

/// How long the cache may reuse responses.
const SHARED: u64 = 2;
/// Stale limits of floods and reports: the hour and the minute of the service, shortened.
const FLOODS: u64 = 20;
const REPORTS: u64 = 8;

/// A proxy between cache and service that counts requests, shortens times, and can be cut.
struct Line {
    link: Link,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Line {
    fn to(service: &Demo) -> Self {
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&requests);
        let link =
            Link::inspecting(service.origin("").trim_start_matches("http://"), move |to_service, bytes| {
                if to_service {
                    let text = String::from_utf8_lossy(bytes);
                    let targets =
                        text.lines().filter_map(|line| line.strip_prefix("GET ")?.split(' ').next());
                    seen.lock().unwrap().extend(targets.map(str::to_owned));
                    return;
                }
                // As many bytes as before. Headers come in one piece.
                for (from, to) in [
                    ("error=3600", format!("error={FLOODS:04}")),
                    ("error=60", format!("error={REPORTS:02}")),
                ] {
                    if let Some(at) = bytes.windows(from.len()).position(|part| part == from.as_bytes()) {
                        bytes[at..at + from.len()].copy_from_slice(to.as_bytes());
                    }
                }
            });
        Self { link, requests }
    }

    /// The number of forwarded requests for a path.
    fn count(&self, path: &str) -> usize {
        let requests = self.requests.lock().unwrap();
        requests.iter().filter(|target| target.split('?').next() == Some(path)).count()
    }
}

/// A response.
#[derive(Debug)]
struct Response {
    status: u16,
    headers: String,
    body: String,
}

fn get(proxy: &Proxy, target: &str, more: &[&str]) -> Response {
    let address = if target.starts_with('/') { proxy.base.replace("/v1", target) } else { target.to_owned() };
    let all = printed("curl", proxy.curl(&["-i", "--max-time", "20", &address]).args(more));
    let (headers, body) = all.split_once("\r\n\r\n").unwrap_or((&all, ""));
    let status = headers.split(' ').nth(1).unwrap().parse().unwrap();
    Response { status, headers: headers.to_lowercase(), body: body.to_owned() }
}

/// The demo, nginx, and the proxy between them, once the cache has a response.
fn served(shared: &str) -> (Demo, Line, Proxy) {
    let demo = Demo::configured(&[("SIAGA_CACHE__SHARED", shared)]);
    let line = Line::to(&demo);
    let (folder, port, plain) = (tempfile::tempdir().unwrap(), free_port(), free_port());
    let path = folder.path().display();
    let pairs = [
        ("server 127.0.0.1:8000", &*format!("server {}", line.link.authority())),
        ("listen 443 ssl http2", &format!("listen 127.0.0.1:{port}")),
        ("listen 80", &format!("listen 127.0.0.1:{plain}")),
        ("/var/cache/nginx/siaga", &format!("{path}/cache")),
        ("/var/log/nginx/access.log", &format!("{path}/access.log")),
    ];
    // Without TLS.
    let text = lines_without(include_str!("../../deploy/edge/nginx.conf"), &["listen [::]", " ssl_"]);
    let text = replaced(&text, &pairs);
    let arguments = ["--noproxy", "*", "--connect-to", &format!("::127.0.0.1:{port}")];
    let proxy = Proxy::start(folder, &text, port, "http://data.example.org/v1".to_owned(), &arguments);
    let is_there = || get(&proxy, "/v1/floods", &[]).status;
    eventually_blocking("the cache has a response", LONG, is_there, |status| *status == 200);
    (demo, line, proxy)
}

/// Requests one resource by many addresses.
fn many_addresses_are_one(proxy: &Proxy, line: &Line) {
    let begun = Instant::now();
    let before = line.count("/v1/floods/states");
    let odd = (0..300).map(|number| format!("p{number}={number}")).collect::<Vec<_>>().join("&");
    let mut queries =
        vec!["city=jbd&minimum_state=1".to_owned(), format!("minimum_state=1&{odd}&city=jbd&admin=")];
    queries.extend((0..200).map(|number| format!("_={number}&minimum_state=1&city=jbd")));
    let mut curl = proxy.curl(&["--parallel", "--parallel-max", "20", "--write-out", "%{http_code}\n"]);
    for query in &queries {
        curl.args(["-o", "/dev/null", &format!("{}/floods/states?{query}", proxy.base)]);
    }
    let statuses = printed("curl", &mut curl);
    assert_eq!(statuses, "200\n".repeat(queries.len()));
    // One request per expiry.
    let most = 2 + usize::try_from(begun.elapsed().as_secs() / SHARED).unwrap();
    let requested = line.count("/v1/floods/states") - before;
    assert!((1..=most).contains(&requested), "{requested} requests in {:?}", begun.elapsed());
    // Repeated parameters and encoded names are rejected by the service.
    for query in ["city=jbd&city=bdg", "%6dinimum_state=9"] {
        assert_eq!(get(proxy, &format!("/v1/floods/states?{query}"), &[]).status, 400, "{query}");
    }
}

/// Nothing with a credential or a cookie is stored or looked up.
fn credentials_pass(proxy: &Proxy, line: &Line, demo: &Demo) {
    let key = format!("X-Api-Key: {}", demo.key());
    let plain = get(proxy, "/v1/floods", &[]);
    assert!(plain.status == 200 && plain.headers.contains("s-maxage=2"), "{}", plain.headers);
    for (header, status) in [
        ("X-Api-Key: a bad key", 403),
        ("Authorization: Bearer a.bad.token", 403),
        ("Cookie: seen=1", 200),
        (key.as_str(), 200),
    ] {
        let before = line.count("/v1/floods");
        let got = get(proxy, "/v1/floods", &["-H", header]);
        assert_eq!((got.status, line.count("/v1/floods") - before), (status, 1), "{header}");
        assert!(!got.headers.contains("x-cache: hit"), "{}", got.headers);
    }
    let own = get(proxy, "/v1/floods/5/log", &["-H", &key]);
    assert!(own.status == 200 && own.headers.contains("no-store"), "{}", own.headers);
    assert_eq!(get(proxy, "/v1/floods/5/log", &[]).status, 403);
    let again = get(proxy, "/v1/floods", &[]);
    assert_eq!(again.status, 200);
    assert!(!["private", "\nratelimit"].iter().any(|part| again.headers.contains(part)), "{again:?}");
    // The tag of the cached response changes once, after the service has compressed it better.
    let send = || {
        let headers = get(proxy, "/v1/floods", &[]).headers;
        let tag = headers.lines().find_map(|line| line.strip_prefix("etag: ")).unwrap().to_owned();
        get(proxy, "/v1/floods", &["-H", &format!("If-None-Match: {}", tag.replace("w/", "W/"))]).status
    };
    eventually_blocking("a tag of the cache is known to it", LONG, send, |status| *status == 304);
    assert_eq!(get(proxy, "http://other.example/v1/floods", &[]).status, 421);
}

/// Stops the service; the cache serves stale responses within the limits.
fn the_service_goes_and_comes_back(proxy: &Proxy, line: &Line, demo: &Demo) {
    let reports = "/v1/reports?geoformat=geojson&timeperiod=604800";
    let listed: Value = serde_json::from_str(&get(proxy, reports, &[]).body).unwrap();
    let report = listed["result"]["features"][0]["properties"]["pkey"].as_str().unwrap();
    assert_eq!(get(proxy, "/v1/floods", &[]).status, 200);
    put(demo, &format!("reports/{report}/visibility"), r#"{"hidden":true,"reason":"a test"}"#);
    line.link.cut();
    let (cut, last) = (Instant::now(), Utc::now());
    assert_eq!(get(proxy, "/v1/floods", &[]).status, 200);
    // After the stale limit of reports.
    let gone = Duration::from_secs(SHARED + REPORTS + 1);
    eventually_blocking("the minute passes", LONG, || cut.elapsed(), |elapsed| *elapsed > gone);
    let hidden = get(proxy, reports, &[]);
    assert!(hidden.status >= 500 && !hidden.body.contains(&format!("\"{report}\"")), "{}", hidden.headers);
    let floods = get(proxy, "/v1/floods", &[]);
    assert_eq!(floods.status, 200, "{}", floods.headers);
    let date = floods.headers.lines().find_map(|line| line.strip_prefix("date: ")).unwrap();
    assert!(DateTime::parse_from_rfc2822(date.trim()).unwrap() <= last, "the age: {}", floods.headers);
    let gone = Duration::from_secs(SHARED + FLOODS + 1);
    eventually_blocking("the hour passes", LONG, || cut.elapsed(), |elapsed| *elapsed > gone);
    assert!(get(proxy, "/v1/floods", &[]).status >= 500);
    line.link.restore();
    let back = Instant::now();
    let send = || get(proxy, reports, &[]);
    let fresh = eventually_blocking("the service is back", LONG, send, |got| got.status == 200);
    assert!(!fresh.body.contains(&format!("\"pkey\":\"{report}\"")), "the hidden report");
    assert!(back.elapsed() < patiently(Duration::from_secs(6)), "{:?}", back.elapsed());
}

#[test]
fn nginx_at_the_edge_coalesces_requests_stores_nothing_private_and_serves_stale_responses_within_limits() {
    let (demo, line, proxy) = served(&format!("{SHARED}s"));
    many_addresses_are_one(&proxy, &line);
    credentials_pass(&proxy, &line, &demo);
    events_come_soon(&demo, &proxy);
    the_service_goes_and_comes_back(&proxy, &line, &demo);
    drop(proxy);
    demo.end();
}

#[test]
fn nginx_at_the_edge_caches_gis_resources_and_boundaries_by_their_whole_query() {
    let (demo, line, proxy) = served("1m");
    for (path, query) in [
        ("/v1/cities", ""),
        ("/v1/regions", ""),
        ("/v1/ogc", ""),
        ("/v1/ogc/collections", ""),
        ("/v1/ogc/collections/floods/items", "?limit=2"),
        ("/v1/ogc/collections/floods/items", "?limit=3"),
    ] {
        let before = line.count(path);
        let got = [(); 3].map(|()| get(&proxy, &format!("{path}{query}"), &[]));
        assert!(got.iter().all(|got| got.status == 200), "{path}: {got:?}");
        assert_eq!(line.count(path) - before, 1, "{path}{query}");
        if let Some(limit) = query.strip_prefix("?limit=") {
            let number = format!("\"numberReturned\":{limit}");
            assert!(got.iter().all(|got| got.body.contains(&number)), "{got:?}");
        }
    }
    assert_eq!(get(&proxy, "/v1/ogc/collections?no=1", &[]).status, 400, "the service sees all parameters");
    drop(proxy);
    demo.end();
}
