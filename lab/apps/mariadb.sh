# MariaDB: inserts, each committed by itself; cold reads by key.
versions() { mariadbd --version; }
client() { mariadb --socket="$DIR/maria.sock" -u root "$@"; }
store() {
  mkdir db
  mariadb-install-db --no-defaults --datadir="$PWD/db" --auth-root-authentication-method=normal --skip-test-db --innodb-log-file-size=48M > /dev/null 2>&1
  DIR=$PWD; serve "$PWD/db" --innodb-flush-log-at-trx-commit=0
  client -e 'create database lab; use lab; create table lab.t (n int auto_increment primary key, k int, v varchar(400)) engine=innodb;
    insert into lab.t (k, v) select seq, repeat(md5(seq), 8) from seq_1_to_'$((15000 * ${SCALE:-10}))';
    create table lab.i (n int auto_increment primary key, v varchar(400)) engine=innodb; set global innodb_fast_shutdown=0;'
  mariadb-admin --socket="$PWD/maria.sock" -u root shutdown
  for i in $(seq 100); do kill -0 "$(cat server.pid)" 2>/dev/null || break; sleep 0.1; done; rm -f server.pid server.txt maria.sock
}
serve() {
  local data=$1; shift
  mariadbd --no-defaults --user=root --datadir="$data" --socket="$DIR/maria.sock" --skip-networking --innodb-log-file-size=48M \
    --innodb-buffer-pool-size=24M --innodb-buffer-pool-load-at-startup=0 --innodb-buffer-pool-dump-at-shutdown=0 "$@" > "$DIR/server.txt" 2>&1 & echo $! > "$DIR/server.pid"
  await client -e 'select 1'
}
start() { serve "$PWD/mnt/db" --innodb-flush-method="$([ $((SEED % 2)) = 0 ] && echo O_DIRECT || echo fsync)"; }
stop() { kill -KILL "$(cat server.pid)" 2>/dev/null || true; }
queries() { client -N -e "show global status like 'Com_$1'" | awk '{print $2}'; }
load() {
  local what=insert query="insert into i (v) values (repeat('x', 300))" from to
  case $WORKLOAD in *-reads) what=select; query='select length(v) from t where n = 1 + floor(rand() * 150000) limit 1';; esac
  # A function of no arguments is not constant: a prepared number is.
  [ $what = insert ] || query='select length(v) from t, (select 1 + floor(rand() * 150000) as r) x where n = r'
  local before; before=$(queries $what)
  if [ "$OPS" = 0 ]; then
    timeout "$SECONDS_LONG" mariadb-slap --socket="$DIR/maria.sock" -u root --create-schema=lab --no-drop -q "$query" -c "$CLIENTS" --number-of-queries=100000 > bench.txt 2>&1 || true
    report $(($(queries $what) - before)) 0
  else
    mariadb-slap --socket="$DIR/maria.sock" -u root --create-schema=lab --no-drop -q "$query" -c "$CLIENTS" --number-of-queries="$OPS" > bench.txt
    report "$OPS" "$(awk -v c="$CLIENTS" -v n="$OPS" '/Average number of seconds/ {printf "%d", $(NF-1) * 1e6 * c / n}' bench.txt)"
  fi
}
