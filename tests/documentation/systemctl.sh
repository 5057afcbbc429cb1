# A stand-in for systemd in the server tutorial.
stop() {
    if [ -e pid ]; then
        kill "$(cat pid)"
        while kill -0 "$(cat pid)" 2>/dev/null; do sleep 0.05; done
        rm pid
    fi
}
start() {
    if [ -e pid ]; then return; fi
    # Here, because the line of the last start must be gone before it is looked for.
    : >served
    siaga serve >>served 2>&1 &
    echo $! >pid
    until grep -q " serves " served; do
        kill -0 "$(cat pid)" || { cat served >&2; exit 1; }
        sleep 0.05
    done
}
case "$*" in
"enable --now siaga" | "start siaga") start ;;
"restart siaga") stop; start ;;
"stop siaga") stop ;;
"status siaga") kill -0 "$(cat pid)" ;;
"start siaga-backup")
    # Two backups in one second need two names.
    count=$(ls ROOT/var/backups/siaga | wc -l)
    sed -n 's/^ExecStart=//p' ROOT/etc/systemd/system/siaga-backup.service | sed "s/%%/%/g; s/%S)/%S)-$count/" >backup
    sh -eu backup
    ;;
"enable --now siaga-backup.timer") grep -q "^OnCalendar=" ROOT/etc/systemd/system/siaga-backup.timer ;;
"daemon-reload" | "reload caddy") ;;
*)
    echo "systemctl $*: no stand-in" >&2
    exit 1
    ;;
esac
