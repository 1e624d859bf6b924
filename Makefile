# make demo                         build, explain a bundled recording, write a report
# make test                         check formatting, run clippy and all tests
# make slowest                      run the tests and list the slowest
# make test-captures CAPTURES=DIR   run the tests, also with your own large recordings
# make corpus                       judge the recordings of known cause in lab/corpus; writes docs/corpus.md
# make lab [ONLY=NAME]              as root: record them again (half an hour), then judge them
# make lab-vm [ONLY=NAME]           record those of md, dm and SCSI, in a virtual machine with Debian's kernel; needs no root, but
#                                   qemu-system-x86 and apt-get download (75 MB, into target/lab-vm; nothing is installed)
# make lab-kernels [ONLY=SUITE]     the same loads on Debian's kernels 5.10, 6.1, 6.12 and the newest, in virtual machines; writes
#                                   docs/kernels.md (500 MB into target/lab-kernels, half an hour)
# make kernel-names                 after a change of operation/src/stacks: find which kernels have which of its functions (needs kallsyms-finder)
# make lab-vm-checkup               checkups in the virtual machine of lab-vm, on an md RAID 5 (10 min)
# make away SEED=N [CONDITIONS=60]  as root: record real applications under conditions drawn from a seed, run them again without one
#                                   thing at a time, and judge the answers (about 70 s a condition; resumes where it stopped)
# make away-vm SEED=N [CONDITIONS=12] [SUITE=bullseye]  the same in a virtual machine with this or another suite's kernel, where blktrace
#                                   also records; as root, for the data of the applications
# make bench [CAPTURE=DIR] [TRACE=DIR]  compare iowhy with blkparse and btt, and with trace-cmd report; writes docs/benchmarks.md
# make bench-texts                  read 100 MB of fio's log and of blkparse's text; writes docs/benchmarks.md
# make bench-goals                  read a 5 MB capture, and long streams from a pipe; writes docs/benchmarks.md (temporarily 3 GB)
# make bench-pour [GB=100] [CAPTURE_GB=10]  read 100 GB of blktrace from a pipe while it is generated, and 10 GB captures; writes
#                                   docs/benchmarks.md (temporarily as much disk space as the captures)
# make bench-recording              as root: measure the cost of recording, beside trace-cmd record; writes docs/benchmarks.md
# make mails DIR=...                read folders of mails or mboxes and report: recognised, runs, causes, impossible numbers
# make page                         after a change to crates/report/page: rebuild its script (needs npm)
# make page-pictures                take screenshots of the page, into docs/page (needs npm, Chromium, ffmpeg)
# make page-long                    open the page of ten million requests in Chromium (temporarily 2 GB)
# make static                       build static programs for x86_64 and aarch64, into target/dist
# make dist                         as root: build these programs and packages, try each in a fresh system (docs/releasing.md)
# make reproducible                 after make dist: build again in another folder and compare every byte
# make fuzz [FUZZ_SECONDS=300] [ONLY=TARGET]  fuzz each parser with libFuzzer for FUZZ_SECONDS
# make mutants [N=400] [SEED=1]     mutation testing: draw N small changes of five crates by SEED, list those that no test notices
# make oldest                       check that the oldest Rust that Cargo.toml claims compiles it (Debian's own, fetched, not installed)
# make book                         build the documents as a site, into target/book (needs mdbook)
# make install [PREFIX=/usr/local]  install the program, manual pages, completions
# make bless                        after an intended change: update the expected output in documents and golden files

CARGO   ?= cargo
PREFIX  ?= /usr/local
DESTDIR ?=
TARGET  := $(abspath $(or $(CARGO_TARGET_DIR),target))
IOWHY   := $(TARGET)/release/iowhy
QUICK   := $(TARGET)/quick/iowhy
DEMO    := fixtures/randread-vs-bufferedwrite
# Long recordings are made by repeating this one: fast devices produce long recordings.
LONG    := fixtures/nullblk-randrw

.PHONY: all demo page page-pictures page-long test slowest test-captures corpus lab lab-vm lab-vm-checkup lab-kernels kernel-machines kernel-names away away-vm bench bench-texts bench-goals bench-pour bench-recording mails install bless \
    static dist reproducible fuzz mutants oldest book picture quick release toolchain clean

