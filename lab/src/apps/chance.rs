//! Chance that can be repeated: the same seed draws the same conditions on every machine.

/// splitmix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
pub struct Chance(u64);

impl Chance {
    /// From a seed and what it is for, so that one draw does not depend on how many numbers another took.
    pub fn new(seed: u64, purpose: u64) -> Chance {
        let mut chance = Chance(seed ^ purpose.wrapping_mul(0xD134_2543_DE82_EF95));
        chance.next();
        chance
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 to 1, without 1.
    pub fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// One of several, all alike.
    pub fn one_of<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[(self.next() % of.len() as u64) as usize]
    }

    /// The place of one of several, by weight.
    pub fn weighted(&mut self, weights: &[u32]) -> usize {
        let all: u32 = weights.iter().sum();
        let mut at = (self.share() * f64::from(all)) as u32;
        for (i, w) in weights.iter().enumerate() {
            if at < *w {
                return i;
            }
            at -= w;
        }
        weights.len() - 1
    }

    /// Between two numbers, evenly on a logarithmic scale.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        let (low, high) = (low.max(1) as f64, high.max(1) as f64);
        (low * (high / low).powf(self.share())).round() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_seed_draws_the_same() {
        let draw = |seed| {
            let mut c = Chance::new(seed, 7);
            (0..20).map(|_| c.between(10, 1000)).collect::<Vec<_>>()
        };
        assert_eq!(draw(1), draw(1));
        assert_ne!(draw(1), draw(2));
        assert!(draw(3).iter().all(|n| (10..=1000).contains(n)));
    }

    #[test]
    fn what_weighs_nothing_is_never_drawn() {
        let mut c = Chance::new(1, 1);
        assert!((0..1000).all(|_| c.weighted(&[3, 0, 5]) != 1));
    }
}
