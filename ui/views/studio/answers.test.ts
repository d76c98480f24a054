import { describe, expect, it } from 'vitest'
import { answersOf, type Given } from './answers.ts'

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
})
