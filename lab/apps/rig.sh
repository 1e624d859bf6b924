# One run of one application on one slow disk. Sourced by nothing, run by the lab:
#
#   bash rig.sh versions          what the application is, a line each
#   bash rig.sh store DIR         its data, made once on a fast file system
#   bash rig.sh image FILE        the disk before every run: a file system with that data in it
#   bash rig.sh run               one run in an empty folder DIR; with RECORD also a recording
#
# An application's file defines versions, store, start, load and stop. `load` does OPS operations, or as many as SECONDS hold where OPS
# is 0, and ends with `report COUNT MEAN_US`, both as the application itself (or the clock around it) says. Where it says of each
# operation when it ended and how long it took, in us, these are lines of the file `timeline`.
#
# Invariant: whatever happens, no process, mount or loop device of a run outlives it.
set -eu
. "$APPS/lib.sh"
. "$APPS/$APP.sh"

end_all() {
  local p
  for p in $neighbours; do kill -KILL -- "-$p" $(below "$p") 2>/dev/null || true; done
  for p in $neighbours; do wait "$p" 2>/dev/null || true; done
  neighbours=
}

make_fs() {
  case $FS in
    ext4) mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard $MKFS "$1";;
    xfs) mkfs.xfs -q -f -K $MKFS "$1";;
    btrfs) mkfs.btrfs -q -f -K $MKFS "$1";;
    none) ;;
  esac
}

# 8,000 folders of two files whose names are so long that XFS does not keep them in the folder's inode.
tree() {
  local a b long; long=$(printf 'x%.0s' {1..180})
  for a in {1..80}; do mkdir -p "$1/$a/"{1..100}; for b in 1 2; do touch "$1/$a/"{1..100}"/$long$b"; done; done
}

image() {
  cd "$DIR"; mkdir -p mnt
  rm -f "$1"; truncate -s "${SIZE}M" "$1"
  dev=$(losetup -f --show "$1"); trap 'umount mnt 2>/dev/null || true; losetup -d $dev' EXIT
  make_fs "$dev"
  [ "$FS" != none ] || return 0
  mount "$dev" mnt
  [ -z "$STORE" ] || cp -a "$STORE/." mnt/
  # What neighbours read.
  mkdir mnt/beside; chmod 777 mnt/beside
  case " $NEIGHBOURS " in *" updatedb "*) tree mnt/beside/tree;; esac
  [ -z "$NEIGHBOURS" ] || { head -c 160M /dev/urandom > mnt/beside/big
    for d in $(seq 40); do mkdir mnt/beside/d$d; for f in $(seq 20); do head -c 3000 /dev/urandom > mnt/beside/d$d/f$f; done; done; }
  sync -f mnt
}

ready() {
  echo none > $queue/scheduler; echo 64 > $queue/nr_requests; echo 128 > $queue/nr_requests; echo 0 > $queue/stable_writes
  echo 0 > $queue/nomerges; echo "$ROTATIONAL" > $queue/rotational; echo 1280 > $queue/max_sectors_kb; echo 128 > $queue/read_ahead_kb
  echo 2000 > $queue/wbt_lat_usec 2>/dev/null || true; echo 'write back' > $queue/write_cache
  bdi=/sys/class/bdi/$(cat /sys/block/$name/dev)
  # Since Linux 6.2.
  [ ! -e $bdi/strict_limit ] || echo 0 > $bdi/strict_limit
  echo 100 > $bdi/max_ratio
}
workers() { for p in $(pgrep '^kworker/[0-9u]'); do chrt $1 -p $2 $p 2>/dev/null || true; done; }

# A disk of the condition's kind with its file system: the application's, or a second one for the neighbours that are moved away from it.
disk() {
  local at=m$1 options=$MOUNT
  mkdir "$at" "mnt$1"; cp --sparse=always "$IMAGE" "data/b$1"
  # Two file systems of one number are one for btrfs, and too many for XFS.
  case $FS$1 in btrfs2) btrfstune -f -u data/b2 > /dev/null;; xfs2) options=${MOUNT:+$MOUNT,}nouuid;; esac
  chrt -r 2 "$SLOWDISK" "$at" --backing "data/b$1" --size "$SIZE" $DISK & slow="$slow $!"
  for i in $(seq 50); do [ -e "$at/disk" ] && break; sleep 0.1; done
  fuses="$fuses $(stat -c %Ld "$at")"; mountpoint -q /sys/fs/fuse/connections || mount -t fusectl none /sys/fs/fuse/connections
  dev=$(losetup -f --show --direct-io=on "$at/disk"); devs="$devs $dev"; name=$(basename "$dev"); queue=/sys/block/$name/queue
  export dev name queue
  ready
  eval "$SETUP"
  [ "$FS" = none ] || mount ${options:+-o $options} "$dev" "mnt$1"
}

# The disk answers nothing more: what is still to be written fails at once instead of being waited for.
take_apart() {
  trap - EXIT; set +e; cd "$DIR"
  workers -o 0; end_all; stop 2>/dev/null
  for p in $hogs; do kill -KILL $p; wait $p; done 2>/dev/null
  # What is held back would be held back still.
  for kind in read_iops write_iops read_bps write_bps; do echo "$(cat /sys/block/$name/dev) 0" > /sys/fs/cgroup/blkio/lab-$$/blkio.throttle.${kind}_device; done 2>/dev/null
  for fuse in $fuses; do echo 1 > /sys/fs/fuse/connections/$fuse/abort; done
  for at in mnt mnt2; do
    mountpoint -q $at || continue
    for i in $(seq 20); do umount $at 2>/dev/null && break; fuser -k -M -m $at > /dev/null 2>&1; sleep 0.2; done
    ! mountpoint -q $at || umount -l $at
  done
  for dev in $devs; do name=$(basename "$dev"); queue=/sys/block/$name/queue; ready; losetup -d $dev; sleep 0.1; done
  for at in m m2; do ! mountpoint -q $at || umount $at 2>/dev/null || umount -l $at; done
  wait $slow 2>/dev/null; umount data || umount -l data
  rmdir /sys/fs/cgroup/blkio/lab-$$ /sys/fs/cgroup/memory/lab-$$ 2>/dev/null
}

