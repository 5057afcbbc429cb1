# shellcheck shell=sh disable=SC2016,SC2154
# The rows of the table, one function each; servers that only one row needs start in it.

# WHAT ROW TARGET BARE_TARGET PATH [HEADER…]: our response to a request compared with plain hyper that sends the same bytes, and with
# plain hyper that sends the same body with only the necessary headers, in turns.
beside_ceiling() {
    ceiling_what=$1
    ceiling_row=$2
    ceiling_target=$3
    bare_target=$4
    ceiling_path=$5
    shift 5
    # curl and wrk name the option differently, and each header is one argument.
    ours=$(base ours)$ceiling_path
    curl --silent --dump-header "$folder/head" --output "$folder/body" ${1:+--header "$1"} "$ours"
    # curl creates no file for a response without a body.
    [ -f "$folder/body" ] || : >"$folder/body"
    serve_anywhere ceiling target/dist/examples/ceiling "$folder/head" "$folder/body"
    serve_anywhere bare target/dist/examples/ceiling "$folder/head" "$folder/body" bare
    same_answer "$(base ceiling)/" "$@"
    : >"$folder/ours"
    : >"$folder/theirs"
    : >"$folder/bare"
    for _ in $(seq "$runs"); do
        throughput "$seconds" ${1:+--header "$1"} "$ours" >>"$folder/ours"
        throughput "$seconds" ${1:+--header "$1"} "$(base ceiling)$ceiling_path" >>"$folder/theirs"
        throughput "$seconds" ${1:+--header "$1"} "$(base bare)$ceiling_path" >>"$folder/bare"
    done
    stop ceiling
    stop bare
    rm "$folder/head" "$folder/body"
    ours=$(median <"$folder/ours")
    theirs=$(median <"$folder/theirs")
    bare=$(median <"$folder/bare")
    row "$ceiling_what" "$ours/s" "$theirs/s: plain hyper" "$(ratio "$ours" "$theirs")" ≥ "$ceiling_target" "$ceiling_row"
    row "$ceiling_what" "$ours/s" "$bare/s: plain hyper, bare" "$(ratio "$ours" "$bare")" ≥ "$bare_target" "$ceiling_row"
}

# Fails unless a response equals $folder/head and $folder/body, except for the date.
same_answer() {
    : >"$folder/other_body"
    curl --silent --dump-header "$folder/other_head" --output "$folder/other_body" ${2:+--header "$2"} "$1"
    for head in head other_head; do
        grep -v -i '^date:' "$folder/$head" | sort >"$folder/$head.sorted"
    done
    if ! diff "$folder/head.sorted" "$folder/other_head.sorted" >&2 || ! cmp "$folder/body" "$folder/other_body" >&2; then
        say "plain hyper does not send what we send"
        exit 1
    fi
}

row_warm() {
    beside_ceiling '`GET /floods`' warm 0.65 0.65 /v1/floods
}

row_gzip() {
    beside_ceiling '`GET /floods`, gzip' gzip 0.6 0.67 /v1/floods 'Accept-Encoding: gzip'
}

row_304() {
    tag=$(curl --silent --dump-header - --output /dev/null "$(base ours)/v1/floods" | tr -d '\r' | sed -n 's/^[Ee][Tt]ag: *//p')
    beside_ceiling '`GET /floods`, 304' 304 0.45 0.4 /v1/floods "If-None-Match: $tag"
}

row_states() {
    beside_ceiling '`GET /floods/states`' states 0.45 0.45 /v1/floods/states
}

# Milliseconds that topojson-server and JSON.stringify take for all areas, measured once.
encode_in_node() {
    if [ ! -f "$folder/encode" ]; then
        (cd "$folder/ancestor" && node "$OLDPWD/$here/encode.mjs" "$folder/features.geojson" 10000) >"$folder/encode"
    fi
    cat "$folder/encode"
}

# Runs criterion's benchmark of the formats, once.
compare_formats() {
    [ -f "$folder/compared" ] || SIAGA_DATASET=$folder/dataset cargo bench --locked --quiet --bench encoding >&2
    touch "$folder/compared"
}

# WHAT ROW SENSE TARGET OURS THEIRS WHOSE: two times in nanoseconds.
time_row() {
    case $3 in
        ≥) times_ratio=$(ratio "$6" "$5") ;;
        *) times_ratio=$(ratio "$5" "$6") ;;
    esac
    row "$1" "$(shown_time "$5")" "$(shown_time "$6"): $7" "$times_ratio" "$3" "$4" "$2"
}

shown_time() {
    awk -v t="$1" 'BEGIN { if (t < 1e4) printf "%.0f ns", t; else printf "%.2f ms", t / 1e6 }'
}

row_encode() {
    compare_formats
    install_packages
    time_row 'TopoJSON of all areas from their geometry' encode ≥ 10 "$(criterion_time 'topojson of all areas/document')" \
        "$(encode_in_node | awk '{ print $1 * 1e6 }')" topojson-server
}

