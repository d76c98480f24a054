import fc from 'fast-check'
import { expect, it } from 'vitest'
import { tries } from '../../../test/support/properties.ts'
import { type EventFilter, passes } from './filter.ts'
import type { ProtocolEvent } from './protocol-event.ts'

/** The rule of V-25, written out literally. */
function modelPasses({ channels, namespaces, depth }: EventFilter, namespace: readonly string[]): boolean {
  if (!channels.includes('values')) return false
  if (namespaces.length === 0) return true
  return namespaces.some((prefix) => {
    if (prefix.length > namespace.length) return false
    for (const [at, wanted] of prefix.entries()) {
      const [name] = (namespace[at] ?? '').split(':')
      if (wanted !== namespace[at] && (wanted.includes(':') || wanted !== name)) return false
    }
    return depth === undefined || namespace.length <= prefix.length + depth
  })
}

it('filters show what the rule says (V-25)', () => {
  const segment = fc.constantFrom('a', 'b', 'a:1', 'a:2', 'b:1')
  const namespace = fc.array(segment, { maxLength: 3 })
  const filter = fc.record({
    channels: fc.subarray(['values', 'custom', 'custom:x', 'lifecycle'], { minLength: 1 }),
    namespaces: fc.array(namespace, { maxLength: 3 }),
    depth: fc.option(fc.nat(3), { nil: undefined }),
  })
  fc.assert(
    fc.property(filter, namespace, (asked, at) => {
      const event = { method: 'values', namespace: at } as unknown as ProtocolEvent
      expect(passes(asked, event)).toBe(modelPasses(asked, at))
      const named = { ...event, method: 'custom', name: 'x' }
      const inChannel = asked.channels.includes('custom') || asked.channels.includes('custom:x')
      expect(passes(asked, named)).toBe(inChannel && modelPasses({ ...asked, channels: ['values'] }, at))
    }),
    tries(500),
  )
})
