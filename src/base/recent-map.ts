/** A Map of limited size. Setting a key makes it the newest; above the limit the oldest entries are removed. */
export class RecentMap<K, V> extends Map<K, V> {
  readonly #max: number
  readonly #sizeOf: (value: V) => number
  #total = 0

  /** `max` limits the sum of the sizes of all values: the number of entries, unless `sizeOf` is given. */
  constructor(max: number, sizeOf: (value: V) => number = () => 1) {
    super()
    this.#max = max
    this.#sizeOf = sizeOf
  }

  /** As `get`; the key becomes the newest. */
  touch(key: K): V | undefined {
    const value = this.get(key)
    if (value !== undefined) {
      super.delete(key)
      super.set(key, value)
    }
    return value
  }

  override set(key: K, value: V): this {
    this.delete(key)
    super.set(key, value)
    this.#total += this.#sizeOf(value)
    for (const oldest of this.keys()) {
      if (this.#total <= this.#max) break
      this.delete(oldest)
    }
    return this
  }

  override delete(key: K): boolean {
    const value = this.get(key)
    if (!super.delete(key)) return false
    this.#total -= this.#sizeOf(value as V)
    return true
  }

  override clear(): void {
    super.clear()
    this.#total = 0
  }
}
