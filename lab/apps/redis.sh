# Redis with an append-only file that is synced at every command.
versions() { redis-server --version; }
store() { mkdir db; }
start() {
  redis-server --dir "$PWD/mnt/db" --port 0 --unixsocket "$PWD/redis.sock" --appendonly yes --save '' \
    --appendfsync "$([ "${WORKLOAD#*-}" = everysec ] && echo everysec || echo always)" > server.txt 2>&1 & echo $! > server.pid
  await redis-cli -s "$PWD/redis.sock" ping
}
stop() { kill -KILL "$(cat server.pid)" 2>/dev/null || true; }
calls() { redis-cli -s "$PWD/redis.sock" info commandstats | sed -n 's/^cmdstat_set:calls=\([0-9]*\).*/\1/p'; }
load() {
  if [ "$OPS" = 0 ]; then
    timeout "$SECONDS_LONG" redis-benchmark -s "$PWD/redis.sock" -t set -d 400 -r 5000 -c "$CLIENTS" -n 10000000 --csv > bench.txt || true
    report "$(calls)" 0
  else
    redis-benchmark -s "$PWD/redis.sock" -t set -d 400 -r 5000 -c "$CLIENTS" -n "$OPS" --csv > bench.txt
    report "$OPS" "$(awk -F'"' '/SET/ {printf "%d", $6 * 1000}' bench.txt)"
  fi
}
