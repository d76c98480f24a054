import { describe, expect, it } from 'vitest'
import { parseTyped } from '../../../api/typed-json.ts'
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

  it('#66: choices have the types of the schema, not their texts', () => {
    const values = ['a', '', '""', '1', 1, 2.5, true, 'true', null, { a: [1] }]
    const fields = inputFields({ properties: { one: { enum: values } } }) ?? []
    const [{ choices, kind } = { choices: [], kind: undefined }] = fields
    expect(kind).toBe('choice')
    const texts = choices.map(({ text }) => text)
    expect(texts).toEqual([
      ...['a', '""', String.raw`"\"\""`, '"1"', '1', '2.5', 'true', '"true"', 'null', '{"a":[1]}'],
    ])
    for (const [place, text] of texts.entries()) {
      const input = { one: values[place] }
      expect(inputOf(fields, () => text)).toEqual(input)
      expect(textsOfInput(fields, input)?.get('one')).toBe(text)
    }
  })

  it('are those of a schema whose unions only restrict it', () => {
    const $defs = { Base: { properties: { more: { type: 'string' } } } }
    const id = { type: 'string', anyOf: [{ format: 'uuid' }, { format: 'uri' }] }
    const properties = { id, size: { type: 'integer', oneOf: [{ minimum: 9 }, { maximum: 1 }] } }
    const required = [{ required: ['id'] }, { required: ['size'] }]
    for (const schema of [
      { type: 'object', properties, anyOf: required },
      { properties, oneOf: required },
      { properties, allOf: [{ $ref: '#/$defs/Base' }], $defs },
    ])
      expect(inputFields(schema)?.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
        ...['id: text', 'size: number'],
      ])
  })

  it('follow references within the schema, up to a bound', () => {
    const $defs = {
      Size: { enum: [1, 2], description: 'How large' },
      'a/b~c d': { type: 'string' },
      Loop: { anyOf: [{ $ref: '#/$defs/Loop' }, { $ref: '#/$defs/Loop' }] },
      Input: {
        type: 'object',
        properties: {
          size: { $ref: '#/$defs/Size' },
          usual: { allOf: [{ $ref: '#/$defs/Size' }], default: 1 },
          maybe: { anyOf: [{ $ref: '#/$defs/Size' }, { type: 'null' }] },
          fixed: { const: 3 },
          text: { $ref: '#/$defs/a~1b~0c%20d' },
          either: { oneOf: [{ type: 'string' }, { type: 'integer' }] },
          loop: { $ref: '#/$defs/Loop' },
          gone: { $ref: '#/$defs/toString' },
          other: { $ref: 'https://a.example/b' },
          broken: { $ref: '#/%' },
          nothing: { type: 'null' },
        },
      },
    }
    const fields = inputFields({ $ref: '#/$defs/Input', $defs }) ?? []
    expect(fields.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      ...['size: choice', 'usual: choice', 'maybe: choice', 'fixed: choice', 'text: text'],
      ...['either: json', 'loop: json', 'gone: json', 'other: json', 'broken: json', 'nothing: json'],
    ])
    expect(fields.find(({ name }) => name === 'maybe')?.choices.map(({ value }) => value)).toEqual([
      1,
      2,
      null,
    ])
    expect(fields[0]?.title).toBe('How large')
    expect(inputOf(fields, (name) => (name === 'size' ? '2' : ''))).toEqual({ size: 2 })
  })
})
