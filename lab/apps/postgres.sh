# PostgreSQL: commits, cold index reads, scans.
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as() { setpriv --reuid=postgres --regid=postgres --clear-groups "$@"; }
versions() { "$bin/postgres" --version; "$(command -v pgbench)" --version; }
settings() {
  cat <<END
shared_buffers = 16MB
fsync = on
autovacuum = off
max_wal_size = 2GB
checkpoint_timeout = 1h
bgwriter_lru_maxpages = 0
listen_addresses = ''
END
}
store() {
  mkdir db sock; chown postgres db sock; chmod 700 db
  as "$bin/initdb" -D db -U postgres --no-sync > /dev/null; settings >> db/postgresql.conf
  as "$bin/pg_ctl" -D db -o "-k $PWD/sock -c fsync=off" -w start > /dev/null
  pgbench -h "$PWD/sock" -U postgres -i -s ${SCALE:-10} -q postgres
  for i in $(seq $((6 * ${SCALE:-10}))); do
    psql -q -h "$PWD/sock" -U postgres -c "create table chunk$i as select n, md5(n::text) as t from generate_series(1, 20000) n" postgres
  done
  psql -q -h "$PWD/sock" -U postgres -c 'vacuum analyze' -c checkpoint postgres
  as "$bin/pg_ctl" -D db -m fast -w stop > /dev/null; rm -rf sock
}
start() {
  mkdir sock; chown postgres sock; chmod 755 "$DIR"
  as "$bin/postgres" -D "$PWD/mnt/db" -k "$PWD/sock" > server.txt 2>&1 & echo $! > server.pid
  await psql -h "$PWD/sock" -U postgres -c 'select 1' postgres
}
# At once, but its shared memory goes with it.
stop() { kill -QUIT $(below "$(cat server.pid)") 2>/dev/null && sleep 0.3; kill -KILL $(below "$(cat server.pid)") "$(cat server.pid)" 2>/dev/null || true; }
load() {
  local how
  case $WORKLOAD in
    *-reads) how=-S;;
    *-scan) echo '\set i random(1, '$((6 * ${SCALE:-10}))')
select sum(length(t)) from chunk:i' > scan.sql; how="-f scan.sql";;
    *-idle) how="-N -R 60";;
    *-few) how="-N -R 5";;
    *) how=-N;;
  esac
  local bound="-T $SECONDS_LONG"; [ "$OPS" = 0 ] || bound="-t $(((OPS + CLIENTS - 1) / CLIENTS))"
  pgbench -n -h "$PWD/sock" -U postgres $how -c "$CLIENTS" -j 1 $bound --random-seed="$SEED" -l --log-prefix=each postgres > bench.txt
  awk '{printf "%.0f %d\n", $5 * 1e6 + $6, $3}' each.* > timeline
  report "$(awk '/actually processed/ {split($NF, n, "/"); print n[1]}' bench.txt)" "$(awk '/^latency average/ {printf "%d", $4 * 1000}' bench.txt)"
}
