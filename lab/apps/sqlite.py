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
each, end = [], time.perf_counter() + seconds
while len(each) < ops if ops else time.perf_counter() < end:
    n = chance.randrange(1, 60000)
    begun = time.perf_counter()
    if what == "reads":
        db.execute("select length(v) from t where n = ?", (n,)).fetchall()
    else:
        db.execute("update t set v = ? where n = ?", (chance.randbytes(1000), n))
    each.append((time.time(), time.perf_counter() - begun))
with open("timeline", "w") as f:
    f.writelines(f"{int(ended * 1e6)} {int(took * 1e6)}\n" for ended, took in each)
print(len(each), int(sum(took for _, took in each) / len(each) * 1e6))
