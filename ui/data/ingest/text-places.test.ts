import { describe, expect, it } from 'vitest'
import { textPlaceOf } from './text-places.ts'

const ID = '01a1f83c-ee7c-7000-8000-0389b0e09e4b'
const OTHER = '01a1f83c-ee7c-7000-8000-0389b0e09e4c'

function shown(text: string, path: string, id = ID): string | undefined {
  const place = textPlaceOf(text, id, path)
  return place && text.slice(place.start, place.end)
}

describe('placeOf', () => {
  const run = { id: ID, outputs: { messages: [{ role: 'user' }, { role: 'x"y' }], 'odd key': [1.5, true] } }

  it('finds the value of a path in one run', () => {
    const text = JSON.stringify(run, null, 2)
    expect(shown(text, 'outputs.messages[1].role')).toBe(String.raw`"x\"y"`)
    expect(shown(text, 'outputs["odd key"][1]')).toBe('true')
    expect(shown(text, '')).toBe(text)
  })

  it('finds the run by its id in batches, lists and NDJSON', () => {
    const other = { id: OTHER, outputs: { messages: [{ role: 'other' }] } }
    for (const text of [
      JSON.stringify({ post: [run, other], patch: [] }),
      JSON.stringify([run, other]),
      `${JSON.stringify(run)}\n${JSON.stringify(other)}\n`,
    ]) {
      expect(shown(text, 'outputs.messages[0].role', OTHER)).toBe('"other"')
      expect(shown(text, 'outputs.messages[0].role')).toBe('"user"')
    }
  })

  it('finds the nearest part above a path that is not there', () => {
    expect(shown('{"outputs": {"a": 1}}', 'outputs.messages[0].content')).toBe('{"a": 1}')
  })

  it('finds nothing in other texts, nor a run among several without its id', () => {
    for (const text of ['', 'hello there: you', '{"a": ', '{"a" 1}', '--b\r\nContent-Disposition: form-data'])
      expect(textPlaceOf(text, ID, 'a')).toBeUndefined()
    expect(textPlaceOf('{"a":1}\n{"a":2}', ID, 'a')).toBeUndefined()
    expect(textPlaceOf('['.repeat(100_000), ID, 'a')).toBeUndefined()
  })
})