all: release

toolchain:
	@CARGO='$(CARGO)' scripts/need-toolchain

release: toolchain
	$(CARGO) build --release --locked -p iowhy

# Built in a third of the time. Users run the build of `make release`.
quick: toolchain
	$(CARGO) build --profile quick --locked -p iowhy

demo: quick
	@mkdir -p $(TARGET)/demo
	@echo; echo '$$ iowhy explain $(DEMO)'
	@$(QUICK) explain $(DEMO)
	@$(QUICK) report $(DEMO) > $(TARGET)/demo/report.txt
	@$(QUICK) explain --json $(DEMO) > $(TARGET)/demo/explain.json
	@echo; echo 'All tables:    $(TARGET)/demo/report.txt'
	@echo 'For scripts:   $(TARGET)/demo/explain.json'
	@echo 'What happened: $(DEMO)/README.md'

test: toolchain
	@scripts/need-test-tools
	@scripts/check-page
	@scripts/check-deny
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	BESIDE='scripts/check-page --browser $(TARGET)/debug/iowhy' CARGO='$(CARGO)' scripts/test

slowest: toolchain
	scripts/slowest-tests

test-captures: toolchain
	@test -n '$(CAPTURES)' || { echo 'usage: make test-captures CAPTURES=DIR (a folder of recordings)' >&2; exit 2; }
	folder=$$(scripts/captures '$(CAPTURES)' '$(TARGET)/captures') && \
	CAPTURES="$$folder" $(CARGO) test --locked --workspace --no-fail-fast --profile captures

# Built with the tests' profile: judging is hardly slower, and the tests reuse the build.
corpus: toolchain
	$(CARGO) build --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/debug/lab judge --out docs/corpus.md

lab: toolchain
	$(CARGO) build --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/debug/lab record $(ONLY)
	$(TARGET)/debug/lab judge --out docs/corpus.md

kernel-machines:
	for suite in bullseye bookworm trixie sid; do lab/machine/make $(TARGET)/lab-kernels/$$suite $$suite || exit 1; done

kernel-names: kernel-machines
	scripts/kernel-names $(TARGET)/lab-kernels

lab-kernels: toolchain kernel-machines
	$(CARGO) build --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/debug/lab kernels --machines $(TARGET)/lab-kernels $(ONLY)

lab-vm: toolchain
	lab/machine/make $(TARGET)/lab-vm
	$(CARGO) build --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/debug/lab record --machine $(TARGET)/lab-vm $(ONLY)
	$(TARGET)/debug/lab judge --out docs/corpus.md

lab-vm-checkup: toolchain
	lab/machine/make $(TARGET)/lab-vm
	$(CARGO) build --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/debug/lab checkup --machine $(TARGET)/lab-vm

away: toolchain
	@test -n '$(SEED)' || { echo 'usage: make away SEED=N [CONDITIONS=60]' >&2; exit 2; }
	$(CARGO) build --profile quick --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/quick/lab away --seed $(SEED) --conditions $(or $(CONDITIONS),60) --out $(TARGET)/away
	$(TARGET)/quick/lab away-judge --iowhy $(QUICK) $(TARGET)/away/SEED-$(SEED)

away-vm: toolchain
	@test -n '$(SEED)' || { echo 'usage: make away-vm SEED=N [CONDITIONS=12] [SUITE=bullseye]' >&2; exit 2; }
	lab/machine/make $(or $(SUITE:%=$(TARGET)/lab-kernels/%),$(TARGET)/lab-vm) $(SUITE)
	$(CARGO) build --profile quick --locked -p iowhy -p iowhy-slowdisk -p iowhy-lab
	$(TARGET)/quick/lab away --machine $(or $(SUITE:%=$(TARGET)/lab-kernels/%),$(TARGET)/lab-vm) --seed $(SEED) --conditions $(or $(CONDITIONS),12) --out $(TARGET)/away-vm
	$(TARGET)/quick/lab away-judge --iowhy $(QUICK) $(TARGET)/away-vm/SEED-$(SEED)

