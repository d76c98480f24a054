const TRIES = 3
/** User seconds that `reference` took on the machine for which the limits of the tests were set. */
const REFERENCE_SECONDS = 0.05

/**
 * Fails when each of three tries of `work` takes more than this many seconds of CPU. The seconds are those of the
 * machine on which the limits were set: a fixed piece of work is measured here, and the limit is scaled by its time. So
 * a slow or busy machine does not fail the test, but work whose time grows faster than its input does.
 */
export function expectCpuBelow(seconds: number, work: () => void): void {
  const taken: number[] = []
  for (let tries = 0; tries < TRIES; tries++) {
    const before = cpuSeconds(reference)
    const own = cpuSeconds(work)
    const unit = Math.max(before, cpuSeconds(reference)) / REFERENCE_SECONDS
    taken.push(own / unit)
    if (own < seconds * unit) return
  }
  throw new Error(`took ${taken.map((each) => each.toFixed(2)).join(', ')} s of CPU instead of ${seconds} s`)
}

function cpuSeconds(work: () => void): number {
  const before = process.cpuUsage()
  work()
  return process.cpuUsage(before).user / 1e6
}

/** A fixed amount of work with objects, texts and numbers, as a unit of CPU time. */
function reference(): number {
  let sum = 0
  for (let round = 0; round < 40; round++) {
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ key: `value ${i}`, i })))
    sum += (JSON.parse(text) as unknown[]).length
  }
  return sum
}
