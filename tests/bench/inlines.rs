// SPDX-License-Identifier: Apache-2.0
// A Rust program of many inlined functions, for symbols_agree.sh: only its debug information matters.
use std::collections::{BTreeMap, HashMap};

#[derive(Clone, Debug, PartialEq)]
struct Ware {
    name: String,
    price: u64,
}

trait Shape {
    fn area(&self) -> f64;
}

struct Square(f64);

struct Circle {
    radius: f64,
}

impl Shape for Square {
    #[inline]
    fn area(&self) -> f64 {
        self.0 * self.0
    }
}

impl Shape for Circle {
    fn area(&self) -> f64 {
        3.14 * self.radius * self.radius
    }
}

mod parse {
    use super::Ware;

    fn line(text: &str) -> Option<Ware> {
        let mut words = text.split_whitespace();
        Some(Ware { name: words.next()?.to_string(), price: words.next()?.parse().ok()? })
    }

    pub fn lines(text: &str) -> Vec<Ware> {
        text.lines().filter_map(line).collect()
    }
}

fn tally(wares: &[Ware]) -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for ware in wares {
        *sums.entry(ware.name.clone()).or_insert(0) += ware.price;
    }
    sums
}

fn main() {
    let count = std::env::args().count() as u64;
    let text: String = (0..1000 * count).map(|i| format!("thing{} {}\n", i % 17, i * 31 % 97)).collect();
    let mut wares = parse::lines(&text);
    wares.sort_by(|a, b| b.price.cmp(&a.price).then_with(|| a.name.cmp(&b.name)));
    let mut by_price: HashMap<u64, Vec<&Ware>> = HashMap::new();
    for ware in &wares {
        by_price.entry(ware.price).or_default().push(ware);
    }
    let shapes: Vec<Box<dyn Shape>> = vec![Box::new(Square(count as f64)), Box::new(Circle { radius: 2.0 })];
    println!(
        "{:?} {} {:?}",
        tally(&wares).iter().next(),
        shapes.iter().map(|shape| shape.area()).sum::<f64>(),
        by_price.values().map(|list| list.len()).max()
    );
}
