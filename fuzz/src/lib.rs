//! What is fuzzed: one target for each family of parsers.
//!
//! A target takes any bytes and must come back: without a panic, soon, and in little memory. The driver (`fuzz/driver`, built by
//! `make fuzz` alone) hands it what libFuzzer thinks of; the tests hand it its seeds, and what fuzzing once found (`fuzz/found`).

mod families;
mod recordings;
mod scratch;
mod seed;
mod seeds;
mod target;
mod texts;

pub use seed::Seed;
pub use seeds::seeds;
pub use target::Target;

const KIB: usize = 1 << 10;

/// All of them.
pub const TARGETS: &[Target] = &[
    Target { name: "blktrace", run: recordings::blktrace, longest: 16 * KIB },
    Target { name: "trace-dat", run: recordings::trace_dat, longest: 128 * KIB },
    Target { name: "perf-data", run: recordings::perf_data, longest: 128 * KIB },
    Target { name: "pages", run: recordings::pages, longest: 32 * KIB },
    Target { name: "packed", run: recordings::packed, longest: 64 * KIB },
    Target { name: "stream", run: recordings::stream, longest: 64 * KIB },
    Target { name: "redact", run: recordings::redact, longest: 128 * KIB },
    Target { name: "blkparse-text", run: recordings::text, longest: 8 * KIB },
    Target { name: "trace-text", run: recordings::text, longest: 8 * KIB },
    Target { name: "answer", run: recordings::answer, longest: 16 * KIB },
    Target { name: "answer-dat", run: recordings::answer_dat, longest: 128 * KIB },
    Target { name: "answer-text", run: recordings::answer_text, longest: 16 * KIB },
    Target { name: "tool-text", run: texts::tool_text, longest: 8 * KIB },
    Target { name: "text-fio", run: texts::judged, longest: 8 * KIB },
    Target { name: "text-tables", run: texts::judged, longest: 8 * KIB },
    Target { name: "text-benchmarks", run: texts::judged, longest: 8 * KIB },
    Target { name: "text-bpf", run: texts::judged, longest: 8 * KIB },
    Target { name: "text-kernel", run: texts::judged, longest: 8 * KIB },
    Target { name: "text-lines", run: texts::judged, longest: 8 * KIB },
    Target { name: "mails", run: texts::quoted, longest: 8 * KIB },
    Target { name: "other-json", run: texts::tool_text, longest: 8 * KIB },
    Target { name: "fio-json", run: texts::tool_text, longest: 32 * KIB },
    Target { name: "fio-log", run: texts::fio_log, longest: 8 * KIB },
    Target { name: "system-json", run: texts::system_json, longest: 32 * KIB },
    Target { name: "samples", run: texts::samples, longest: 16 * KIB },
    Target { name: "settings", run: texts::settings, longest: 8 * KIB },
    Target { name: "arguments", run: texts::arguments, longest: 256 },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
