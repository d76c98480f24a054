import { expect, it } from 'vitest'
import type { JsonValue } from '../../../schema/json.ts'
import { answerOf, formOf, questionsIn } from './question.ts'

const PLAIN = { type: 'object', properties: { response: { type: 'string' } }, required: ['response'] }

it.each<[value: JsonValue, message: string]>([
  ['Go on?', 'Go on?'],
  [{ question: 'Why?', message: 'no' }, 'Why?'],
  [{ message: 'This?' }, 'This?'],
  [{ prompt: '', description: 'That?' }, 'That?'],
  [{ n: 1 }, '{"n":1}'],
  [7, '7'],
])('MCP-8: the question of %j is its text', (value, message) => {
  expect(formOf({ id: 'a', value })).toEqual({ message, requestedSchema: PLAIN, is_whole: false })
})

it('MCP-8: a flat schema of the interrupt is the form, and its content the answer', () => {
  const properties = { ok: { type: 'boolean' }, n: { type: 'integer' } }
  const flat = { type: 'object', properties, required: ['ok'], $defs: {} }
  const form = formOf({ id: 'a', value: 'Sure?', response_schema: flat })
  expect(form).toMatchObject({
    requestedSchema: { type: 'object', properties, required: ['ok'] },
    is_whole: true,
  })
  expect(answerOf({ ok: true }, true)).toEqual({ ok: true })
  expect(answerOf({ response: 'yes' }, false)).toBe('yes')
  const deep = { type: 'object', properties: { list: { type: 'array', items: {} } } }
  expect(formOf({ id: 'a', value: 'Sure?', response_schema: deep })).toMatchObject({
    requestedSchema: PLAIN,
    is_whole: false,
  })
})

it('MCP-8: interrupts by their id, of every version of LangGraph', () => {
  const output = { __interrupt__: [{ id: 'a', value: 1 }, { interrupt_id: 'b' }, 'bare'] }
  expect(questionsIn(output)).toEqual([
    { id: 'a', value: 1 },
    { id: 'b', value: null },
    { id: '2', value: 'bare' },
  ])
  expect([questionsIn({ answer: 1 }), questionsIn('text'), questionsIn(null)]).toEqual([[], [], []])
})