row_rerender() {
    install_packages
    ours=$(time_after_change)
    theirs=$(encode_in_node)
    row '`GET /floods` after a `PUT`, to the last byte' "$ours ms" "$theirs ms: topojson-server encodes" "$(ratio "$theirs" "$ours")" ≥ 50 rerender
}

row_geojson() {
    compare_formats
    for how in 'nothing prepared' prepared; do
        time_row "GeoJSON of all areas, $how" geojson ≥ 2 "$(criterion_time "geojson, $how")" \
            "$(criterion_time 'geojson by serde_json, of a FeatureCollection')" 'serde_json'
    done
}

row_tiled() {
    compare_formats
    time_row 'TopoJSON from geometry, each vertex of 250,000 areas' tiled ≤ 1.3 "$(criterion_time 'topojson of 250,000 areas/document' each)" \
        "$(criterion_time 'topojson of all areas/document' each)" 'of the areas as they are'
}

row_memory() {
    SIAGA_DATASET=demo serve warmed target/dist/siaga
    for encoding in identity gzip br; do
        for list in floods 'floods?minimum_state=1' reports floodgauges infrastructure/floodgates infrastructure/pumps \
            infrastructure/waterways admin; do
            case $list in *'?'*) and='&' ;; *) and='?' ;; esac
            for format in geoformat=topojson geoformat=geojson; do
                ask "$encoding" "$list$and$format"
            done
        done
        ask "$encoding" 'floods?format=xml&geoformat=cap'
        ask "$encoding" 'floods?minimum_state=1&format=xml&geoformat=cap'
        for list in floods/states stats/reportsSummary stats/floodedRWsSummary "floods/archive?$(cat "$folder/period")" \
            "floods/timeseries?$(cat "$folder/period")" "reports/archive?$(cat "$folder/period")" \
            "reports/timeseries?$(cat "$folder/period")"; do
            ask "$encoding" "$list"
        done
    done
    throughput "$seconds" "$(base warmed)/v1/floods" >/dev/null
    throughput "$seconds" --header 'Accept-Encoding: gzip' "$(base warmed)/v1/floods" >/dev/null
    row "memory of the demo after requests for all lists in all formats" "$(resident warmed) MiB" '' - ≤ 120 memory
    stop warmed
}

row_mixed() {
    SIAGA_DATASET=$folder/dataset serve mixed target/dist/siaga
    for _ in $(seq 20); do
        curl --silent --max-time "$((seconds * 10))" --output /dev/null "$(base mixed)/v1/changes/stream" &
        streams="${streams:-} $!"
    done
    mixed_requests "$((seconds * 200))" >"$folder/requests"
    curl --no-progress-meter --parallel --parallel-max 4 --config "$folder/requests" || { say "the server did not respond to all of the mixed load"; exit 1; }
    # shellcheck disable=SC2086
    kill ${streams:-}
    highest=$(peak mixed)
    # Threads idle for 10 s end and release the memory of their responses.
    sleep 15
    row "memory 15 s after mixed load: lists, parts of the map, histories and \`/changes\` in all codings, four at a time, among 20 streams and changes of states; $highest MiB at its peak" \
        "$(resident mixed) MiB" '' - ≤ 160 mixed
    stop mixed
}

# COUNT: that many requests for curl, one in ten of them changes a state.
mixed_requests() {
    awk -v base="$(base mixed)/v1" -v key="$key" -v period="$(cat "$folder/period")" -v count="$1" -v areas="$folder/areas" 'BEGIN {
        while ((getline area < areas) > 0) area_of[known++] = area
        codings = split("identity gzip br", coding, " ")
        lists = split("floods floods?geoformat=geojson floods?minimum_state=1 floods?format=xml&geoformat=cap floods/states areas " \
            "areas?level=city reports floodgauges infrastructure/pumps alerts changes floods/archive?" period " floods/timeseries?" period, list, " ")
        for (i = 0; i < count; i++) {
            if (i) print "next"
            print "silent\nfail\noutput=/dev/null"
            if (i % 10 == 9) {
                printf "url=%s/floods/%s\nrequest=PUT\nheader=\"X-Api-Key: %s\"\n", base, area_of[i % known], key
                printf "data=\"{\\\"state\\\":%d}\"\n", 1 + i % 4
                continue
            }
            target = list[1 + i % lists]
            if (i % 3 == 0) {
                target = i % 2 ? "floods?" : "floods?geoformat=geojson&"
                target = target sprintf("bbox=%.4f,%.4f,%.4f,%.4f", 106.6 + i % 17 / 100, -6.4 + i % 13 / 100, 106.85 + i % 11 / 100, -6.2 + i % 7 / 100)
            }
            printf "url=%s/%s\nheader=\"Accept-Encoding: %s\"\n", base, target, coding[1 + int(i / 7) % codings]
        }
    }'
}

# ENCODING PATH: sends requests to the server of row_memory.
ask() {
    curl --silent --fail --output /dev/null --header "Accept-Encoding: $1" "$(base warmed)/v1/$2" ||
        { say "no response to /v1/$2"; exit 1; }
}

