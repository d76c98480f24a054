import { expect, it } from 'vitest'
import { toldBy } from './watch-run.ts'

const event = (name: string, data: string) => ({ id: '1-0', position: 0, run_id: 'r', event: name, data })

it('MCP-5: progress is the node that runs, or the last of the text that it writes', () => {
  const node = event('tasks', '{"id":"t","name":"ask \\"one\\"","input":{"big":1}}')
  expect(toldBy([node])).toBe('ask "one"')
  const text = event('messages/partial', JSON.stringify([{ type: 'ai', content: 'x'.repeat(300) + 'end' }]))
  expect(toldBy([node, text])).toMatch(/^x{197}end$/)
  expect(toldBy([text, node])).toBe('ask "one"')
  expect(toldBy([event('values', '{}'), { gap: { requested: '0-0', oldest: null } }])).toBeUndefined()
})
