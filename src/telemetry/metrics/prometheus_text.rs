use std::collections::HashSet;

/// Converts `OpenMetrics` to Prometheus's text format 0.0.4, in which the metadata of a counter uses the name with `_total`.
pub(crate) fn prometheus_text(open: &str) -> String {
    let counters = open.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter"));
    let counters: HashSet<&str> = counters.collect();
    let mut text = String::with_capacity(open.len() + 64 * counters.len());
    for line in open.lines().filter(|line| *line != "# EOF" && !line.starts_with("# UNIT ")) {
        let prefix = ["# HELP ", "# TYPE "].iter().find(|&begin| line.starts_with(begin));
        let with_name = prefix.and_then(|begin| Some((begin, line.strip_prefix(begin)?.split_once(' ')?)));
        match with_name.filter(|(_, (name, _))| counters.contains(name)) {
            Some((begin, (name, rest))) => text.extend([begin, name, "_total ", rest]),
            None => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_are_described_by_the_name_of_their_series() {
        let open = "# HELP a Requests.\n# TYPE a counter\na_total{b=\"c\"} 1\n# HELP a_size Size.\n# TYPE a_size gauge\n\
                    # UNIT a_size bytes\na_size 2\n# EOF\n";
        let text = "# HELP a_total Requests.\n# TYPE a_total counter\na_total{b=\"c\"} 1\n# HELP a_size Size.\n\
                    # TYPE a_size gauge\na_size 2\n";
        assert_eq!(prometheus_text(open), text);
    }
}
