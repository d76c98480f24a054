/**
 * Milliseconds that a test or hook of a campaign may take, on a machine that is several times slower than ours. Files
 * that need them say why in the line above.
 */
export const LONG_MS = 10 * 60_000