bench: release
	@command -v blkparse >/dev/null && command -v btt >/dev/null || \
	    { echo 'blkparse and btt are what iowhy is measured beside: apt-get install blktrace' >&2; exit 1; }
	$(CARGO) xtask bench --iowhy $(IOWHY) --seed $(LONG) --scratch $(TARGET)/bench --out docs/benchmarks.md \
	    $(if $(CAPTURE),--capture '$(CAPTURE)') $(if $(TRACE),--trace '$(TRACE)')

bench-texts: release
	$(CARGO) xtask bench-texts --iowhy $(IOWHY) --seed $(LONG) --scratch $(TARGET)/bench-texts --out docs/benchmarks.md

bench-goals: release
	$(CARGO) xtask bench-goals --iowhy $(IOWHY) --capture fixtures/volume-249-iops/capture.tar.zst --seed $(LONG) \
	    --scratch $(TARGET)/bench-goals --out docs/benchmarks.md

bench-pour: release
	$(CARGO) xtask bench-pour --iowhy $(IOWHY) --capture fixtures/volume-249-iops/capture.tar.zst --seed $(LONG) \
	    --gb $(or $(GB),100) --capture-gb $(or $(CAPTURE_GB),10) --scratch $(TARGET)/bench-pour --out docs/benchmarks.md

bench-recording: release
	$(CARGO) xtask recording-cost --iowhy $(IOWHY) --out docs/benchmarks.md

mails: toolchain
	@test -n '$(DIR)' || { echo 'usage: make mails DIR=... (folders of mails, one a file, or of mboxes)' >&2; exit 2; }
	$(CARGO) run --locked --quiet -p xtask -- mails $(DIR)

page:
	@scripts/check-page --build

page-pictures: release
	@scripts/check-page --browser $(IOWHY) $(abspath docs/page)

# Ten million requests: the page stays small and opens fast, and its numbers equal those of --json.
page-long: release
	rm -rf $(TARGET)/bench/long && mkdir -p $(TARGET)/bench/long
	$(CARGO) xtask repeat --times 1150 $(LONG) $(TARGET)/bench/long
	@scripts/check-page --browser-of $(IOWHY) $(TARGET)/bench/long; status=$$?; rm -rf $(TARGET)/bench/long; exit $$status

MACHINES ?= x86_64 aarch64

static: toolchain
	@for machine in $(MACHINES); do scripts/build-static $$machine $(TARGET)/dist/$$machine || exit 1; done

dist:
	@scripts/need-package-tools $(MACHINES)
	@$(MAKE) --no-print-directory static
	scripts/package-all $(TARGET)/dist $(MACHINES)
	scripts/try-packages $(TARGET)/dist

reproducible: toolchain
	scripts/reproducible $(TARGET)/dist $(MACHINES)

fuzz: toolchain
	scripts/fuzz $(ONLY)

mutants: toolchain
	scripts/mutants $(or $(N),400) $(or $(SEED),1)

oldest:
	scripts/check-oldest

book:
	scripts/book $(TARGET)/book

install: release
	install -s -D -m 755 $(IOWHY) $(DESTDIR)$(PREFIX)/bin/iowhy
	mkdir -p $(DESTDIR)$(PREFIX)/share/man/man1
	$(IOWHY) man --all $(DESTDIR)$(PREFIX)/share/man/man1
	mkdir -p $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	$(IOWHY) completions bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/iowhy
	$(IOWHY) completions zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_iowhy
	$(IOWHY) completions fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/iowhy.fish

bless: toolchain
	TRYCMD=overwrite $(CARGO) test --locked -p iowhy --test transcripts
	BLESS=1 $(CARGO) test --locked -p iowhy-report -p iowhy-export --tests
	BLESS=1 $(CARGO) test --locked -p iowhy --test iowhy_tests schemas::
	BLESS=1 $(CARGO) test --locked -p iowhy-tooltext --test tooltext_tests versions::
	@$(MAKE) --no-print-directory picture

picture: release
	$(IOWHY) explain $(DEMO) | $(CARGO) xtask picture --command 'iowhy explain $(DEMO)' --out docs/explain.svg

clean:
	$(CARGO) clean
