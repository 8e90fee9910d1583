//! Arrays kept between cases, bounded by bytes: the least recently used go first.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

struct Entry<V> {
    value: Arc<V>,
    bytes: u64,
    last_used: u64,
}

pub(super) struct Cache<K, V> {
    entries: HashMap<K, Entry<V>>,
    bytes: u64,
    bytes_max: u64,
    clock: u64,
}

impl<K: Eq + Hash + Clone, V> Cache<K, V> {
    pub fn new(bytes_max: u64) -> Self {
        Self {
            entries: HashMap::new(),
            bytes: 0,
            bytes_max,
            clock: 0,
        }
    }

    /// The value of `key`, made now if it is not kept. A value above the whole bound is handed out and not kept.
    pub fn get_or_make<E>(
        &mut self,
        key: &K,
        bytes_of: impl FnOnce(&V) -> u64,
        make: impl FnOnce() -> Result<V, E>,
    ) -> Result<Arc<V>, E> {
        self.clock += 1;
        if let Some(entry) = self.entries.get_mut(key) {
            entry.last_used = self.clock;
            return Ok(Arc::clone(&entry.value));
        }
        let value = make()?;
        let bytes = bytes_of(&value);
        let value = Arc::new(value);
        if bytes <= self.bytes_max {
            self.make_room(bytes);
            let entry = Entry {
                value: Arc::clone(&value),
                bytes,
                last_used: self.clock,
            };
            self.bytes += bytes;
            self.entries.insert(key.clone(), entry);
        }
        Ok(value)
    }

    fn make_room(&mut self, bytes: u64) {
        while self.bytes + bytes > self.bytes_max {
            let oldest = self.entries.iter().min_by_key(|(_, e)| e.last_used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else {
                return;
            };
            if let Some(entry) = self.entries.remove(&key) {
                self.bytes -= entry.bytes;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_recently_used_make_room() {
        let mut made = Vec::new();
        let mut cache = Cache::new(10);
        let mut get = |key: u32, bytes: u64| {
            let make = || {
                made.push(key);
                Ok::<_, ()>(key)
            };
            *cache.get_or_make(&key, |_| bytes, make).unwrap()
        };
        for (key, bytes) in [
            (1, 4),
            (2, 4),
            (1, 4),
            (3, 6),
            (1, 4),
            (2, 4),
            (9, 11),
            (9, 11),
        ] {
            assert_eq!(get(key, bytes), key);
        }
        // 2 went for 3, then 3 for 2; 9 never fits.
        assert_eq!(made, [1, 2, 3, 2, 9, 9]);
        assert!(cache.bytes <= 10);
    }

    #[test]
    fn a_failure_is_not_kept() {
        let mut cache: Cache<u32, u32> = Cache::new(10);
        assert_eq!(cache.get_or_make(&1, |_| 1, || Err("no")), Err("no"));
        assert_eq!(
            cache.get_or_make(&1, |_| 1, || Ok::<_, ()>(5)).as_deref(),
            Ok(&5)
        );
    }
}
