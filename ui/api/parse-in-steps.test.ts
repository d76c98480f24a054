import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { tries } from '../../test/support/properties.ts'
import { exactText } from '../parts/json/json-text.ts'
import { parseExact } from './exact-json.ts'
import { parseInSteps } from './parse-in-steps.ts'

const none = async (): Promise<void> => undefined
const LARGE = 150_000

/** A list of copies of a value that is longer than several steps. */
function many(value: unknown): unknown[] {
  return Array.from({ length: Math.ceil(LARGE / (JSON.stringify(value).length + 1)) }, () => value)
}

describe('JSON in steps', () => {
  it('gives what parsing at once gives, whatever is large', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.integer({ min: 0, max: 2 }), async (value, indent) => {
        const large = {
          before: value,
          list: many(value),
          'odd "\\ key': { [`__proto__`]: many(value) },
          after: value,
        }
        const text = JSON.stringify(large, undefined, indent)
        expect(exactText(await parseInSteps(text, none), 0)).toBe(exactText(parseExact(text), 0))
      }),
      tries(10, { longest: 5 }),
    )
  })

  it('keeps numbers, names and order', async () => {
    const long = 'x\\"]},{['.repeat(20_000)
    const text = `{"n":[${'12345678901234567890,'.repeat(9000)}0.10],"__proto__":{"a":1},"z":{"s":${JSON.stringify(long)},"2":0,"z":1,"s2":[]},"n2":-1.50,"z2":[]}`
    const [read, expected] = [await parseInSteps(text, none), parseExact(text)]
    expect(read).toEqual(expected)
    expect(Object.keys(read as object)).toEqual(Object.keys(expected as object))
  })

  it('reads nested lists as deep as JSON.parse', async () => {
    const text = `${'['.repeat(1000)}${'1,'.repeat(70_000)}1${']'.repeat(1000)}`
    let [read, expected] = [await parseInSteps(text, none), parseExact(text)]
    while (Array.isArray(read) && read.length === 1) [read, expected] = [read[0], (expected as unknown[])[0]]
    expect(read).toEqual(expected)
  })

  it('refuses a text that is cut off', async () => {
    const text = JSON.stringify(many({ a: 'text with "quotes"', b: [1] }))
    for (const cut of [text.slice(0, -1), text.slice(0, text.length / 2), `${text}]`])
      await expect(parseInSteps(cut, none)).rejects.toThrow(SyntaxError)
  })

  it('gives the page turns', async () => {
    let turns = 0
    const text = JSON.stringify(
      Array.from({ length: 90_000 }, (_, at) => ({ at, name: `item ${at}`, is: true })),
    )
    await parseInSteps(text, async () => void (turns += 1))
    expect(turns).toBeGreaterThan(0)
  })
})