# Neighbours, each a shell of its own.
neighbours() {
  local n text at
  for n in $NEIGHBOURS; do
    text=$(jq -r --arg n "$n" '.[$n]' <<< "$NEIGHBOUR_COMMANDS")
    case " $MOVED " in *" $n "*) at=mnt2;; *) at=mnt;; esac
    set -m; (cd $at/beside 2>/dev/null || true; eval "$text") > "neighbour-$n.txt" 2>&1 & neighbours="$neighbours $!"; set +m
  done
}

run() {
  cd "$DIR"; neighbours=; hogs=; slow=; fuses=; devs=
  trap take_apart EXIT
  mkdir data; mount -t tmpfs -o noswap data data 2>/dev/null || mount -t tmpfs data data
  [ -z "$MOVED" ] || disk 2
  disk ""
  # The application's own groups: their limits are the application's.
  for kind in blkio memory; do
    mkdir /sys/fs/cgroup/$kind/lab-$$; group=/sys/fs/cgroup/$kind/lab-$$; number=$(cat /sys/block/$name/dev)
    case $kind in blkio) eval "$BLKIO";; memory) eval "$MEMORY";; esac
  done
  groups() { echo $BASHPID > /sys/fs/cgroup/blkio/lab-$$/cgroup.procs; echo $BASHPID > /sys/fs/cgroup/memory/lab-$$/cgroup.procs; }
  (groups; cd "$DIR"; start) > start.txt 2>&1 || { cat start.txt >&2; return 1; }
  for i in $(seq "$HOGS"); do (while :; do :; done) & hogs="$hogs $!"; done
  workers -r 1
  # When neighbours begin, seconds after the load; before it where negative.
  recorder=; fast=$(awk "BEGIN { print ($BEGIN < 0) }")
  [ "$fast" = 0 ] || { neighbours; sleep "${BEGIN#-}"; }
  # Runs that are not recorded begin as late: what neighbours have done by then counts.
  case ${WHEN:-$RECORD} in
    before) [ "$RECORD" = no ] || { record & recorder=$!; }; sleep "$BEFORE";;
    cut) [ "$RECORD" = no ] || { a_part & recorder=$!; }; sleep "$BEFORE";;
  esac
  (groups; cd "$DIR"; load) > load.txt 2>&1 & load=$!
  [ "$fast" = 1 ] || { sleep "$BEGIN"; neighbours; }
  case $RECORD in middle) sleep "$MIDDLE"; a_part & recorder=$!;; esac
  wait $load || { cat load.txt >&2; return 1; }
  sleep 0.2
  if [ -n "$recorder" ]; then
    # One that records a fixed time ends by itself.
    [ "$RECORD" != before ] || kill -INT $(pgrep -P $recorder) $recorder 2>/dev/null || true
    wait $recorder || { cat record.txt >&2; return 1; }
  fi
}
# What iowhy asks for where a recording lacks it. trace-cmd also writes files of function tracing, which some kernels refuse.
traced() {
  local hidden long=$1; mkdir -p "$CAPTURE"; echo 1 > hidden
  # Without it trace-cmd 3.1.6 ends with a segmentation fault. A run has its own mounts.
  [ -e /sys/kernel/tracing/events ] || mount -t tracefs trace /sys/kernel/tracing
  case $long in *ms) long=$(awk "BEGIN { print ${long%ms} / 1000 }");; esac
  for hidden in /proc/sys/kernel/ftrace_enabled /sys/kernel/tracing/set_{ftrace_filter,ftrace_notrace,graph_function,graph_notrace,ftrace_pid}; do
    [ ! -e $hidden ] || mount --bind hidden $hidden
  done
  timeout --foreground -s INT "$long" trace-cmd record -b 16384 -e block -e raw_syscalls -e sched:sched_switch -e sched:sched_waking -o "$CAPTURE/trace.dat" \
    > record.txt 2>&1 || [ $? = 124 ]
}
# blktrace(8), which writes a file for each processor.
blocks() {
  local long=$1; mkdir -p "$CAPTURE"
  case $long in *ms) long=$(awk "BEGIN { print ${long%ms} / 1000 }");; esac
  timeout --foreground -s INT "$long" blktrace -d "$dev" -D "$CAPTURE" > record.txt 2>&1 || [ $? = 124 ]
}
record() {
  local long=60s scope=; [ "$RECORD" = before ] || long=$RECORD_LONG
  case $DETAIL in trace-cmd) traced $long; return;; blktrace) blocks $long; return;; esac
  [ -n "$WHOLE_MACHINE" ] || scope="--device $dev"
  exec "$IOWHY" record $scope --detail "$DETAIL" --for $long -o "$CAPTURE" > record.txt 2>&1
}
# Records a fixed time; the file `window` says from when to when, in us.
a_part() { echo "${EPOCHREALTIME/./}" > window; (record) || return; echo "${EPOCHREALTIME/./}" >> window; }

case $1 in
  versions) versions;;
  store) mkdir -p "$2"; cd "$2"; store; sync -f .;;
  image) image "$2";;
  run) run;;
esac