row_start() {
    for _ in 1 2 3 4 5; do
        port=$(free_port)
        begun=$(date +%s%N)
        SIAGA_DATASET=$folder/dataset ROCKET_PORT=$port target/dist/siaga >"$folder/starting.log" 2>&1 &
        remember starting $! "$port"
        until curl --silent --fail --output /dev/null "http://127.0.0.1:$port/v1/floods"; do
            kill -0 "$(cat "$folder/starting.pid")" || { cat "$folder/starting.log" >&2; exit 1; }
            sleep 0.01
        done
        echo $(($(date +%s%N) - begun))
        stop starting
    done >"$folder/starts"
    row 'from startup to the first response of `GET /floods`' \
        "$(median <"$folder/starts" | awk '{ printf "%.2f", $1 / 1e9 }') s" '' - ≤ 1 start
}

row_storm() {
    url=$(base ours)/v1/floods
    : >"$folder/ours"
    : >"$folder/theirs"
    : >"$folder/storms"
    for _ in $(seq "$runs"); do
        throughput "$seconds" "$url" >>"$folder/theirs"
        # It begins before the readers and ends after them.
        target/dist/examples/storm "$(base ours | sed 's|http://||')" "$key" "$folder/areas" 200 $((seconds + 1)) >>"$folder/storms" &
        storm=$!
        sleep 0.5
        throughput "$seconds" "$url" >>"$folder/ours"
        wait $storm
    done
    ours=$(median <"$folder/ours")
    theirs=$(median <"$folder/theirs")
    changes=$(awk '{ due += $1; done += $2; if ($3 > late) late = $3 } END { printf "%d of %d succeeded, sent %d ms late at most", done, due, late }' "$folder/storms")
    row "\`GET /floods\` while states are changed, 200/s ($changes)" "$ours/s" "$theirs/s: no changes" \
        "$(ratio "$ours" "$theirs")" ≥ 0.7 storm
}

# HOW [HEADER]: our cached response compared with the ancestor's, uncached and cached.
beside_ancestor() {
    how=$1
    shift
    : >"$folder/ours"
    : >"$folder/each"
    : >"$folder/cached"
    for _ in $(seq "$runs"); do
        throughput "$seconds" ${1:+--header "$1"} "$(base ours)/v1/floods" >>"$folder/ours"
        # One response takes a fraction of a second, and 16 are requested at once: a shorter run receives hardly any.
        throughput $((seconds < 30 ? 30 : seconds)) ${1:+--header "$1"} "$(base ancestor)/floods" >>"$folder/each"
        # Node continues with requests that wrk has abandoned; this request waits for them.
        curl --silent --fail --output /dev/null "$(base ancestor)/floods"
        throughput "$seconds" ${1:+--header "$1"} "$(base ancestor)/cached/floods" >>"$folder/cached"
    done
    warm=$(median <"$folder/ours")
    each=$(median <"$folder/each")
    cached=$(median <"$folder/cached")
    row "\`GET /floods\`, $how" "$warm/s" "$each/s: CogniCity's stack" "$(ratio "$warm" "$each")" ≥ 1000 ancestor
    row "\`GET /floods\`, $how" "$warm/s" "$cached/s: CogniCity's cache" "$(ratio "$warm" "$cached")" ≥ 3 ancestor
}

row_ancestor() {
    install_packages
    start_database
    serve_anywhere ancestor env NODE_ENV=production node "$folder/ancestor/server.mjs"
    # Fills its cache and warms up Node's compiler.
    for _ in 1 2 3 4 5; do curl --silent --fail --output /dev/null "$(base ancestor)/floods"; done
    for _ in 1 2 3 4 5; do curl --silent --fail --output /dev/null "$(base ancestor)/cached/floods"; done
    beside_ancestor 'gzip, by a browser' 'Accept-Encoding: gzip'
    beside_ancestor 'identity'
    after=$(time_after_change)
    each=$(request_time "$(base ancestor)/floods")
    row '`GET /floods` after a `PUT`, to the last byte' "$after ms" "$each ms: CogniCity's stack" "$(ratio "$each" "$after")" ≥ 50 ancestor
    stop ancestor
}

row_history() {
    start_database
    # Every response is rendered for its request.
    export SIAGA_CACHE__SIZE=0
    SIAGA_DATASET=$folder/dataset serve of_memory target/dist/siaga
    SIAGA_STORE=postgres serve of_postgres target/dist/siaga
    unset SIAGA_CACHE__SIZE
    for what in timeseries archive; do
        theirs=$(for _ in 1 2 3; do
            psql --quiet --command '\timing on' --command '\o /dev/null' --file="$here/$what.sql" "$DATABASE_URL" |
                sed -n 's/^Time: \([0-9.]*\) ms.*/\1/p' | tail -n 1
        done | median)
        for store in memory postgres; do
            ours=$(request_time "$(base of_$store)/v1/floods/$what?$(cat "$folder/period")")
            row "\`GET /floods/$what\`, \`$store\`" "$ours ms" "$theirs ms: CogniCity's function" \
                "$(ratio "$theirs" "$ours")" ≥ 300 history
        done
    done
    stop of_memory
    stop of_postgres
}
