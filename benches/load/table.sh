# shellcheck shell=sh disable=SC2154
# The table: prints measured rows, and replaces the table in the documentation.

# WHAT OURS THEIRS RATIO SENSE TARGET ROW: one line; compares the ratio (a dash: our figure itself) with the target.
row() {
    if [ "$4" = - ]; then value=${2%% *}; else value=$4; fi
    verdict=$(awk -v value="$value" -v sense="$5" -v target="$6" 'BEGIN {
        by = sense == "≥" ? 1 - value / target : value / target - 1
        if (by > 0) printf ", missed"
    }')
    unit=
    if [ "$4" = - ]; then unit=" ${2#* }"; fi
    line="| $1 | $2 | $3 | $4 | $5 $6$unit$verdict |"
    echo "$line" >>"$folder/rows"
    say "ROWS=$7: $line"
}

machine() {
    memory=$(awk '/^MemTotal:/ { printf "%.0f", $2 / 1048576 }' /proc/meminfo)
    cpu=$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)
    database=
    [ ! -d "$folder/cluster" ] || database=", PostgreSQL $(psql --no-align --tuples-only --command 'SHOW server_version' "$DATABASE_URL" | cut -d' ' -f1)"
    hyper=$(awk '/^name = "hyper"$/ { getline; print $3 }' Cargo.lock | tr -d '"')
    echo "${cpu:-unknown processor}, $(nproc) cores, $memory GiB; $(rustc --version | cut -d' ' -f1,2), hyper $hyper, Node $(node --version)$database."
}

table() {
    shown=demo
    if [ "$dataset" != demo ]; then shown=FOLDER; fi
    cat <<TABLE
\`benches/load/run $seconds $shown\` on $(wc -l <"$folder/areas") areas, $(date -u +%F). $(machine)

| what | ours | theirs | ratio | target |
|---|---|---|---|---|
$(cat "$folder/rows")
TABLE
}

# Writes the table between its marks in a file.
write_table() {
    table >"$folder/table"
    if [ "$(grep -c -e '^<!-- load:begin -->$' -e '^<!-- load:end -->$' "$1")" != 2 ]; then
        say "$1 has no marks for the table"
        exit 1
    fi
    awk -v table="$folder/table" '
        /^<!-- load:end -->$/ { inside = 0 }
        !inside { print }
        /^<!-- load:begin -->$/ { inside = 1; while ((getline line < table) > 0) print line }
    ' "$1" >"$folder/page"
    cat "$folder/page" >"$1"
}
