# Key-value stores: etcd, LMDB, LevelDB, and a virtual machine's image by qemu-img.
versions() {
  case $WORKLOAD in
    etcd-*) etcd --version | head -1;; qemu-*) qemu-img --version | head -1;;
    lmdb-*) /usr/bin/python3 -c 'import lmdb; print("LMDB", ".".join(map(str, lmdb.version())))';;
    leveldb-*) /usr/bin/python3 -c 'import plyvel; print("LevelDB by plyvel", plyvel.__version__)';;
  esac
}
store() {
  case $WORKLOAD in
    etcd-*) mkdir -m 700 db;;
    qemu-*) qemu-img create -q -f qcow2 -o preallocation=full image.qcow2 160M;;
    *) /usr/bin/python3 "$APPS/store.py" "$WORKLOAD" make db;;
  esac
}
start() {
  case $WORKLOAD in
    etcd-*) etcd --data-dir "$PWD/mnt/db" --listen-client-urls http://127.0.0.1:23790 --advertise-client-urls http://127.0.0.1:23790 \
        --listen-peer-urls http://127.0.0.1:23800 --initial-advertise-peer-urls http://127.0.0.1:23800 --initial-cluster default=http://127.0.0.1:23800 --log-level error > server.txt 2>&1 & echo $! > server.pid
      await curl -sf http://127.0.0.1:23790/health;;
  esac
}
stop() { [ ! -e server.pid ] || kill -KILL "$(cat server.pid)" 2>/dev/null || true; }
load() {
  local n=$OPS from to
  case $WORKLOAD in
    qemu-*)
      [ "$n" -gt 0 ] || n=200
      # Its cache mode: writes around the page cache, into it, or each made safe.
      local mode; case $((SEED % 3)) in 0) mode=none;; 1) mode=writeback;; 2) mode=directsync;; esac
      qemu-img bench -f qcow2 -t $mode -w -c "$n" -d "$CLIENTS" -s 8192 -S 1064960 --flush-interval="$CLIENTS" mnt/image.qcow2 > bench.txt
      local took; took=$(sed -n 's/.*completed in \([0-9.]*\) seconds.*/\1/p' bench.txt)
      if [ "$OPS" = 0 ]; then report "$(awk -v t="$took" -v s="$SECONDS_LONG" 'BEGIN {printf "%d", 200 * s / t}')" 0
      else report "$n" "$(awk -v t="$took" -v n="$n" -v d="$CLIENTS" 'BEGIN {printf "%d", t * 1e6 * d / n}')"; fi;;
    *) /usr/bin/python3 "$APPS/store.py" "$WORKLOAD" mnt/db "$OPS" "$SECONDS_LONG" "$SEED" "$CLIENTS" > reported;;
  esac
}
