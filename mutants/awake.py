"""One build that holds many mutants, each asleep until IOWHY_MUTANT names its number, and its tests.

First every test is run by itself with no mutant awake: how long it takes, and which mutants it meets. Then a mutant is given to the
tests that meet it, quick ones first, until one fails."""
import json, os, re, subprocess, sys, tempfile, threading, time
from collections import defaultdict

# How much slower a test may be with a mutant, and beyond that how many seconds, before it counts as one that does not end.
SLOWER, LATER = 5, 10
# So many seconds of tests are run as one process.
TOGETHER = 2.0
MARKS = re.compile(rb"/\*(?:\{([\d ]+)|<(\d+)|(\})|(>))\*/")


# What works on sums once a reading is over is compiled as it is: optimizing it takes longer than it saves.
LIGHT = [f"--config=profile.dev.package.{c}.opt-level=0" for c in
         "iowhy iowhy-tooltext iowhy-causes iowhy-explain iowhy-report iowhy-plot iowhy-export iowhy-record iowhy-checkup iowhy-lab".split()]


class Untried(Exception):
    pass


class Awake:
    def __init__(self, tree, crates, execute):
        """`execute(command, cwd, env, seconds, stdout)` runs a program and gives its status, "timeout", or None if it was stopped."""
        self.tree, self.crates, self.execute = tree, crates, execute
        self.env = {k: v for k, v in os.environ.items() if k != "CARGO_TARGET_DIR"} | {
            "CARGO_PROFILE_DEV_DEBUG": "0", "CARGO_PROFILE_DEV_OPT_LEVEL": "1", "CARGO_INCREMENTAL": "0", "RUSTFLAGS": "-Awarnings",
            "CARGO_TERM_COLOR": "never",
            "PROPTEST_DISABLE_FAILURE_PERSISTENCE": "true", "CARGO": "cargo"}
        self.locks = defaultdict(threading.Lock)

    def cargo(self, *command):
        """What cargo says, message by message."""
        with tempfile.TemporaryFile("w+") as said:
            status = self.execute(["cargo", *command, "--message-format=json"], self.tree, self.env, 7200, said, nice=False)
            if status is None:
                raise Untried
            said.seek(0)
            told = list(said)
        self.said = "".join(line for line in told if not line.startswith("{"))[-2000:]
        return status, [json.loads(line) for line in told if line.startswith("{")]

    def build(self, restore, mutants):
        """Builds with all of `mutants` (number to what cargo-mutants says) that compile so; gives back the numbers of the others."""
        # What returns `impl Trait` returns one type, and another value would be of another.
        opaque = lambda m: m["genre"] == "FnValue" and "impl " in m["function"]["return_type"]
        without = {i for i, m in mutants.items() if opaque(m)}
        while True:
            restore()
            put = {"root": self.tree, "crates": [f"crates/{c}" for c in self.crates],
                   "mutants": [{k: m[k] for k in ("file", "genre", "span", "replacement")} | {"id": i}
                               for i, m in mutants.items() if i not in without]}
            program = ["cargo", "run", "--quiet", "--release", "--locked", "--manifest-path", "mutants/Cargo.toml"]
            none = subprocess.run(program, cwd=self.tree, env=self.env, input=json.dumps(put), text=True, check=True, stdout=subprocess.PIPE)
            without |= set(json.loads(none.stdout))
            status, said = self.cargo("check", "--locked", "--keep-going", "--lib", *(f"-p=iowhy-{c}" for c in self.crates))
            if status == 0:
                break
            blamed = set()
            for message in said:
                if message.get("reason") == "compiler-message" and message["message"]["level"] == "error":
                    blamed |= self.blamed(message["message"])
            if not blamed - without:
                errors = [m["message"]["rendered"] for m in said if m.get("reason") == "compiler-message" and m["message"]["level"] == "error"]
                sys.exit("no mutant can be blamed for\n" + "\n".join(errors))
            without |= blamed
            print(f"{len(without)} do not compile beside the others", file=sys.stderr, flush=True)
        return without

    def blamed(self, error):
        """The mutants within which an error is."""
        for primary in (True, False):
            found = set()
            for span in error["spans"]:
                if span["is_primary"] == primary:
                    found |= self.within(span["file_name"], span["byte_start"])
            if found:
                return found
        # A match that lacks an arm is at fault because of a guard: the compiler points at what is matched, and at the last arm.
        begins = {span["file_name"]: span["line_start"] for span in error["spans"] if span["is_primary"]}
        spans = [span for child in error["children"] for span in child["spans"]]
        from_match = lambda s: min(begins.get(s["file_name"], s["line_start"]), s["line_start"])
        return set().union(*(self.on_lines(s["file_name"], from_match(s), s["line_end"]) for s in spans))

    def on_lines(self, name, first, last):
        """The mutants that begin on these lines."""
        path = os.path.join(self.tree, name)
        if not os.path.exists(path):
            return set()
        lines = open(path, "rb").read().splitlines()[first - 1:last]
        marks = (mark[1] or mark[2] for line in lines for mark in MARKS.finditer(line))
        return {int(i) for mark in marks if mark for i in mark.split()}

    def within(self, name, offset):
        path, open_marks = os.path.join(self.tree, name), []
        if not os.path.exists(path):
            return set()
        for mark in MARKS.finditer(open(path, "rb").read()):
            if mark.start() > offset:
                break
            if mark[1] or mark[2]:
                open_marks.append((mark[1] or mark[2]).split())
            else:
                open_marks.pop()
        return {int(i) for i in open_marks[-1]} if open_marks else set()

    def programs(self, packages, arguments):
        """The test programs of some packages: path, folder they run in, crate."""
        status, said = self.cargo("test", "--no-run", *LIGHT, "--locked", *(f"-p={p}" for p in packages), *arguments)
        if status != 0:
            errors = [m["message"]["rendered"] for m in said if m.get("reason") == "compiler-message"]
            sys.exit("the tests do not compile:\n" + self.said + "\n".join(errors))
        made = [m for m in said if m.get("reason") == "compiler-artifact" and m["profile"]["test"] and m["executable"]]
        return [(m["executable"], os.path.dirname(m["manifest_path"]), m["target"]["name"]) for m in made]

    def run(self, program, names, number, seconds, met=None):
        path, folder, _ = program
        env = self.env | {"IOWHY_MUTANT": str(number), "RUST_TEST_THREADS": "2", "CARGO_MANIFEST_DIR": folder}
        if met:
            env["IOWHY_MUTANTS_MET"] = met
        with tempfile.TemporaryFile("w+") as said:
            status = self.execute([path, "--exact", *names], folder, env, seconds, said)
            if status not in (0, None):
                said.seek(0)
                self.said = said.read()[-2000:]
        if status is None:
            raise Untried
        return status

    def listed(self, programs):
        """All their tests, each with its program."""
        for program in programs:
            out = subprocess.run([program[0], "--list", "--format=terse"], cwd=program[1], env=self.env, check=True, capture_output=True, text=True)
            for line in out.stdout.splitlines():
                if line.endswith(": test"):
                    yield program, line[: -len(": test")]

    def meet(self, test):
        """Runs a test with no mutant awake: seconds, and the numbers of those that it meets. None if it fails anyway."""
        program, name = test
        with tempfile.TemporaryDirectory() as folder:
            began, met = time.time(), os.path.join(folder, "met")
            # A test that gives up root's rights notes what it meets, too.
            open(met, "w").close()
            os.chmod(folder, 0o755)
            os.chmod(met, 0o666)
            with self.locks[program[0] if program[2] == "transcripts" else name]:
                status = self.run(program, [name], 2**32 - 1, 600, met)
            took = time.time() - began
            if status != 0:
                print(f"fails without any mutant, and is left out: {program[2]} {name}\n{self.said}", file=sys.stderr, flush=True)
                return None
            return took, {int(n) for n in open(met)}

    def judge(self, number, tests):
        """What becomes of a mutant, and which tests noticed; `tests` are (seconds, program, name) of those that meet it."""
        of = defaultdict(list)
        for seconds, program, name in sorted(tests, key=lambda t: t[0]):
            of[program].append((seconds, name))
        parts = []
        for program, mine in of.items():
            part, sum_of = [], 0.0
            for seconds, name in mine:
                if part and sum_of + seconds > TOGETHER:
                    parts.append((sum_of, program, part))
                    part, sum_of = [], 0.0
                part.append(name)
                sum_of += seconds
            parts.append((sum_of, program, part))
        for seconds, program, names in sorted(parts, key=lambda p: p[0]):
            lock = self.locks[program[0]] if program[2] == "transcripts" else threading.Lock()
            with lock:
                status = self.run(program, names, number, seconds * SLOWER + LATER)
            if status == "timeout":
                return "timeout", program[2]
            if status != 0:
                return "caught", program[2]
        return "survived", ""
