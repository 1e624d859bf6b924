# fio, for the loads of its own: reads, appends, writes. Only what writes to files of its own (appends, buffered writes) may make any: each
# job that begins further on in the file that is there reads the less of it, or fio would lay out the rest while it is recorded.
versions() { fio --version; }
store() { fio --name=lay --filename=data --rw=write --bs=1M --size=192M --end_fsync=1 > /dev/null; }
start() { :; }
stop() { :; }
load() {
  local bound="--runtime=$SECONDS_LONG --time_based" how others=$((CLIENTS - 1))
  # Where that is more than the file has, it goes through it again, as it does in the time that is measured.
  [ "$OPS" = 0 ] || bound="--io_size=100G --number_ios=$(((OPS + CLIENTS - 1) / CLIENTS))"
  case $WORKLOAD in
    *-direct-reads) how="--filename=mnt/data --size=192M --rw=randread --bs=4k --direct=1 --ioengine=psync --numjobs=$CLIENTS";;
    *-deep-reads) how="--filename=mnt/data --size=192M --rw=randread --bs=4k --direct=1 --ioengine=libaio --iodepth=$CLIENTS"; [ "$OPS" = 0 ] || bound="--io_size=100G --number_ios=$OPS";;
    *-large-reads) how="--filename=mnt/data --size=$((192 - 16 * others))M --rw=read --bs=1M --direct=1 --ioengine=psync --numjobs=$CLIENTS --offset_increment=16M";;
    *-cold-sequential) how="--filename=mnt/data --size=$((192 - 40 * others))M --rw=read --bs=16k --ioengine=psync --thinktime=300 --numjobs=$CLIENTS --offset_increment=40M --invalidate=1";;
    *-cold-random) how="--filename=mnt/data --size=192M --rw=randread --bs=4k --ioengine=psync --numjobs=$CLIENTS --invalidate=1";;
    *-mmap) how="--filename=mnt/data --size=192M --rw=randread --bs=4k --ioengine=mmap --numjobs=$CLIENTS --invalidate=1";;
    *-appends) how="--directory=mnt --nrfiles=1 --size=64M --rw=write --bs=4k --ioengine=psync --fallocate=none --fdatasync=1 --numjobs=$CLIENTS";;
    *-direct-writes) how="--filename=mnt/data --size=192M --rw=randwrite --bs=16k --direct=1 --ioengine=psync --numjobs=$CLIENTS";;
    *-buffered-writes) how="--directory=mnt --size=512M --rw=write --bs=64k --ioengine=psync --fallocate=none --rate=60m --numjobs=$CLIENTS";;
  esac
  # Its log of latencies is without syncs.
  case $WORKLOAD in *-appends) ;; *) bound="$bound --write_lat_log=load --log_unix_epoch=1";; esac
  fio --name=load $how $bound --thread --group_reporting --allow_file_create=1 --randseed="$SEED" --output-format=json --output=fio.json
  fio_report fio.json
  ! compgen -G 'load_lat.*.log' > /dev/null || awk -F', *' '{printf "%.0f %d\n", $1 * 1000, $2 / 1000}' load_lat.*.log > timeline
}
