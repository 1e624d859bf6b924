# Tools that handle many files: git, tar, cp and sync, rsync, find, gzip, dpkg, cc.
sets=$((24 * ${SCALE:-10}))
versions() {
  case $WORKLOAD in
    git-*) git --version;; tar-*|untar-*) tar --version | head -1;; rsync-*) rsync --version | head -1;; dpkg-*) dpkg --version | head -1;;
    gzip-*) gzip --version | head -1;; compile-*) gcc --version | head -1;; find-*) find --version | head -1;; *) cp --version | head -1;;
  esac
}
store() {
  local i f
  case $WORKLOAD in
    untar-*) mkdir out;;
    dpkg-*) mkdir -p root/var/lib/dpkg/info root/var/lib/dpkg/updates root/var/lib/dpkg/triggers; : > root/var/lib/dpkg/status; : > root/var/lib/dpkg/available;;
    *) for i in $(seq 0 $sets); do
         mkdir -p "s$i/a" "s$i/b"
         case $WORKLOAD in
           copy-*|gzip-*) head -c 1500K /dev/urandom > "s$i/a/one";;
           compile-*) for f in $(seq 3); do printf '#include <stdio.h>\n#include "h%s.h"\nint f%s(void) { return %s + puts("x"); }\n' $f $f $f > "s$i/a/c$f.c"; seq -f 'int v%.0f;' 400 > "s$i/a/h$f.h"; done;;
           *) for f in $(seq 12); do head -c $((500 + f * 400)) /dev/urandom | base64 > "s$i/a/f$f"; head -c 300 /dev/urandom > "s$i/b/g$f"; done;;
         esac
         case $WORKLOAD in
           git-*) git -C "s$i" init -q; git -C "s$i" add -A; git -C "s$i" -c user.name=x -c user.email=x@x commit -q -m x;;
         esac
       done;;
  esac
}
start() {
  local i f
  case $WORKLOAD in
    untar-*) mkdir t; for i in $(seq 30); do head -c $((i * 300)) /dev/urandom > t/f$i; done; tar cf set.tar t; rm -r t;;
    dpkg-*) mkdir -p p/DEBIAN p/opt; for i in $(seq 12); do head -c 3000 /dev/urandom > p/opt/f$i; done
      for i in $(seq 0 60); do printf 'Package: lab%s\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n' $i > p/DEBIAN/control
        mv p/opt p/lab-$i; dpkg-deb -Znone -b p p$i.deb > /dev/null; mv p/lab-$i p/opt; done; rm -r p;;
    git-*) git config --global --add safe.directory '*';;
  esac
}
stop() { :; }
one() {
  local i=$1
  case $WORKLOAD in
    git-status) git -C "mnt/s$((i % sets))" status --short; git -C "mnt/s$((i % sets))" grep -q nothing-has-this || true;;
    tar-small) tar cf - "mnt/s$((i % sets))" | cat > /dev/null;;
    untar-sync) mkdir "mnt/out/$i"; tar xf set.tar -C "mnt/out/$i"; sync -f "mnt/out/$i";;
    copy-sync) cp "mnt/s$((i % sets))/a/one" "mnt/copy$i"; sync "mnt/copy$i";;
    rsync-small) rsync -a --fsync "mnt/s$((i % sets))/" "mnt/r$i/";;
    rsync-plain) rsync -a "mnt/s$((i % sets))/" "mnt/r$i/";;
    find-cold) find "mnt/s$((i % sets))" -newer /etc/passwd -type f -exec cat '{}' +;;
    gzip-cold) gzip -1 -c "mnt/s$((i % sets))/a/one" > "mnt/z$i";;
    dpkg-install) dpkg --log=/dev/null --force-all --root="$PWD/mnt/root" -i "p$((i % 61)).deb";;
    compile-cold) for f in mnt/s$((i % sets))/a/c*.c; do gcc -O1 -c "$f" -o "${f%.c}.o"; done;;
  esac
}
load() { repeat one; }
