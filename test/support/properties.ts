import { env } from 'node:process'

/** fast-check's own number of tries. */
const DEFAULT_TRIES = 100

/** How long property tests are and what they begin with; every test command prints it. */
export interface PropertySettings {
  /** PROPERTY_SEED, a 32-bit integer: the same seed makes the same values. */
  seed: number
  /** PROPERTY_LENGTH: every property is tried so many times as often. */
  length: number
}

/** Reads them from the environment, which vitest.config.ts sets. */
export function propertySettings(): PropertySettings {
  return { seed: Number(env['PROPERTY_SEED']), length: Number(env['PROPERTY_LENGTH'] ?? 1) }
}

/** Parameters for fast-check's `assert`: `times` is how often the property is tried in `npm test`. */
export function tries(times = DEFAULT_TRIES): { seed: number; numRuns: number } {
  const { seed, length } = propertySettings()
  return { seed, numRuns: times * length }
}
