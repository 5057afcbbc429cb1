# shellcheck shell=sh disable=SC2154
# Measurements: requests a second, response times, medians, results of criterion.

# The median of the lines.
median() {
    sort -n | awk '{ line[NR] = $1 } END { print line[int((NR + 1) / 2)] }'
}

ratio() {
    awk -v a="$1" -v b="$2" 'BEGIN { printf (a < b / 10 ? "%.4f" : a < b * 100 ? "%.2f" : "%.0f"), a / b }'
}

# Requests a second by wrk for $1 seconds; the other arguments are passed to wrk.
throughput() {
    throughput_seconds=$1
    shift
    wrk --threads 1 --connections 16 --duration "${throughput_seconds}s" --timeout 60s "$@" >"$folder/wrk"
    if grep -q -e Non-2xx -e 'Socket errors' "$folder/wrk"; then
        cat "$folder/wrk" >&2
        exit 1
    fi
    sed -n 's/^Requests.sec: *//p' "$folder/wrk" | awk '{ print } $1 == 0 { exit 1 }' || { say "no response within $throughput_seconds s"; exit 1; }
}

# Milliseconds of a request until its last byte, the median of nine.
request_time() {
    for _ in 1 2 3 4 5 6 7 8 9; do
        curl --silent --fail --output /dev/null --write-out '%{time_total}\n' "$1"
    done | median | awk '{ printf "%.2f", $1 * 1000 }'
}

# Milliseconds of GET /floods right after a change, until the last byte: the median of 200, over one connection.
time_after_change() {
    head -n 200 "$folder/areas" | awk -v base="$(base ours)/v1/floods" -v key="$key" '{
        printf "url=%s/%s\nrequest=PUT\nheader=\"X-Api-Key: %s\"\ndata=\"{\\\"state\\\":%d}\"\n", base, $1, key, 1 + NR % 4
        printf "fail\nsilent\noutput=/dev/null\nnext\n"
        printf "url=%s\nfail\nsilent\noutput=/dev/null\nwrite-out=\"%%{time_total}\\n\"\nnext\n", base
    }' | sed '$d' >"$folder/changes"
    curl --config "$folder/changes" | median | awk '{ printf "%.3f", $1 * 1000 }'
}

# Nanoseconds of a benchmark by its folder in target/criterion; with `each`, of one of its elements.
criterion_time() {
    node -e '
        const [folder, what] = process.argv.slice(1);
        const read = (name) => JSON.parse(fs.readFileSync(`${folder}/new/${name}.json`));
        const elements = what === "each" ? read("benchmark").throughput.Elements : 1;
        console.log(read("estimates").median.point_estimate / elements);
    ' "target/criterion/$1" "${2:-all}"
}

# Resident memory of a server in MiB: now, and at its peak.
resident() {
    awk '/^VmRSS:/ { printf "%.0f", $2 / 1024 }' "/proc/$(cat "$folder/$1.pid")/status"
}

peak() {
    awk '/^VmHWM:/ { printf "%.0f", $2 / 1024 }' "/proc/$(cat "$folder/$1.pid")/status"
}
