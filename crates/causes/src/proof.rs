//! Evidence as data: a sentence with named places, and the values that fill them.
//!
//! Invariant: a sentence is formatted only where it is printed. Code that needs one of its values asks for it by name.

use evidence::At;
use serde::{Serialize, Serializer};
use std::fmt::{self, Display, Formatter};
use trace::{Bytes, Nanos};
use units::words::{count, counted, percent, size, time};

/// The value in a place of a sentence; the examples show how it is printed.
#[derive(Clone, Debug, PartialEq)]
pub enum Quantity {
    /// `7.5 ms`.
    Time(Nanos),
    /// `4 KiB`.
    Size(Bytes),
    /// `20,779`.
    Count(u64),
    /// A count with its noun, one and several: `1 event`, `2,000 events`.
    Counted(u64, &'static str, &'static str),
    /// `97 %`.
    Share(f64),
    /// A number, with the digits that its place asks for: `{served:.1}`.
    Ratio(f64),
    /// A name, or a value as a setting shows it.
    Text(String),
    /// The file and line that the sentence is based on: `queue-sda.txt:2`.
    Source(String),
    /// A sentence within the sentence.
    Said(Box<Proof>),
}

impl Quantity {
    fn write(&self, f: &mut Formatter, digits: Option<usize>) -> fmt::Result {
        match self {
            Quantity::Time(t) => f.write_str(&time(*t)),
            Quantity::Size(b) => f.write_str(&size(*b)),
            Quantity::Count(n) => f.write_str(&count(*n)),
            Quantity::Counted(n, one, many) => f.write_str(&counted(*n, one, many)),
            Quantity::Share(part) => f.write_str(&percent(*part)),
            Quantity::Ratio(x) => write!(f, "{x:.*}", digits.unwrap_or(1)),
            Quantity::Text(text) | Quantity::Source(text) => f.write_str(text),
            Quantity::Said(proof) => proof.fmt(f),
        }
    }
}

/// Types whose values are a [`Quantity`] of one kind: `proof!` needs no kind for them.
pub(crate) trait ToQuantity {
    /// The value as a quantity.
    fn to_quantity(&self) -> Quantity;
}

impl ToQuantity for Quantity {
    fn to_quantity(&self) -> Quantity {
        self.clone()
    }
}

impl ToQuantity for Nanos {
    fn to_quantity(&self) -> Quantity {
        Quantity::Time(*self)
    }
}

impl ToQuantity for Bytes {
    fn to_quantity(&self) -> Quantity {
        Quantity::Size(*self)
    }
}

impl ToQuantity for At {
    fn to_quantity(&self) -> Quantity {
        Quantity::Source(self.to_string())
    }
}

impl ToQuantity for Proof {
    fn to_quantity(&self) -> Quantity {
        Quantity::Said(Box::new(self.clone()))
    }
}

impl ToQuantity for str {
    fn to_quantity(&self) -> Quantity {
        Quantity::Text(self.into())
    }
}

impl ToQuantity for String {
    fn to_quantity(&self) -> Quantity {
        self.as_str().to_quantity()
    }
}

impl<T: ToQuantity + ?Sized> ToQuantity for &T {
    fn to_quantity(&self) -> Quantity {
        (**self).to_quantity()
    }
}

impl<T: ToQuantity + ?Sized> ToQuantity for Box<T> {
    fn to_quantity(&self) -> Quantity {
        (**self).to_quantity()
    }
}

/// A sentence of evidence with its numbers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "String"))]
pub struct Proof {
    /// The sentence, with `{name}` in the place of each value.
    pub says: &'static str,
    /// The values by the names of their places.
    pub numbers: Vec<(&'static str, Quantity)>,
    /// The victims that it is about, as indexes into [`Focus::groups`](stats::Focus); empty if it is about all.
    pub about: Vec<usize>,
}

impl Proof {
    /// Whether two sentences with their values are the same, whichever victims they are about.
    pub(crate) fn says_as(&self, other: &Proof) -> bool {
        self.says == other.says && self.numbers == other.numbers
    }

    /// The value in the place of this name; `None` if the sentence has no such place.
    pub fn number(&self, name: &str) -> Option<&Quantity> {
        self.numbers.iter().find(|(n, _)| *n == name).map(|(_, q)| q)
    }

    /// The name in a place; `None` if it holds another kind of value.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.number(name)? {
            Quantity::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The file and line that the sentence is based on; `None` if it has no such place.
    pub fn source(&self) -> Option<&str> {
        self.numbers.iter().find_map(|(_, q)| match q {
            Quantity::Source(at) => Some(at.as_str()),
            _ => None,
        })
    }

    /// The sentence as it is printed.
    pub fn sentence(&self) -> String {
        self.to_string()
    }
}

impl Display for Proof {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let mut rest = self.says;
        while let Some((before, after)) = rest.split_once('{') {
            f.write_str(before)?;
            let known = after.split_once('}').and_then(|(place, after)| {
                let (name, digits) =
                    place.split_once(":.").map_or((place, None), |(n, d)| (n, d.parse().ok()));
                Some((self.number(name)?, digits, after))
            });
            match known {
                Some((quantity, digits, after)) => {
                    quantity.write(f, digits)?;
                    rest = after;
                }
                None => {
                    f.write_str("{")?;
                    rest = after;
                }
            }
        }
        f.write_str(rest)
    }
}

impl Serialize for Proof {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl From<&'static str> for Proof {
    fn from(says: &'static str) -> Proof {
        Proof { says, numbers: vec![], about: vec![] }
    }
}

impl From<String> for Proof {
    fn from(text: String) -> Proof {
        Proof { says: "{text}", numbers: vec![("text", Quantity::Text(text))], about: vec![] }
    }
}

/// A [`Proof`]: `proof!("a flush of {name} took {p50} ({share})", name, p50 = Nanos(x), share = Share(y))`. A variable
/// with the name of its place is enough; times, sizes and names need no kind.
macro_rules! proof {
    (@ $name:ident) => { $crate::proof::ToQuantity::to_quantity(&$name) };
    (@ $name:ident = $value:expr) => { $crate::proof::ToQuantity::to_quantity(&$value) };
    ($says:literal $(, $name:ident $(= $value:expr)?)* $(,)?) => {{
        #[allow(unused_imports)]
        use $crate::proof::Quantity::*;
        $crate::proof::Proof {
            says: $says,
            numbers: vec![$((stringify!($name), $crate::proof::proof!(@ $name $(= $value)?))),*],
            about: vec![],
        }
    }};
}
pub(crate) use proof;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_has_its_numbers_in_their_places() {
        let told = proof!("{device} took {p50}", device = "sda", p50 = Nanos(7_500_000));
        let all = proof!(
            "{told}; {n:.0} of {all} ({at})",
            told,
            n = Ratio(2.0),
            all = Count(1200),
            at = Source("a:1".into())
        );
        assert_eq!(all.sentence(), "sda took 7.5 ms; 2 of 1,200 (a:1)");
        assert_eq!((all.source(), told.text("device")), (Some("a:1"), Some("sda")));
        assert_eq!(Proof::from("awk '{print}'").sentence(), "awk '{print}'");
        assert_eq!(Proof::from("{told} of a file".to_string()).sentence(), "{told} of a file");
    }
}
