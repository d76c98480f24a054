import { expect, it } from 'vitest'
import { isUiEvent, messageOf, uiMessagesOf, withUiEvent } from './ui-messages.ts'

const ui = (id: string, metadata = {}) => ({ type: 'ui', id, name: 'card', props: {}, metadata })

it('finds components in any list of the state, and no other items', () => {
  const values = {
    messages: [{ type: 'human', id: 'm' }],
    ui: [ui('a'), { type: 'ui' }, 'x'],
    cards: [ui('b')],
  }
  expect(uiMessagesOf(values).shown.map(({ id }) => id)).toEqual(['a', 'b'])
  expect(uiMessagesOf(undefined)).toEqual({ shown: [], left_out: 0 })
  expect(uiMessagesOf([1])).toEqual({ shown: [], left_out: 0 })
})

it('shows the newest 20', () => {
  const { shown, left_out } = uiMessagesOf({ ui: Array.from({ length: 25 }, (_, at) => ui(String(at))) })
  expect([shown.length, shown[0]?.id, left_out]).toEqual([20, '5', 5])
})

it('follows the events of a run', () => {
  const events = [ui('a'), ui('b'), { type: 'remove-ui', id: 'a' }] as const
  const after = events.reduce<unknown>((before, event) => withUiEvent(before, event as never), undefined)
  expect(after).toMatchObject([{ id: 'b' }])
  expect(withUiEvent({ mine: 1 }, ui('a') as never)).toEqual({ mine: 1 })
  const many = Array.from({ length: 150 }, (_, at) => ui(String(at)))
  expect(withUiEvent(many, ui('new') as never)).toHaveLength(100)
  expect([...events, { type: 'ui' }, null, 'ui'].map(isUiEvent)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})

it('knows the message of a component', () => {
  expect(messageOf(ui('a', { message_id: 'm' }) as never)).toBe('m')
  expect(messageOf(ui('a', { id: 'm' }) as never)).toBe('m')
  expect(messageOf({ ...ui('a'), metadata: undefined } as never)).toBeUndefined()
})
