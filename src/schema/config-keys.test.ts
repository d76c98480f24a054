import { EXCLUDED_METADATA_KEYS } from '@langchain/langgraph-checkpoint'
import { describe, expect, it } from 'vitest'
import { withoutOwnKeys, withoutRuntimeKeys, withoutStepMetadata } from './config-keys.ts'
import type { JsonObject } from './json.ts'

/** Reserved keys of the installed LangGraph, from constants that its package does not export. */
async function reservedOfLangGraph(): Promise<string[]> {
  const file = new URL('constants.js', import.meta.resolve('@langchain/langgraph'))
  const constants = (await import(file.href)) as Record<string, unknown>
  const named = Object.entries(constants).filter(([name]) => name.startsWith('CONFIG_KEY_'))
  return [...new Set([...(constants['RESERVED'] as string[]), ...named.map(([, key]) => key as string)])]
}

describe('RUN-34: the config that a client sends', () => {
  it('D-58: has none of the keys that LangGraph reserves', async () => {
    const keys = await reservedOfLangGraph()
    expect(keys.length).toBeGreaterThan(20)
    const configurable = Object.fromEntries(keys.map((key) => [key, 1]))
    expect(withoutOwnKeys({ configurable: { ...configurable, model: 'm' } })).toEqual({
      configurable: { model: 'm' },
    })
    const runtime = Object.keys(withoutRuntimeKeys({ configurable })['configurable'] as object)
    expect(runtime.toSorted()).toEqual(['checkpoint_id', 'checkpoint_map', 'checkpoint_ns'])
  })

  it('has no user, no deprecated checkpoint key and no prototype', () => {
    const sent = '{"configurable":{"__proto__":{"a":1},"thread_ts":"c","langgraph_auth_user":{},"model":"m"}}'
    const kept = withoutOwnKeys(JSON.parse(sent) as JsonObject)
    expect(Object.getOwnPropertyNames(kept['configurable'])).toEqual(['model'])
  })

  it('stays the same object when nothing is dropped', () => {
    const config = { tags: ['a'], configurable: { model: 'm' } }
    expect(withoutOwnKeys(config)).toBe(config)
    expect(withoutOwnKeys({})).toEqual({})
  })

  it('has metadata without the keys that LangGraph writes', () => {
    const ids = new Set(['thread_id'])
    const written = [...EXCLUDED_METADATA_KEYS].filter((key) => !ids.has(key))
    const metadata = Object.fromEntries(
      [...written, '__pregel_x', 'langgraph_version'].map((key) => [key, 1]),
    )
    expect(withoutStepMetadata({ ...metadata, mine: 2 })).toEqual({ langgraph_version: 1, mine: 2 })
  })
})
