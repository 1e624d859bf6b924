//! Lays a picture out: converts units of the data into points on paper.
//!
//! ```text
//! title, about
//! panel   title                     legend
//!         y axis |  data
//!                +------------ x axis (beneath the last panel only, if they share it)
//! ```

use crate::colours::{Scheme, Theme};
use crate::picture::{Axis, Bar, Layer, Panel, Picture};
use crate::scene::{Anchor, Colour, Item, Point, Rect, Scene};

/// The space to the left of a panel for the labels of its axis, in points.
const LEFT: f32 = 84.0;
const RIGHT: f32 = 18.0;
const EDGE: f32 = 14.0;
/// The height of a panel's title.
const TITLE: f32 = 24.0;
/// The height of a horizontal axis with its labels.
const FOOT: f32 = 24.0;
/// The height of a chart whose relative height is 1.
const CHART: f32 = 210.0;
/// The height of a bar with its label, and of the bar alone.
const BAR: (f32, f32) = (24.0, 14.0);
/// The largest part of the width that the labels of bars take.
const BAR_NAMES: f32 = 0.5;
const SMALL: f32 = 12.0;
/// The maximal width of a small letter: in PNG all letters have the same width.
const LETTER: f32 = 7.2;
/// The space between a title and its legend.
const LEGEND_GAP: f32 = 4.0;
/// Maximal number of letters of a text; more would exceed the paper.
const MOST_LETTERS: usize = 110;
/// Maximal number of entries in a legend.
const MOST_LEGEND: usize = 12;
/// The minimal width and height of a mark.
const MARK: f32 = 2.2;

/// Draws the picture on paper that is `width` points wide.
pub fn draw(picture: &Picture, width: f32, scheme: Scheme) -> Scene {
    let theme = scheme.theme();
    let mut pen = Pen { scheme, theme, width, y: EDGE, frame: vec![], data: vec![], over_time: None };
    pen.y += 16.0;
    pen.text((EDGE, pen.y), &picture.title, 16.0, theme.ink, Anchor::Start, true);
    pen.y += 18.0;
    pen.text((EDGE, pen.y), &picture.about, SMALL, theme.soft, Anchor::Start, false);
    pen.y += 10.0;
    let last = picture.panels.len().saturating_sub(1);
    for (i, panel) in picture.panels.iter().enumerate() {
        match panel {
            Panel::Chart { title, x, y, layers, height } => {
                let axis = !picture.over_time || i == last;
                let area = pen.chart(title, x, y, layers, *height as f32, axis);
                if picture.over_time {
                    let [left, top, width, _] = pen.over_time.unwrap_or(area);
                    pen.over_time = Some([left, top, width, area[1] + area[3] - top]);
                }
            }
            Panel::Bars { title, bars, legend } => pen.bars(title, bars, legend),
        }
    }
    Scene {
        width,
        height: (pen.y + EDGE).ceil(),
        paper: theme.paper,
        title: short(&picture.title),
        frame: pen.frame,
        data: pen.data,
        over_time: pen.over_time,
    }
}

struct Pen {
    scheme: Scheme,
    theme: Theme,
    width: f32,
    y: f32,
    frame: Vec<Item>,
    data: Vec<Item>,
    over_time: Option<Rect>,
}

impl Pen {
    fn text(&mut self, at: Point, text: &str, size: f32, fill: Colour, anchor: Anchor, bold: bool) {
        self.frame.push(Item::Text { at, text: short(text), size, fill, anchor, bold });
    }

    /// Draws a chart; returns the area of its data.
    fn chart(&mut self, title: &str, x: &Axis, y: &Axis, layers: &[Layer], height: f32, foot: bool) -> Rect {
        let (ink, soft, grid) = (self.theme.ink, self.theme.soft, self.theme.grid);
        self.y += TITLE;
        self.text((EDGE, self.y - 8.0), title, 13.0, ink, Anchor::Start, true);
        self.legend(layers);
        let area = [LEFT, self.y, (self.width - LEFT - RIGHT).max(50.0), CHART * height];
        let [left, top, width, high] = area;
        let mut lines = vec![];
        for (value, words) in y.ticks((high / 26.0) as usize) {
            let at = top + high * (1.0 - y.place(value) as f32);
            lines.push(vec![(left, at), (left + width, at)]);
            self.text((left - 8.0, at + 4.0), &words, SMALL, soft, Anchor::End, false);
        }
        for (value, words) in x.ticks((width / 90.0) as usize) {
            let at = left + width * x.place(value) as f32;
            lines.push(vec![(at, top), (at, top + high)]);
            if foot {
                self.text((at, top + high + 16.0), &words, SMALL, soft, Anchor::Middle, false);
            }
        }
        self.frame.push(Item::Lines { stroke: grid, width: 1.0, dashed: false, lines });
        let place = Place { area, x, y };
        layers.iter().for_each(|layer| self.layer(&place, layer));
        self.y += high + if foot { FOOT } else { 6.0 };
        area
    }

