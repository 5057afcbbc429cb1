# shellcheck shell=sh disable=SC2034,SC2154
# Starts and stops the compared servers, each on a free port. `run` sets $here, $folder and $dataset.

servers=
key=key
digest=$(printf %s $key | sha256sum | cut -c1-64)
unset SIAGA_DATASET
export SIAGA_AUTH__API_KEYS="[{name=\"bench\",sha256=\"$digest\",scopes=[\"admin\"]}]" SIAGA_IMAGES__SIGNING_KEY=bench

say() {
    echo "$*" >&2
}

free_port() {
    node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })'
}

# Starts a command as the server $1 and sets ${1}_port, ${1}_pid and ${1}_base once it responds.
serve() {
    serve_name=$1
    shift
    serve_port=$(free_port)
    export SIAGA_IMAGES__URL="file://$folder/images_$serve_name"
    ROCKET_PORT=$serve_port "$@" >"$folder/$serve_name.log" 2>&1 &
    remember "$serve_name" $! "$serve_port"
    await "$serve_name" "http://127.0.0.1:$serve_port/v1/floods/states"
}

# Starts a program that prints the port it chose.
serve_anywhere() {
    serve_name=$1
    shift
    : >"$folder/$serve_name.port"
    "$@" >"$folder/$serve_name.port" 2>"$folder/$serve_name.log" &
    serve_pid=$!
    remember "$serve_name" $serve_pid ''
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        [ ! -s "$folder/$serve_name.port" ] || break
        sleep 0.2
    done
    remember "$serve_name" $serve_pid "$(cat "$folder/$serve_name.port")"
    await "$serve_name" "$(base "$serve_name")/"
}

# Records a server's process and port before it responds, so that it is stopped even if it never does.
remember() {
    case " $servers " in *" $2 "*) ;; *) servers="$servers $2" ;; esac
    echo "$2" >"$folder/$1.pid"
    echo "http://127.0.0.1:$3" >"$folder/$1.base"
}

base() {
    cat "$folder/$1.base"
}

# Waits for any response, at most 30 s.
await() {
    tries=600
    until curl --silent --output /dev/null "$2"; do
        tries=$((tries - 1))
        if [ $tries = 0 ] || ! kill -0 "$(cat "$folder/$1.pid")" 2>/dev/null; then
            say "the server $1 did not start:"
            cat "$folder/$1.log" >&2
            exit 1
        fi
        sleep 0.05
    done
}

stop() {
    stopped=$(cat "$folder/$1.pid")
    kill "$stopped" 2>/dev/null || true
    wait "$stopped" 2>/dev/null || true
    still=
    for server in $servers; do
        [ "$server" = "$stopped" ] || still="$still $server"
    done
    servers=$still
}

stop_all() {
    for server in $servers; do
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    done
    servers=
}

# A data set with a log of states: the given one, or the demo's areas. Writes beside it the inputs of the measurements:
# features.geojson (all areas as the service shows them), areas (their identifiers), period (start and end of the log).
prepare_dataset() {
    mkdir "$folder/dataset"
    if [ "$dataset" = demo ]; then
        SIAGA_DATASET=demo serve source "${SIAGA:-target/dist/siaga}"
    else
        cp -R "$dataset"/* "$folder/dataset/"
        chmod -R u+w "$folder/dataset"
        SIAGA_DATASET=$folder/dataset serve source "${SIAGA:-target/dist/siaga}"
    fi
    curl --silent --fail --output "$folder/floods.json" "$(base source)/v1/floods?geoformat=geojson"
    stop source
    node "$here/dataset.mjs" "$folder/floods.json" "$folder"
}

# Unpacks the ancestor's packages, which encode.mjs needs as well.
install_packages() {
    [ ! -d "$folder/ancestor" ] || return 0
    cp -r "$here/ancestor" "$folder/ancestor"
    npm ci --prefix "$folder/ancestor" --no-audit --no-fund --loglevel=error >&2
}

# A database with the areas and states of the data set, and the log as the ancestor keeps it.
start_database() {
    [ ! -d "$folder/cluster" ] || return 0
    tests/cluster install
    tests/cluster new "$folder/cluster"
    DATABASE_URL=$(tests/cluster start "$folder/cluster")
    export DATABASE_URL
    SIAGA_STORE=postgres "${SIAGA:-target/dist/siaga}" migrate >&2
    SIAGA_STORE=postgres "${SIAGA:-target/dist/siaga}" import "$folder/dataset" >&2
    psql --quiet --set=ON_ERROR_STOP=1 --file=benches/postgres/ancestor.sql "$DATABASE_URL" >&2
}
