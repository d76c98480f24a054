import { describe, expect, it } from 'vitest'
import { parseTyped } from '../../api/typed-json.ts'
import { inputFields, inputOf, textsOfInput } from './input-fields.ts'

const SCHEMA = {
  properties: {
    messages: { type: 'array' },
    topic: { type: ['string', 'null'], description: 'What about' },
    size: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    mode: { enum: ['fast', 'good'] },
    more: {},
  },
}

describe('the fields of an input', () => {
  it('have the kinds that the schema gives them, and other values are JSON', () => {
    expect(inputFields(SCHEMA)?.map(({ kind }) => kind)).toEqual([
      'messages',
      'text',
      'number',
      'choice',
      'json',
    ])
    expect(inputFields(null)).toBeUndefined()
  })

  it('make an input without empty fields, and a fault names its line', () => {
    const typed: Record<string, string> = { messages: 'hi', size: '3', more: '{"a":[1]}' }
    expect(inputOf(inputFields(SCHEMA) ?? [], (name) => typed[name] ?? '')).toEqual({
      messages: [{ type: 'human', content: 'hi' }],
      size: 3,
      more: { a: [1] },
    })
    expect(() => parseTyped('{\n  "a": x\n}', 'Input')).toThrow(/Input is not JSON, line 2/)
  })

  it('have files beside the text of a message, in the form that chat models of LangChain take', () => {
    const fields = inputFields(SCHEMA) ?? []
    const picture = { type: 'image', mime_type: 'image/png', base64: 'AA==' } as const
    const sound = { type: 'audio', mime_type: 'audio/mpeg', base64: 'AB==' } as const
    const texts = (typed: string) => (name: string) => (name === 'messages' ? typed : '')
    const blocks = [
      { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } },
      { type: 'input_audio', input_audio: { data: 'AB==', format: 'mp3' } },
    ]
    expect(inputOf(fields, texts('What is it?'), [picture, sound])).toEqual({
      messages: [{ type: 'human', content: [{ type: 'text', text: 'What is it?' }, ...blocks] }],
    })
    expect(inputOf(fields, texts('[{"type":"system","content":"x"}]'), [picture])).toEqual({
      messages: [
        { type: 'system', content: 'x' },
        { type: 'human', content: [blocks[0]] },
      ],
    })
    expect(inputOf(fields, texts(''), [picture])).toEqual({
      messages: [{ type: 'human', content: [blocks[0]] }],
    })
  })

  it('are filled again from an earlier input, unless they could not give it', () => {
    const fields = inputFields(SCHEMA) ?? []
    const inputs = [
      { messages: [{ type: 'human', content: 'hi' }], topic: 'x', size: 3, mode: 'good' },
      { messages: [{ type: 'human', content: [{ type: 'text', text: 'x' }] }], more: { a: [1] } },
      { messages: [{ type: 'human', content: '[1]', id: 'm' }] },
    ]
    for (const input of inputs) {
      const texts = textsOfInput(fields, input)
      expect(inputOf(fields, (name) => texts?.get(name) ?? '')).toEqual(input)
    }
    for (const input of [{ topic: '' }, { unknown: 1 }, { topic: 7 }, { mode: 'other' }])
      expect(textsOfInput(fields, input)).toBeUndefined()
  })
})
