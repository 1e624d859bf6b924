//! Colours. They equal those of the page (crates/report/page/src/theme.ts and page.css): a test compares them. Lines
//! have the palette of Okabe and Ito, for any colour vision; heat maps go from pale to dark (on dark paper: from dark
//! to bright) in evenly growing lightness, so that they can be read in grey, too.

use crate::scene::Colour;
use ledger::Reason;
use life::Class;

/// The colour scheme of a picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    /// For white paper.
    #[default]
    Light,
    /// For a dark screen.
    Dark,
}

/// The colours of a scheme that do not encode data.
#[derive(Clone, Copy, Debug)]
pub struct Theme {
    /// The background.
    pub paper: Colour,
    /// The colour of text and the median.
    pub ink: Colour,
    /// The colour of the labels of axes.
    pub soft: Colour,
    /// The colour of lines behind the data.
    pub grid: Colour,
    /// The colour of high percentiles.
    pub p99: Colour,
    /// The colour of the line at which the tail begins.
    pub tail: Colour,
    /// The colour of seconds in which events were lost; mostly transparent.
    pub lost: Colour,
}

impl Scheme {
    /// The theme of the scheme.
    pub fn theme(self) -> Theme {
        let c = Colour::hex;
        match self {
            Scheme::Light => Theme {
                paper: c(0xffffff),
                ink: c(0x1b1f24),
                soft: c(0x57606a),
                grid: c(0xe3e6ea),
                p99: c(0xc2370b),
                tail: c(0xa3195b),
                lost: c(0xc81e1e).with_alpha(0.18),
            },
            Scheme::Dark => Theme {
                paper: c(0x14171c),
                ink: c(0xe6e9ed),
                soft: c(0xa0a8b3),
                grid: c(0x2a3038),
                p99: c(0xff9c6b),
                tail: c(0xff8fc0),
                lost: c(0xff5050).with_alpha(0.25),
            },
        }
    }

    /// The colour of a cell in a heat map; `share` is from 0 (few) to 1 (many).
    pub fn heat(self, share: f64) -> Colour {
        let stops = match self {
            Scheme::Light => HEAT_LIGHT,
            Scheme::Dark => HEAT_DARK,
        };
        let at = share.clamp(0.0, 1.0) * (stops.len() - 1) as f64;
        let low = (at as usize).min(stops.len() - 2);
        let (a, b, part) = (Colour::hex(stops[low]), Colour::hex(stops[low + 1]), at - low as f64);
        let mix = |a: u8, b: u8| (f64::from(a) + (f64::from(b) - f64::from(a)) * part).round() as u8;
        Colour { r: mix(a.r, b.r), g: mix(a.g, b.g), b: mix(a.b, b.b), a: 1.0 }
    }
}

const HEAT_LIGHT: [u32; 7] = [0xdcebd0, 0xa9d8b8, 0x5fbcc0, 0x2e8fbf, 0x2462a5, 0x1f3b82, 0x0f1a4d];
const HEAT_DARK: [u32; 7] = [0x274b8f, 0x3a6ab0, 0x4f8fc0, 0x7fb0a8, 0xb9c46b, 0xf0d83a, 0xfff68f];

/// Colours for categories without an order: tasks, kinds of operations.
pub const COLOURS: [u32; 8] =
    [0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0xd55e00, 0x56b4e9, 0x8822dd, 0x774422];
/// The colour for all further categories.
pub const OTHERS: u32 = 0x8a8a8a;

/// The colour of category `n`, from 0; [`OTHERS`] beyond [`COLOURS`].
pub fn nth(n: usize) -> Colour {
    Colour::hex(COLOURS.get(n).copied().unwrap_or(OTHERS))
}

/// The colour of a class of requests.
pub fn class(class: Class) -> Colour {
    Colour::hex(match class {
        Class::Read => 0x0072b2,
        Class::SyncWrite => 0xd55e00,
        Class::Background => 0xe69f00,
        Class::Flush => 0xcc79a7,
        Class::Other => 0x009e73,
    })
}

/// The colour of a reason.
pub fn reason(reason: Reason) -> Colour {
    Colour::hex(match reason {
        Reason::Device => 0x0072b2,
        Reason::GetRequest => 0xd55e00,
        Reason::Prepare => 0xf0b27a,
        Reason::Scheduler => 0xe69f00,
        Reason::Requeue => 0x8c2d04,
        Reason::FlushQueue => 0xb07aa1,
        Reason::Preflush => 0xcc79a7,
        Reason::Postflush => 0xe7a9c9,
        Reason::Completion => 0x7f8c8d,
        Reason::Stacking => 0xb8a900,
        Reason::LowerRead => 0x56b4e9,
        Reason::LowerWrite => 0x1f5a8a,
        Reason::OnCpu => 0x009e73,
        Reason::WaitCpu => 0x66c2a4,
        Reason::WorkQueue => 0xa6d96a,
        Reason::WakeUp => 0xb2df8a,
        Reason::Lock => 0x7b4fa3,
        Reason::DirtyThrottle => 0xa6611a,
        Reason::WritebackThrottle => 0xdfc27d,
        Reason::CgroupLimit => 0xfb8072,
        Reason::Reclaim => 0x80b1d3,
        Reason::QueueFreeze => 0xd9d9d9,
        Reason::Timer => 0xbdbdbd,
        Reason::Sleep => 0x969696,
        Reason::Unexplained => 0x999999,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const THEME: &str = include_str!("../../report/page/src/theme.ts");
    const STYLE: &str = include_str!("../../report/page/src/page.css");

    #[test]
    fn they_are_those_of_the_page() {
        let has = |text: &str, hex: u32| assert!(text.contains(&format!("#{hex:06x}")), "{hex:06x}");
        HEAT_LIGHT.iter().chain(&HEAT_DARK).chain(&COLOURS).for_each(|hex| has(THEME, *hex));
        has(THEME, OTHERS);
        let css = |c: Colour| format!("#{:02x}{:02x}{:02x}", c.r, c.g, c.b);
        for r in Reason::ALL.into_iter().filter(|r| *r != Reason::Unexplained) {
            let rule = format!(".r-{} {{ background: {}; }}", r.name(), css(reason(r)));
            assert!(STYLE.contains(&rule), "{rule}");
        }
        for (c, name) in Class::ALL.into_iter().zip(["read", "sync-write", "background", "flush", "other"]) {
            let rule = format!(".c-{name} {{ background: {}; }}", css(class(c)));
            assert!(STYLE.contains(&rule), "{rule}");
        }
        for scheme in [Scheme::Light, Scheme::Dark] {
            let t = scheme.theme();
            for (name, c) in
                [("ink", t.ink), ("soft", t.soft), ("grid", t.grid), ("p99", t.p99), ("tail", t.tail)]
            {
                let rule = format!("--{name}: {};", css(c));
                assert!(STYLE.contains(&rule), "{rule}");
            }
        }
    }
}
