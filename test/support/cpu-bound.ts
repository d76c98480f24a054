const TRIES = 3
/** User seconds that `reference` took on the machine for which the limits of the tests were set. */
const REFERENCE_SECONDS = 0.05

/**
 * Fails when `work` takes more than this many seconds of CPU in each of three tries. The seconds are those of the
 * machine for which the limits were set: a fixed piece of work is measured here for comparison. A slow or busy machine
 * does not fail the test; work that grows faster than its input does.
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

/** Objects, texts and numbers, similar to the measured work. */
function reference(): number {
  let sum = 0
  for (let round = 0; round < 40; round++) {
    const text = JSON.stringify(Array.from({ length: 5_000 }, (_, i) => ({ key: `value ${i}`, i })))
    sum += (JSON.parse(text) as unknown[]).length
  }
  return sum
}
