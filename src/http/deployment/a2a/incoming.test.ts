import { expect, it } from 'vitest'
import { inputOf, readIncoming } from './incoming.ts'

const MESSAGE = { messageId: 'm-1', role: 'ROLE_USER', parts: [{ text: 'one' }] }

it('A2A-5: each text is a message with an id of its own, so that a graph keeps them all', () => {
  const parts = [{ text: 'one' }, { data: { n: 1 } }, { kind: 'text', text: 'two' }]
  const input = inputOf(readIncoming({ message: { ...MESSAGE, parts } }))
  expect(input).toEqual({
    n: 1,
    messages: [
      { role: 'human', content: 'one', id: 'm-1' },
      { role: 'human', content: 'two', id: 'm-1:1' },
    ],
  })
})

it.each(['constructor', 'toString', 'ROLE_UNSPECIFIED'])('A2A-5: the role %s is an error', (role) => {
  expect(() => readIncoming({ message: { ...MESSAGE, role } })).toThrow('message.role must be')
})
