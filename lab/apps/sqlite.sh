# SQLite through Debian's Python: a transaction an insert, with a rollback journal or a write-ahead log.
versions() { /usr/bin/python3 -c 'import sqlite3; print("SQLite", sqlite3.sqlite_version)'; }
store() { /usr/bin/python3 "$APPS/sqlite.py" make db; }
start() { :; }
stop() { :; }
load() { /usr/bin/python3 "$APPS/sqlite.py" "${WORKLOAD#*-}" mnt/db "$OPS" "$SECONDS_LONG" "$SEED" > reported; }
