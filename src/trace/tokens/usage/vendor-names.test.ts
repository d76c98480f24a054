import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type JsonObject, type JsonValue, isObject } from '../../../schema/json.ts'
import { tries } from '../../../../test/support/properties.ts'
import { readUsage } from './read-usage.ts'

/** The types of the packages of npm, and of PyPI. */
const TYPES = ['usage-names', 'usage-names-python'].flatMap((name) => {
  const file = new URL(`../../../../test/golden/${name}.json`, import.meta.url)
  return JSON.parse(readFileSync(file, 'utf8')) as { package: string; type: string; paths: string[] }[]
})

/** Words that tell the kind of an item in a list, by the list. */
const KINDS: Readonly<Record<string, JsonObject>> = {
  cacheDetails: { ttl: '1h' },
  grounding_tool_count: { type: 'google_search' },
  iterations: { type: 'message' },
}

/** An object with one number at the path; items of lists have a kind. */
function objectWith(path: string): JsonObject {
  const root: JsonObject = {}
  let at = root
  const keys = path.split('.')
  for (const [i, key] of keys.entries()) {
    const name = key.replace('[]', '')
    const next: JsonValue = i === keys.length - 1 ? 7 : {}
    at[name] =
      key === name
        ? next
        : [isObject(next) ? Object.assign(next, KINDS[name] ?? { modality: 'AUDIO' }) : next]
    if (isObject(next)) at = next
  }
  return root
}

describe('U7: every number in the usage types of a vendor has a row', () => {
  it('there are types of forty packages', () => {
    expect(new Set(TYPES.map((it) => it.package)).size).toBeGreaterThanOrEqual(40)
  })

  it.each(TYPES)('$package $type', ({ paths }) => {
    expect(paths.length).toBeGreaterThan(0)
    const unread = paths.filter((path) => {
      const { unread: numbers, models } = readUsage(objectWith(path), 'usage')
      return numbers.length + models.flatMap(({ usage }) => usage.unread).length > 0
    })
    expect(unread).toEqual([])
  })

  it('a number of a new name is reported', () => {
    const usage = { prompt_tokens: 3, holo_tokens: 7, none: null, zero: 0, total_time: 0.5, max_tokens: 9 }
    expect(readUsage(usage, 'usage').unread).toEqual([{ path: 'usage.holo_tokens', value: '7' }])
  })
})

it('U7: a number of a new name is reported wherever it is in a usage object', () => {
  const places = [
    [],
    ['prompt_tokens_details'],
    ['cache_creation'],
    ['server_tool_use'],
    ['new_object', 'deeper'],
  ]
  fc.assert(
    fc.property(fc.constantFrom(...places), fc.integer({ min: 1 }), (place, count) => {
      const inner = place.reduceRight<JsonObject>((within, key) => ({ [key]: within }), {
        holo_tokens: count,
      })
      const { unread } = readUsage({ prompt_tokens: 3, completion_tokens: 4, ...inner }, 'usage')
      expect(unread).toEqual([{ path: ['usage', ...place, 'holo_tokens'].join('.'), value: String(count) }])
    }),
    tries(),
  )
})

describe('U1: the spelling and the order of names change nothing', () => {
  const sent = {
    prompt_tokens: 3307,
    completion_tokens: 401,
    total_tokens: 3708,
    prompt_tokens_details: { cached_tokens: 1009, cache_write_tokens: 1511 },
    completion_tokens_details: { reasoning_tokens: 211 },
  }

  it('camel case is snake case', () => {
    const camel = JSON.parse(
      JSON.stringify(sent).replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    ) as JsonObject
    expect(readUsage(camel, 'usage').value).toEqual(readUsage(sent, 'usage').value)
  })

  it('another order is the same', () => {
    const turned = Object.fromEntries(Object.entries(sent).toReversed())
    expect(readUsage(turned, 'usage').value).toEqual(readUsage(sent, 'usage').value)
  })
})

it('a usage object of 10,000 keys is cut, and says so', () => {
  const usage = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`new_tokens_${i}`, 1]))
  const reading = readUsage({ ...usage }, 'usage')
  expect(reading.isCut).toBe(true)
  expect(reading.unread.length).toBeLessThanOrEqual(20)
})
