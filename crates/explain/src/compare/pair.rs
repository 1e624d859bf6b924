//! Matches the kinds of operations of two recordings.
//!
//! Kinds with the same name match. The file system is a part of the name, but a recording does not always have it: a read from the page cache
//! causes no event of ext4. So operations on an unknown file system match the only kind of that name that is left on the other side, if it
//! is unambiguous.

use trace::Fs;

/// The name of a kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// Examples: `reads`, `reads on vda`.
    pub what: String,
    /// The file system; `None` for bios.
    pub fs: Option<Fs>,
}

impl Name {
    /// The name in a sentence. Example: `reads (ext4)`.
    pub fn told(&self) -> String {
        match self.fs {
            Some(fs) if fs != Fs::Unknown => format!("{} ({})", self.what, fs.name()),
            _ => self.what.clone(),
        }
    }

    /// The name with the known file system.
    pub fn better<'a>(&'a self, other: &'a Name) -> &'a Name {
        if self.is_unknown() {
            other
        } else {
            self
        }
    }

    /// Replaces a device number at the end by the name in the other recording.
    pub fn on_device(mut self, aliases: &[(String, String)]) -> Name {
        for (number, name) in aliases {
            if let Some(what) = self.what.strip_suffix(number.as_str()) {
                self.what = format!("{what}{name}");
                break;
            }
        }
        self
    }

    fn is_unknown(&self) -> bool {
        self.fs == Some(Fs::Unknown)
    }
}

/// Index pairs of matching kinds, in the order of `before`. Kinds with the same name match in their order.
pub(super) fn pairs(before: &[Name], after: &[Name]) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = vec![];
    for (b, name) in before.iter().enumerate() {
        let is_free = |at: &usize| !found.iter().any(|(_, a)| a == at);
        let same = (0..after.len()).find(|at| after[*at] == *name && is_free(at));
        found.extend(same.map(|a| (b, a)));
    }
    let left = |all: &[Name], what: &str, taken: &dyn Fn(usize) -> bool| -> Vec<usize> {
        (0..all.len()).filter(|at| !taken(*at) && all[*at].what == what).collect()
    };
    for (b, name) in before.iter().enumerate() {
        let of_before = left(before, &name.what, &|at| found.iter().any(|(b, _)| *b == at));
        let of_after = left(after, &name.what, &|at| found.iter().any(|(_, a)| *a == at));
        if let ([only], [a]) = (of_before.as_slice(), of_after.as_slice()) {
            if *only == b && name.is_unknown() != after[*a].is_unknown() {
                found.push((b, *a));
            }
        }
    }
    found.sort_unstable();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(of: &[(&str, Option<Fs>)]) -> Vec<Name> {
        of.iter().map(|(what, fs)| Name { what: what.to_string(), fs: *fs }).collect()
    }

    #[test]
    fn an_unknown_file_system_is_the_only_one_that_is_left() {
        let (ext4, xfs, unknown) = (Some(Fs::Ext4), Some(Fs::Xfs), Some(Fs::Unknown));
        let told = |b: &[(&str, Option<Fs>)], a: &[(&str, Option<Fs>)]| pairs(&names(b), &names(a));
        // One name matches one kind, whatever else there is.
        assert_eq!(
            told(&[("reads", ext4), ("reads", None)], &[("reads", None), ("reads", ext4)]),
            [(0, 1), (1, 0)]
        );
        // Each matches at most one other.
        assert_eq!(told(&[("reads", ext4), ("reads", ext4)], &[("reads", ext4)]), [(0, 0)]);
        assert_eq!(
            told(&[("reads", xfs), ("reads", xfs)], &[("reads", xfs), ("reads", xfs)]),
            [(0, 0), (1, 1)]
        );
        // The only one that is left, whichever side has the unknown file system.
        assert_eq!(told(&[("reads", ext4)], &[("fsyncs", ext4), ("reads", unknown)]), [(0, 1)]);
        assert_eq!(told(&[("reads", unknown)], &[("reads", xfs)]), [(0, 0)]);
        // A kind with a match is no candidate.
        assert_eq!(told(&[("reads", ext4), ("reads", unknown)], &[("reads", unknown)]), [(1, 0)]);
        assert_eq!(
            told(&[("reads", ext4), ("reads", unknown)], &[("reads", xfs), ("reads", ext4)]),
            [(0, 1), (1, 0)]
        );
        // Two candidates are ambiguous; two known file systems differ; requests have no file system.
        assert_eq!(told(&[("reads", unknown)], &[("reads", ext4), ("reads", xfs)]), []);
        assert_eq!(told(&[("reads", ext4)], &[("reads", xfs)]), []);
        assert_eq!(told(&[("reads", ext4)], &[("reads", None)]), []);
        assert_eq!(told(&[("reads on vda", ext4)], &[("reads on vdb", unknown)]), []);
    }

    /// One recording has no names of its devices.
    #[test]
    fn a_device_is_called_as_the_other_recording_does() {
        let aliases = [(" on 7,0".to_string(), " on loop0".to_string())];
        let of = |what: &str| names(&[(what, None)]).remove(0).on_device(&aliases).what;
        assert_eq!(
            (of("reads on 7,0"), of("reads on 7,1")),
            ("reads on loop0".into(), "reads on 7,1".into())
        );
    }

    #[test]
    fn the_name_that_says_more() {
        let all = names(&[("reads", Some(Fs::Unknown)), ("reads", Some(Fs::Ext4)), ("reads", None)]);
        assert_eq!(all[0].better(&all[1]).told(), "reads (ext4)");
        assert_eq!(all[1].better(&all[0]).told(), "reads (ext4)");
        assert_eq!(all[2].better(&all[2]).told(), "reads");
    }
}
