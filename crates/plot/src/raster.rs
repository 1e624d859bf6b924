//! Rasterizes a scene for PNG and for the frames of films. Shapes are drawn by tiny-skia, letters from the bitmaps of
//! Noto Sans Mono (the same on every machine; a letter that it lacks is shown as `?`).

use crate::scene::{Anchor, Colour, Item, Point, Scene};
use noto_sans_mono_bitmap::{get_raster, get_raster_width, FontWeight, RasterHeight};
use tiny_skia::{
    Color, LineCap, LineJoin, Paint, PathBuilder, Pixmap, PremultipliedColorU8, Rect, Stroke, StrokeDash,
    Transform,
};

/// Pixels per point: as sharp as today's screens.
pub const SCALE: f32 = 2.0;
/// The maximal width and height, in pixels.
const MOST: f32 = 16_384.0;

/// A bitmap that scenes are drawn on.
pub struct Canvas {
    map: Pixmap,
    scale: f32,
}

/// The scene as a PNG file; `None` if it cannot be encoded.
pub fn png(scene: &Scene) -> Option<Vec<u8>> {
    let mut canvas = Canvas::new(scene, SCALE)?;
    scene.items().for_each(|item| canvas.draw(item));
    canvas.map.encode_png().ok()
}

impl Canvas {
    /// Blank paper with `scale` pixels per point; sides are at most 16,384 pixels. `None` if the bitmap cannot be made.
    pub fn new(scene: &Scene, scale: f32) -> Option<Canvas> {
        let side = |v: f32| (v * scale).ceil().clamp(1.0, MOST) as u32;
        let mut map = Pixmap::new(side(scene.width), side(scene.height))?;
        map.fill(color(scene.paper));
        Some(Canvas { map, scale })
    }

    /// Width and height in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.map.width(), self.map.height())
    }

    /// Red, green, blue and opacity of each pixel, row by row.
    pub fn bytes(&self) -> &[u8] {
        self.map.data()
    }

    /// Copies the columns `from..to` of another canvas of the same size, within some rows.
    pub fn uncover(&mut self, other: &Canvas, from: u32, to: u32, rows: std::ops::Range<u32>) {
        let width = self.map.width();
        let (from, to) = (from.min(width) as usize * 4, to.min(width) as usize * 4);
        for row in rows.start..rows.end.min(self.map.height()) {
            let at = row as usize * width as usize * 4;
            self.map.data_mut()[at + from..at + to].copy_from_slice(&other.map.data()[at + from..at + to]);
        }
    }

    /// Draws one item of a scene.
    pub fn draw(&mut self, item: &Item) {
        match item {
            Item::Rects { fill, rects } => {
                let paint = paint(*fill);
                for [x, y, w, h] in rects {
                    // Edges are on whole pixels: neighbours touch without a seam.
                    let at = |v: f32| (v * self.scale).round();
                    let (x0, y0) = (at(*x), at(*y));
                    let (x1, y1) = (at(x + w).max(x0 + 1.0), at(y + h).max(y0 + 1.0));
                    if let Some(rect) = Rect::from_ltrb(x0, y0, x1, y1) {
                        self.map.fill_rect(rect, &paint, Transform::identity(), None);
                    }
                }
            }
            Item::Lines { stroke, width, dashed, lines } => {
                let mut builder = PathBuilder::new();
                for line in lines {
                    for (i, (x, y)) in line.iter().enumerate() {
                        let (x, y) = (x * self.scale, y * self.scale);
                        if i == 0 {
                            builder.move_to(x, y);
                        } else {
                            builder.line_to(x, y);
                        }
                    }
                }
                let Some(path) = builder.finish() else { return };
                let dash = dashed.then(|| StrokeDash::new(vec![5.0 * self.scale, 3.0 * self.scale], 0.0));
                let stroke_style = Stroke {
                    width: width * self.scale,
                    line_cap: LineCap::Butt,
                    line_join: LineJoin::Round,
                    dash: dash.flatten(),
                    ..Stroke::default()
                };
                self.map.stroke_path(&path, &paint(*stroke), &stroke_style, Transform::identity(), None);
            }
            Item::Text { at, text, size, fill, anchor, bold } => {
                self.text(*at, text, *size, *fill, *anchor, *bold);
            }
        }
    }

    fn text(&mut self, at: Point, text: &str, size: f32, fill: Colour, anchor: Anchor, bold: bool) {
        // The largest of the heights in the program that fits; a line is a third higher than its letters.
        let wanted = size * self.scale * 1.2;
        let heights = [RasterHeight::Size32, RasterHeight::Size24, RasterHeight::Size16];
        let height = heights.into_iter().find(|h| h.val() as f32 <= wanted).unwrap_or(RasterHeight::Size16);
        let weight = if bold { FontWeight::Bold } else { FontWeight::Regular };
        let wide = get_raster_width(weight, height) as i64;
        let all = wide * text.chars().count() as i64;
        let left = (at.0 * self.scale).round() as i64
            - match anchor {
                Anchor::Start => 0,
                Anchor::Middle => all / 2,
                Anchor::End => all,
            };
        // The baseline is at 4/5 of the height.
        let top = (at.1 * self.scale).round() as i64 - height.val() as i64 * 4 / 5;
        for (i, c) in text.chars().enumerate() {
            let glyph = get_raster(c, weight, height).or_else(|| get_raster('?', weight, height));
            let Some(glyph) = glyph else { continue };
            for (row, points) in glyph.rows().enumerate() {
                for (column, shade) in points.iter().enumerate().filter(|(_, shade)| **shade > 0) {
                    let x = left + i as i64 * wide + column as i64;
                    self.blend(x, top + row as i64, fill, f32::from(*shade) / 255.0);
                }
            }
        }
    }

    fn blend(&mut self, x: i64, y: i64, colour: Colour, shade: f32) {
        let (width, height) = (i64::from(self.map.width()), i64::from(self.map.height()));
        if !(0..width).contains(&x) || !(0..height).contains(&y) {
            return;
        }
        let point = &mut self.map.pixels_mut()[(y * width + x) as usize];
        let mix = |new: u8, old: u8| (f32::from(new) * shade + f32::from(old) * (1.0 - shade)).round() as u8;
        let mixed = PremultipliedColorU8::from_rgba(
            mix(colour.r, point.red()),
            mix(colour.g, point.green()),
            mix(colour.b, point.blue()),
            255,
        );
        *point = mixed.unwrap_or(*point);
    }
}

fn color(c: Colour) -> Color {
    Color::from_rgba8(c.r, c.g, c.b, (c.a * 255.0).round() as u8)
}

fn paint(c: Colour) -> Paint<'static> {
    let mut paint = Paint::default();
    paint.set_color(color(c));
    paint.anti_alias = true;
    paint
}
