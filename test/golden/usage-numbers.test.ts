import { describe, expect, it } from 'vitest'
import { readCase, shapesOf, usageCases, usageFaults } from '../support/usage/usage-cases.ts'
import { someInShort } from '../support/length.ts'

// Answers made from the types of vendors' SDKs, in every shape in which clients log them, and spans of instrumentations.
// Costs are those of the price data of this release.
describe.each(usageCases())('U1 to U17: the numbers of %s are read, counted and priced', (_vendor, cases) => {
  it.each(cases.map((it) => [it.id, it.about, it] as const))('%s: %s', (_id, _about, it) => {
    const faults = someInShort(shapesOf(it), 2).flatMap((shape) =>
      usageFaults(it, readCase(it, shape)).map((fault) => `${shape}: ${fault}`),
    )
    expect(faults).toEqual([])
  })
})
