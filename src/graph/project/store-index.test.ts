import { expect, it } from 'vitest'
import { embedsInPython, readStoreIndex } from './store-index.ts'

it('reads a function of the project, and the name of a model', () => {
  const own = readStoreIndex({ embed: '/p/embed.ts:embed', fields: ['text'] })
  expect(own).toEqual({ embed: { file: '/p/embed.ts', name: 'embed' }, fields: ['text'] })
  expect(embedsInPython(own)).toBe(false)
  expect(embedsInPython(readStoreIndex({ embed: '/p/embed.py:embed' }))).toBe(true)
  const model = readStoreIndex({ embed: 'openai:text-embedding-3-small', dims: 1536 })
  expect(model).toEqual({ embed: { model: 'openai:text-embedding-3-small' }, fields: ['$'] })
  expect(embedsInPython(model)).toBe(true)
  for (const index of [null, {}, { embed: 3 }, { embed: 'nothing' }])
    expect(readStoreIndex(index)).toBeUndefined()
})
