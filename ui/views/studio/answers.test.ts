import { describe, expect, it } from 'vitest'
import {
  answersOf,
  type Given,
  reviewOf,
  reviewWaysOf,
  waysOf,
  argumentFields,
  editedArguments,
} from './answers.ts'

const INBOX = [{ action_request: { action: 'send', args: { to: 'a' } }, config: {} }]
const MIDDLEWARE = { action_requests: [{ name: 'send', args: {} }], review_configs: [] }
const MIDDLEWARE_JS = { actionRequests: [{ name: 'send', args: {} }], reviewConfigs: [] }
const USUAL = ['accept', 'edit', 'respond', 'ignore'] as const
const offered = (value: unknown) => waysOf(reviewOf(value)).map(([way]) => way)
const given = (way: Given['way'], text: string, value: unknown = 'go on?', id = '1'): Given => ({
  way,
  text,
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
      { name: 'send', args: { to: 'a' }, ways: USUAL },
      { name: 'delete', args: { id: 1 }, ways: USUAL },
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

  it('to the middleware of LangChain for JavaScript have its names of fields', () => {
    const answer = (way: Given['way'], text: string) =>
      answersOf([given(way, text, MIDDLEWARE_JS)], JSON.parse)
    expect(reviewOf(MIDDLEWARE_JS)).toEqual({
      form: 'middleware-js',
      actions: [{ name: 'send', args: {}, ways: USUAL }],
    })
    expect(answer('edit', '{"to":"b"}')).toEqual({
      decisions: [{ type: 'edit', editedAction: { name: 'send', args: { to: 'b' } } }],
    })
    expect(answer('accept', '')).toEqual({ decisions: [{ type: 'approve' }] })
    expect(answer('ignore', '')).toEqual({ decisions: [{ type: 'reject' }] })
  })

  it('are only those that an inbox allows', () => {
    const config = { allow_accept: false, allow_edit: true, allow_ignore: false }
    expect(offered([{ ...INBOX[0], config }])).toEqual(['edit', 'respond', 'text', 'json'])
    expect(offered({ ...INBOX[0], config: null })).toEqual([...USUAL, 'text', 'json'])
  })

  it('are only those that the middleware allows for the name of a call, or for its place', () => {
    const one = (...allowed_decisions: string[]) =>
      offered({ ...MIDDLEWARE, review_configs: [{ allowed_decisions }] })
    expect(one('reject', 'approve')).toEqual(['accept', 'respond', 'ignore', 'text', 'json'])
    expect(one('edit', 'toString')).toEqual(['edit', 'text', 'json'])
    expect(one('respond')).toEqual(['result', 'text', 'json'])
    expect(one()).toEqual(['text', 'json'])
    const actionRequests = ['send', 'delete', 'send', 'pay'].map((name) => ({ name, args: {} }))
    const reviewConfigs = [
      { actionName: 'delete', allowedDecisions: ['reject'] },
      { actionName: 'send', allowedDecisions: ['approve'] },
      { actionName: 'other', allowedDecisions: ['edit'] },
      { allowedDecisions: ['edit'] },
    ]
    const review = reviewOf({ actionRequests, reviewConfigs })
    expect(review?.actions.map(({ ways }) => ways)).toEqual([
      ['accept'],
      ['respond', 'ignore'],
      ['accept'],
      ['edit'],
    ])
    expect(review?.actions.map((action) => reviewWaysOf(action)[0]?.[0])).toEqual([
      ...['accept', 'respond', 'accept', 'edit'],
    ])
  })

  it('may be the result of a call, where the middleware takes one', () => {
    const answer = answersOf([given('result', 'Tuesday', MIDDLEWARE)], JSON.parse)
    expect(answer).toEqual({ decisions: [{ type: 'respond', message: 'Tuesday' }] })
  })

  it('are offered by what the question is: a list with anything else is answered as a whole', () => {
    const one = [...USUAL, 'text', 'json']
    expect([INBOX, MIDDLEWARE, MIDDLEWARE_JS].map(offered)).toEqual([one, one, one])
    expect(offered([...INBOX, ...INBOX])).toEqual(['each', 'text', 'json'])
    for (const other of [
      'go on?',
      null,
      [],
      [...INBOX, 'x'],
      { action_requests: [] },
      { action_requests: [1] },
      { actionRequests: [null] },
    ])
      expect(offered(other)).toEqual(['text', 'json'])
  })
})

describe('the arguments of a call as a form', () => {
  const args = { to: 'a\nb', amount: 42.1, tags: ['x'] }

  it('has a field for each, with its real value', () => {
    expect(argumentFields(args)?.map(({ isText, text }) => [isText, text])).toEqual([
      [true, 'a\nb'],
      [false, '42.1'],
      [false, '[\n  "x"\n]'],
    ])
    expect([argumentFields('text'), argumentFields(null), argumentFields([1])]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  it('gives the edited values: texts as they are, others as JSON', () => {
    const fields = [
      { name: 'to', isText: true, text: '42' },
      { name: 'amount', isText: false, text: '43' },
    ]
    expect(editedArguments(fields, JSON.parse)).toBe('{"to":"42","amount":43}')
    const broken = [{ name: 'amount', isText: false, text: 'many' }]
    expect(() => editedArguments(broken, JSON.parse)).toThrow()
  })
})
