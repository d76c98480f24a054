import { env } from 'node:process'

/** Whether all tests of a file run: true in `npm run test:long`, for which vitest.config.ts sets TEST_LENGTH. */
function runsAll(): boolean {
  return env['TEST_LENGTH'] === 'long'
}

/** Registers tests that run only in `npm run test:long`, where the other tests of the file run too. */
export function inLong(register: () => void): void {
  if (runsAll()) register()
}

/** All variants of a test in `npm run test:long`, the first `count` of them in `npm test`. */
export function firstInShort<T>(variants: readonly T[], count = 1): readonly T[] {
  return runsAll() ? variants : variants.slice(0, count)
}

/** All cases of a table in `npm run test:long`, every `step`-th of them in `npm test`. */
export function someInShort<T>(cases: readonly T[], step: number): readonly T[] {
  return runsAll() ? cases : cases.filter((_, index) => index % step === 0)
}
