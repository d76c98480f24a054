import { describe, expect, it } from 'vitest'
import { answersOf, type Given, reviewOf, waysOf } from './answers.ts'

const INBOX = [{ action_request: { action: 'send', args: { to: 'a' } }, config: {} }]
const MIDDLEWARE = { action_requests: [{ name: 'send', args: {} }], review_configs: [] }
const given = (way: Given['way'], text: string, value: unknown = 'go on?', id = '1'): Given => ({
  ...{ way, text },
  interrupt: { id, value },
})

describe('the answers to questions', () => {
  it('#66 are text, JSON, or one of four reviews, and not only true', () => {
    const answer = (one: Given) => answersOf([one], JSON.parse)
    expect(answer(given('text', 'no, later'))).toBe('no, later')
    expect(answer(given('json', '{"ok":false}'))).toEqual({ ok: false })
    expect(answer(given('accept', '', INBOX))).toEqual([{ type: 'accept', args: null }])
    expect(answer(given('ignore', '', INBOX))).toEqual([{ type: 'ignore', args: null }])
    expect(answer(given('respond', 'why?', INBOX))).toEqual([{ type: 'response', args: 'why?' }])
    expect(answer(given('edit', '{"to":"b"}', INBOX))).toEqual([
      { type: 'edit', args: { action: 'send', args: { to: 'b' } } },
    ])
    expect(answer(given('respond', 'why?', MIDDLEWARE))).toEqual({
      decisions: [{ type: 'reject', message: 'why?' }],
    })
  })

  it('to several questions are named by their ids', () => {
    expect(answersOf([given('text', 'x', 'one?', 'a'), given('json', '2', 'two?', 'b')], JSON.parse)).toEqual(
      {
        a: 'x',
        b: 2,
      },
    )
  })

  it('#70: all calls of one question are shown, and each has its own answer', () => {
    const inbox = ['send', 'delete', 'pay'].map((action) => ({ action_request: { action, args: {} } }))
    const action_requests = [
      { name: 'send', args: { to: 'a' } },
      { name: 'delete', arguments: { id: 1 } },
    ]
    expect(reviewOf(inbox)?.actions.map(({ name }) => name)).toEqual(['send', 'delete', 'pay'])
    expect(reviewOf({ action_requests })?.actions).toEqual([
      { name: 'send', args: { to: 'a' } },
      { name: 'delete', args: { id: 1 } },
    ])
    const each: Given['each'] = [
      { way: 'accept', text: '' },
      { way: 'edit', text: '{"id":2}' },
      { way: 'respond', text: 'too much' },
    ]
    const answer = (value: unknown) => answersOf([{ ...given('each', '', value), each }], JSON.parse)
    expect(answer(inbox)).toEqual([
      { type: 'accept', args: null },
      { type: 'edit', args: { action: 'delete', args: { id: 2 } } },
      { type: 'response', args: 'too much' },
    ])
    expect(answer({ action_requests })).toEqual({
      decisions: [{ type: 'approve' }, { type: 'edit', edited_action: { name: 'delete', args: { id: 2 } } }],
    })
  })

  it('are offered by what the question is: a list with anything else is answered as a whole', () => {
    const ways = (value: unknown) => waysOf(reviewOf(value)).map(([way]) => way)
    const one = ['accept', 'edit', 'respond', 'ignore', 'text', 'json']
    expect([ways(INBOX), ways(MIDDLEWARE)]).toEqual([one, one])
    expect(ways([...INBOX, ...INBOX])).toEqual(['each', 'text', 'json'])
    for (const other of [
      'go on?',
      null,
      [],
      [...INBOX, 'x'],
      { action_requests: [] },
      { action_requests: [1] },
    ])
      expect(ways(other)).toEqual(['text', 'json'])
  })
})
