//! The 256 colours that terminals have (xterm's): a cube of 216, and 24 greys.

use crate::scene::Colour;

/// The number of the colour in the cube, or of the grey, that is nearest to `c`.
pub fn palette(c: Colour) -> u8 {
    const STEPS: [i32; 6] = [0, 95, 135, 175, 215, 255];
    let nearest = |v: u8| (0..6).min_by_key(|i| (STEPS[*i] - i32::from(v)).abs()).unwrap_or(0);
    let cube = [nearest(c.r), nearest(c.g), nearest(c.b)];
    let grey = ((i32::from(c.r) + i32::from(c.g) + i32::from(c.b)) / 3 - 8).clamp(0, 230) / 10;
    let far = |rgb: [i32; 3]| {
        let d = [rgb[0] - i32::from(c.r), rgb[1] - i32::from(c.g), rgb[2] - i32::from(c.b)];
        d.iter().map(|d| d * d).sum::<i32>()
    };
    let of_grey = 8 + 10 * grey;
    if far([of_grey; 3]) < far(cube.map(|i| STEPS[i])) {
        return (232 + grey) as u8;
    }
    (16 + 36 * cube[0] + 6 * cube[1] + cube[2]) as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colours::COLOURS;

    #[test]
    fn the_nearest_colour() {
        assert_eq!(palette(Colour::hex(0xff0000)), 196);
        assert_eq!(palette(Colour::hex(0x808080)), 244);
        assert_eq!(
            COLOURS.map(|c| palette(Colour::hex(c))).iter().collect::<std::collections::BTreeSet<_>>().len(),
            8
        );
    }
}
