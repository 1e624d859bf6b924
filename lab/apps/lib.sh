# What files of applications use: how operations are timed and reported, and how a server is waited for. DIR is the folder of a run.

report() { echo "$1 $2" > "$DIR/reported"; }

# Runs a command again and again, told how often before; its operations are timed by the clock around it.
repeat() {
  local n=0 spent=0 from to end
  end=$((${EPOCHREALTIME/./} + SECONDS_LONG * 1000000))
  while :; do
    from=${EPOCHREALTIME/./}
    "$@" $n > "$DIR/repeat.txt" 2>&1 || { cat "$DIR/repeat.txt" >&2; return 1; }
    to=${EPOCHREALTIME/./}
    spent=$((spent + to - from)); n=$((n + 1)); echo "$to $((to - from))" >> "$DIR/timeline"
    if [ "$OPS" -gt 0 ]; then [ $n -lt "$OPS" ] || break; else [ $to -lt $end ] || break; fi
  done
  report $n $((spent / n))
}

# What fio says of its operations: reads or writes, with the sync that belongs to each.
fio_report() {
  jq -r '[.jobs[0] | .read, .write | select(.total_ios > 0)] as $k | ($k | map(.total_ios) | add) as $n
    | (.jobs[0].sync // {}) as $s
    | "\($n) \((($k | map(.total_ios * .lat_ns.mean) | add) + (($s.lat_ns.mean // 0) * ($s.lat_ns.N // 0))) / $n / 1000 | floor)"' "$1" > "$DIR/reported"
}

# How much an application that runs forever has done is asked for after SECONDS.
bounded() { timeout -s INT "$SECONDS_LONG" "$@" || [ $? = 124 ]; }

# Waits for a server, 20 s at most.
await() { local i; for i in $(seq 200); do "$@" > /dev/null 2>&1 && return; sleep 0.1; done; echo "it does not start: $*" >&2; return 1; }

below() { local child; for child in $(pgrep -P "$1"); do echo "$child"; below "$child"; done; }
