"""store.py WORKLOAD make DB | WORKLOAD DB OPS SECONDS SEED CLIENTS: does so many operations (or as long), prints "COUNT MEAN_US"."""
import base64, http.client, json, random, sys, threading, time

name = sys.argv[1]
if sys.argv[2] == "make":
    if name.startswith("lmdb"):
        import lmdb
        env = lmdb.open(sys.argv[3], map_size=400 << 20)
        with env.begin(write=True) as txn:
            for n in range(100000):
                txn.put(b"%08d" % n, random.randbytes(1000))
    else:
        import plyvel
        db = plyvel.DB(sys.argv[3], create_if_missing=True)
        for n in range(30000):
            db.put(b"%08d" % n, random.randbytes(1000))
    sys.exit()
path, ops, seconds, seed, clients = sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]), int(sys.argv[6])

if name.startswith("lmdb"):
    import lmdb
    env = lmdb.open(path, map_size=400 << 20, readahead=False)
elif name.startswith("leveldb"):
    import plyvel
    db = plyvel.DB(path)


def client(of, out):
    chance = random.Random(seed + of)
    if name == "lmdb-reads":
        def one():
            with env.begin() as txn:
                txn.get(b"%08d" % chance.randrange(100000))
    elif name == "lmdb-commits":
        def one():
            with env.begin(write=True) as txn:
                txn.put(b"%08d" % chance.randrange(100000), chance.randbytes(1000))
    elif name.startswith("leveldb"):
        def one():
            db.put(b"%08d" % chance.randrange(30000), chance.randbytes(1000), sync=True)
    else:
        link = http.client.HTTPConnection("127.0.0.1", 23790)

        def one():
            body = {"key": base64.b64encode(b"k%d" % chance.randrange(1000)).decode(), "value": base64.b64encode(chance.randbytes(300)).decode()}
            link.request("POST", "/v3/kv/put", json.dumps(body))
            link.getresponse().read()
    mine, done, end = ops // clients, 0, time.perf_counter() + seconds
    while done < mine if ops else time.perf_counter() < end:
        begun = time.perf_counter()
        one()
        took = time.perf_counter() - begun
        out.append((time.time(), took))
        done += 1


out = []
threads = [threading.Thread(target=client, args=(n, out)) for n in range(clients)]
for t in threads:
    t.start()
for t in threads:
    t.join()
with open("timeline", "w") as f:
    f.writelines(f"{int(ended * 1e6)} {int(took * 1e6)}\n" for ended, took in out)
print(len(out), int(sum(took for _, took in out) / len(out) * 1e6))
