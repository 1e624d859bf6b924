"""sqlite.py make DB | journal|wal|reads DB OPS SECONDS SEED: does so many operations (or as long), prints "COUNT MEAN_US"."""
import random, sqlite3, sys, time

what, path = sys.argv[1:3]
db = sqlite3.connect(path, isolation_level=None)
if what == "make":
    db.execute("create table t (n integer primary key, v blob)")
    db.execute("begin")
    db.executemany("insert into t (v) values (?)", ((random.randbytes(1000),) for _ in range(60000)))
    db.execute("commit")
    sys.exit()
ops, seconds, seed = int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5])
chance = random.Random(seed)
db.execute("pragma journal_mode=" + ("wal" if what == "wal" else "delete"))
db.execute("pragma synchronous=full")
db.execute("pragma cache_size=-2000")
done, spent, end, each = 0, 0.0, time.perf_counter() + seconds, []
while done < ops if ops else time.perf_counter() < end:
    n = chance.randrange(1, 60000)
    begun = time.perf_counter()
    if what == "reads":
        db.execute("select length(v) from t where n = ?", (n,)).fetchall()
    else:
        db.execute("update t set v = ? where n = ?", (chance.randbytes(1000), n))
    took = time.perf_counter() - begun
    each.append((time.time(), took))
    spent += took
    done += 1
with open("timeline", "w") as f:
    f.writelines(f"{int(ended * 1e6)} {int(took * 1e6)}\n" for ended, took in each)
print(done, int(spent / done * 1e6))
