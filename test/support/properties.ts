import { env } from 'node:process'

/** fast-check's default number of tries. */
const DEFAULT_TRIES = 100

/** Length and seed of property tests; every test command prints both. */
export interface PropertySettings {
  /** PROPERTY_SEED, a 32-bit integer: the same seed gives the same values. */
  seed: number
  /** PROPERTY_LENGTH: factor of the number of runs of each property. */
  length: number
}

/** Reads the settings from the environment, which vitest.config.ts sets. */
export function propertySettings(): PropertySettings {
  return { seed: Number(env['PROPERTY_SEED']), length: Number(env['PROPERTY_LENGTH'] ?? 1) }
}

/**
 * Parameters for fast-check's `assert`. `times` is multiplied with the length: `npm test` makes fewer runs, and
 * `npm run test:long` more. `longest` bounds the factor for properties whose single run takes long; a comment at the
 * call gives the reason.
 */
export function tries(
  times = DEFAULT_TRIES,
  { longest = Number.POSITIVE_INFINITY } = {},
): { seed: number; numRuns: number } {
  const { seed, length } = propertySettings()
  return { seed, numRuns: Math.ceil(times * Math.min(length, longest)) }
}