    /// Draws the legend of a chart, on further lines if it does not fit.
    fn legend(&mut self, layers: &[Layer]) {
        let tail = self.theme.tail;
        let all = layers.iter().filter_map(|layer| match layer {
            Layer::Line { label, colour, dashed, .. } => Some((label, *colour, *dashed, false)),
            Layer::Level(_, words) => Some((words, tail, true, false)),
            Layer::Marks { label, colour, crosses, .. } => Some((label, *colour, false, *crosses)),
            Layer::Columns { label, colour, .. } | Layer::Moments { label, colour, .. } => {
                Some((label, *colour, false, false))
            }
            _ => None,
        });
        let (soft, mut x) = (self.theme.soft, LEFT);
        for (i, (label, colour, dashed, crosses)) in
            all.filter(|l| !l.0.is_empty()).take(MOST_LEGEND).enumerate()
        {
            self.y += if i == 0 { LEGEND_GAP } else { 0.0 };
            let label = short(label);
            let wide = 26.0 + label.chars().count() as f32 * (LETTER + 0.1);
            if x > LEFT && x + wide > self.width - RIGHT {
                x = LEFT;
                self.y += 16.0;
            }
            let y = self.y;
            if crosses {
                let lines = cross(x + 3.0, y - 4.0, 8.0, 8.0);
                self.frame.push(Item::Lines { stroke: colour, width: 1.5, dashed: false, lines });
            } else if dashed {
                let lines = vec![vec![(x, y), (x + 14.0, y)]];
                self.frame.push(Item::Lines { stroke: colour, width: 2.0, dashed, lines });
            } else {
                self.frame.push(Item::Rects { fill: colour, rects: vec![[x, y - 3.0, 14.0, 6.0]] });
            }
            self.text((x + 19.0, y + 4.0), &label, SMALL, soft, Anchor::Start, false);
            x += wide;
        }
        if x > LEFT {
            self.y += 12.0;
        }
    }

    fn layer(&mut self, place: &Place, layer: &Layer) {
        let [left, top, width, high] = place.area;
        match layer {
            Layer::Heat(cells) => self.heat(place, cells),
            Layer::Line { colour, dashed, points, .. } => {
                let mut lines: Vec<Vec<Point>> = vec![vec![]];
                for (x, y) in points {
                    match (y, lines.last_mut()) {
                        (Some(y), Some(line)) => line.push((place.x(*x), place.y(*y))),
                        _ => lines.push(vec![]),
                    }
                }
                lines.retain(|l| l.len() > 1);
                self.data.push(Item::Lines { stroke: *colour, width: 1.6, dashed: *dashed, lines });
            }
            Layer::Marks { colour, crosses, size, at, .. } => {
                let (mut lines, mut rects) = (vec![], vec![]);
                for (x, y) in at {
                    let (x0, y0) = (place.x(*x), place.y(y + size.1));
                    let w = (place.x(x + size.0) - x0).max(MARK);
                    let h = (place.y(*y) - y0).max(MARK);
                    if *crosses {
                        lines.extend(cross(x0, y0, w.max(4.0), h.max(4.0)));
                    } else {
                        rects.push([x0, y0, w, h]);
                    }
                }
                self.data.push(Item::Rects { fill: *colour, rects });
                self.data.push(Item::Lines { stroke: *colour, width: 1.2, dashed: false, lines });
            }
            Layer::Shades(stretches) => {
                let rect = |(a, b): &(f64, f64)| {
                    let x = place.x(*a);
                    [x, top, (place.x(*b) - x).max(1.0), high]
                };
                let rects = stretches.iter().map(rect).collect();
                self.frame.push(Item::Rects { fill: self.theme.lost, rects });
            }
            Layer::Moments { colour, stretches, .. } => {
                let rect = |(a, b): &(f64, f64)| {
                    let x = place.x(*a);
                    [x, top, (place.x(*b) - x).max(2.0), 5.0]
                };
                let rects = stretches.iter().map(rect).collect();
                self.data.push(Item::Rects { fill: *colour, rects });
            }
            // Its words are in the legend: in the chart they could cover data.
            Layer::Level(at, _) => {
                let y = place.y(*at);
                let lines = vec![vec![(left, y), (left + width, y)]];
                let stroke = self.theme.tail;
                self.frame.push(Item::Lines { stroke, width: 1.0, dashed: true, lines });
            }
            Layer::Columns { colour, columns, .. } => {
                let rect = |(a, b, v): &(f64, f64, f64)| {
                    let (x0, x1, y) = (place.x(*a), place.x(*b), place.y(*v));
                    let gap = if x1 - x0 > 4.0 { 1.0 } else { 0.0 };
                    [x0, y, (x1 - x0 - gap).max(0.5), top + high - y]
                };
                self.data.push(Item::Rects { fill: *colour, rects: columns.iter().map(rect).collect() });
            }
        }
    }

