import { expect, it } from 'vitest'
import { matchLines, pathsOf } from './matches.ts'

it('N5: paths name keys and values with the text, in any case and script, in their order', () => {
  const contents = {
    name: 'Weather',
    inputs: { messages: [{ content: 'the WEATHER in 上海' }, { content: 'none' }], 'weather map': 1 },
    outputs: { city: '上海', n: 12 },
  }
  expect(pathsOf(contents, 'weather')).toEqual([
    'name',
    'inputs["weather map"]',
    'inputs.messages[0].content',
  ])
  expect(pathsOf(contents, '上海')).toEqual(['inputs.messages[0].content', 'outputs.city'])
  expect(pathsOf(contents, '12')).toEqual(['outputs.n'])
  expect(pathsOf({ list: Array.from({ length: 50 }, () => 'a') }, 'a')).toHaveLength(20)
})

it('N5: a page becomes a line for each run and one for the cursors', () => {
  const page = { runs: [{ id: 'a', name: 'x' }], cursors: { next: 'c', prev: null } }
  const lines = new TextDecoder().decode(matchLines(new TextEncoder().encode(JSON.stringify(page)), 'x'))
  expect(lines).toBe('{"run_id":"a","paths":["name"]}\n{"cursors":{"next":"c","prev":null}}\n')
})
