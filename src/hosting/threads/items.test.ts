import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../../base/log.ts'
import { itemsFor } from '../../runs/access/items.ts'
import { askFor } from '../../runs/access/rulings.ts'
import type { StoreItem } from '../../runs/items/kv-store.ts'
import type { LargeItems } from '../../runs/items/large-items.ts'
import { LARGE_JSON_CHARS, rawJson } from '../../schema/raw-json.ts'
import type { JsonObject } from '../../schema/json.ts'
import { startLargeItems } from './items.ts'

const TENANT = { workspace_id: 'w', deployment_id: 'd' }
const USER = { identity: 'ada', display_name: 'Ada', is_authenticated: true, permissions: [] }

function large(owner: string): string {
  return JSON.stringify({ owner, text: 'a text', pad: 'x'.repeat(LARGE_JSON_CHARS) })
}

/** The thread, and a list of the tasks that it received. */
function openThread(): LargeItems & { asked: string[] } {
  const stops = new AsyncDisposableStack()
  const thread = startLargeItems({ logger: createLogger({ level: 'silent' }), stops })
  onTestFinished(() => stops.disposeAsync())
  const asked: string[] = []
  return {
    asked,
    texts: (...input) => thread.texts(...input),
    matches(...input) {
      asked.push('matches')
      return thread.matches(...input)
    },
  }
}

it('the thread takes the texts that are embedded, and refuses those that are too long', async () => {
  const thread = openThread()
  expect(await thread.texts(large('ada'), ['text', 'owner'])).toEqual([
    { path: 'text 0', text: 'a text' },
    { path: 'owner 0', text: 'ada' },
  ])
  const whole = JSON.stringify({ pad: 'x'.repeat(5 << 20) })
  await expect(thread.texts(whole, ['$'])).rejects.toMatchObject({ code: 'body_too_large' })
})

it('a filter of the auth file is applied to large items in the thread, and to small ones at once', async () => {
  const thread = openThread()
  const stored = new Map<string, string>()
  const found = (key: string): StoreItem | undefined => {
    const value_json = stored.get(key)
    return value_json === undefined
      ? undefined
      : { namespace: ['n'], key, value_json, created_at: 0, updated_at: 0 }
  }
  const rules = { ask: async () => ({ filter: { owner: 'ada', namespace: { $contains: 'n' } }, value: {} }) }
  const items = itemsFor(
    {
      put: async (_tenant, { key }) => void stored.set(key, large('ada')),
      get: async (_tenant, _namespace, key) => found(key),
      remove: async (_tenant, _namespace, key) => void stored.delete(key),
    },
    askFor(rules, USER),
    thread,
  )
  const put = (key: string, json: string): Promise<void> =>
    items.put(TENANT, { namespace: ['n'], key, value: rawJson(json) as JsonObject })
  stored.set('small', '{"owner":"ada"}')
  expect(await items.get(TENANT, ['n'], 'small')).toBeDefined()
  expect(thread.asked).toEqual([])

  await expect(put('mine', large('eve'))).rejects.toMatchObject({ code: 'forbidden' })
  await put('mine', large('ada'))
  expect(await items.get(TENANT, ['n'], 'mine')).toBeDefined()
  expect(thread.asked).toEqual(['matches', 'matches', 'matches'])
  stored.set('hers', large('eve'))
  expect(await items.get(TENANT, ['n'], 'hers')).toBeUndefined()
  await items.remove(TENANT, ['n'], 'hers')
  expect(stored.has('hers')).toBe(true)
  await expect(put('hers', large('ada'))).rejects.toMatchObject({ code: 'forbidden' })
})