    /// Draws the cells of a heat map by colour, so that each colour is one item.
    fn heat(&mut self, place: &Place, cells: &[([f64; 2], [f64; 2], f64)]) {
        const SHADES: usize = 24;
        let most = cells.iter().map(|c| c.2).fold(1.0, f64::max).ln_1p();
        let mut shades: Vec<Vec<Rect>> = vec![vec![]; SHADES];
        for (x, y, n) in cells {
            let shade = ((n.ln_1p() / most) * (SHADES - 1) as f64).round() as usize;
            let (x0, y0) = (place.x(x[0]), place.y(y[1]));
            let w = (place.x(x[1]) - x0).max(1.0);
            let h = (place.y(y[0]) - y0).max(1.5);
            shades[shade.min(SHADES - 1)].push([x0, y0, w, h]);
        }
        for (i, rects) in shades.into_iter().enumerate().filter(|(_, r)| !r.is_empty()) {
            // Even the palest colour is visible on the paper.
            let share = 0.3 + 0.7 * i as f64 / (SHADES - 1) as f64;
            self.data.push(Item::Rects { fill: self.scheme.heat(share), rects });
        }
    }

    fn bars(&mut self, title: &str, bars: &[Bar], legend: &[(String, Colour)]) {
        let (ink, soft) = (self.theme.ink, self.theme.soft);
        self.y += TITLE;
        self.text((EDGE, self.y - 8.0), title, 13.0, ink, Anchor::Start, true);
        let letters = |texts: &mut dyn Iterator<Item = &String>| {
            texts.map(|text| text.chars().count()).max().unwrap_or(0) as f32 * LETTER
        };
        let names = letters(&mut bars.iter().map(|b| &b.label)).min(self.width * BAR_NAMES);
        let values = letters(&mut bars.iter().map(|b| &b.value));
        let begin = EDGE + names + 16.0;
        let room = (self.width - begin - RIGHT - values - 8.0).max(50.0);
        for bar in bars {
            let middle = self.y + BAR.0 / 2.0;
            let name = cut(&bar.label, (names / LETTER) as usize);
            self.text((EDGE, middle + 4.0), &name, SMALL, ink, Anchor::Start, false);
            let mut x = begin;
            for (part, colour) in &bar.parts {
                let wide = room * (bar.length * part) as f32;
                let rects = vec![[x, middle - BAR.1 / 2.0, wide, BAR.1]];
                self.data.push(Item::Rects { fill: *colour, rects });
                x += wide;
            }
            self.text((x + 8.0, middle + 4.0), &bar.value, SMALL, soft, Anchor::Start, false);
            self.y += BAR.0;
        }
        for (words, colour) in legend.iter().take(MOST_LEGEND) {
            let rects = vec![[begin, self.y + 4.0, 12.0, 12.0]];
            self.frame.push(Item::Rects { fill: *colour, rects });
            self.text((begin + 20.0, self.y + 14.0), words, SMALL, soft, Anchor::Start, false);
            self.y += 19.0;
        }
        self.y += 8.0;
    }
}

/// The area of a chart's data with its axes.
struct Place<'a> {
    area: Rect,
    x: &'a Axis,
    y: &'a Axis,
}

impl Place<'_> {
    fn x(&self, value: f64) -> f32 {
        self.area[0] + self.area[2] * self.x.place(value) as f32
    }

    fn y(&self, value: f64) -> f32 {
        self.area[1] + self.area[3] * (1.0 - self.y.place(value) as f32)
    }
}

fn cross(x: f32, y: f32, w: f32, h: f32) -> Vec<Vec<Point>> {
    vec![vec![(x, y), (x + w, y + h)], vec![(x + w, y), (x, y + h)]]
}

/// A text, cut at the width of the paper.
fn short(text: &str) -> String {
    cut(text, MOST_LETTERS)
}

/// A text, cut after `most` letters.
fn cut(text: &str, most: usize) -> String {
    match text.chars().nth(most) {
        None => text.to_string(),
        Some(_) => text.chars().take(most.saturating_sub(3)).chain("...".chars()).collect(),
    }
}
