import { describe, expect, it } from 'vitest'
import type { Issue } from '../../schema/issue.ts'
import type { JsonValue } from '../../schema/json.ts'
import { createRegistry } from '../../schema/registry.ts'
import { readCanonicalMessages, validateMessages } from './message-checks.ts'

const registry = createRegistry()
const codes = (messages: unknown[]) =>
  validateMessages(messages).map((issue) => `${issue.code} ${issue.path}`)
const user = (...content: unknown[]) => ({ role: 'user', content })

describe('validateMessages', () => {
  it('accepts one message of every role and one block of every type', () => {
    const messages = [
      { role: 'system', content: [{ type: 'text', text: '', annotations: [{}], extras: {} }] },
      { role: 'reasoning', content: [{ type: 'reasoning', text: 'r', extras: {} }] },
      user(
        ...['image', 'file', 'audio', 'video'].map((type) => ({ type, base64: 'AA==', mime_type: 'a/b' })),
      ),
      {
        role: 'assistant',
        content: [
          { type: 'tool_call', args: {}, id: 'c1' },
          { type: 'server_tool_call', id: 's1', name: 'n', args: {} },
          { type: 'server_tool_result', tool_call_id: 's1', status: 'error', output: null },
        ],
      },
      { role: 'tool', tool_call_id: 'c1', content: [] },
    ]
    expect(codes(messages)).toEqual([])
  })

  it.each([
    ['text', 'text'],
    ['reasoning', 'text'],
    ['tool_call', 'args'],
    ['server_tool_call', 'id'],
    ['server_tool_call', 'name'],
    ['server_tool_call', 'args'],
    ['server_tool_result', 'tool_call_id'],
    ['server_tool_result', 'status'],
  ])('a %s block needs %s', (type, field) => {
    const whole: Record<string, unknown> = {
      type,
      text: 't',
      args: {},
      id: 'i',
      name: 'n',
      tool_call_id: 'i',
      status: 'success',
    }
    expect(codes([user(whole)])).toEqual([])
    const { [field]: _gone, ...without } = whole
    expect(codes([user(without)])).toEqual([`content_field_missing [0].content[0].${field}`])
  })

  it('reads null as an absent field', () => {
    const none = { url: null, id: null, mime_type: null }
    const sent = [
      user(
        { type: 'text', text: 't', annotations: null, extras: null },
        { type: 'image', base64: 'AA==', ...none },
        { type: 'server_tool_result', tool_call_id: 'i', status: 'success', id: null, output: null },
      ),
      { ...user(), tool_call_id: null, name: null, usage_metadata: null },
    ]
    const issues: Issue[] = []
    const read = readCanonicalMessages(sent as JsonValue[], '', issues)
    expect(issues).toEqual([])
    expect(read).toEqual([
      user(
        { type: 'text', text: 't' },
        { type: 'image', base64: 'AA==' },
        { type: 'server_tool_result', tool_call_id: 'i', status: 'success', output: null },
      ),
      user(),
    ])
    expect(codes([user({ type: 'image', base64: null, url: 'https://x.example' })])).toEqual([
      'media_without_base64 [0].content[0].base64',
    ])
    expect(codes([user({ type: 'text', text: null })])).toEqual(['content_field_missing [0].content[0].text'])
  })

  it('accepts media by reference with a warning, and refuses media without any source', () => {
    const issues = validateMessages([
      user({ type: 'image', url: 'https://x.example' }, { type: 'video', id: 'v' }, { type: 'audio' }),
    ])
    expect(issues.map(({ code, severity }) => [code, severity])).toEqual([
      ['media_without_base64', 'warning'],
      ['media_without_base64', 'warning'],
      ['content_field_missing', 'error'],
    ])
  })

  it('finds the call of an answer in the content or in tool_calls of an earlier assistant message only', () => {
    const answer = { role: 'tool', tool_call_id: 'c1', content: [] }
    const inContent = { role: 'assistant', content: [{ type: 'tool_call', id: 'c1', args: {} }] }
    const beside = { role: 'assistant', content: [], tool_calls: [{ id: 'c1', name: 'f', args: {} }] }
    expect(codes([inContent, answer])).toEqual([])
    expect(codes([beside, answer])).toEqual([])
    expect(codes([answer, inContent])).toEqual(['tool_call_id_unknown [0].tool_call_id'])
    expect(codes([{ ...inContent, role: 'user' }, answer])).toEqual(['tool_call_id_unknown [1].tool_call_id'])
    expect(codes([inContent, { ...answer, role: 'assistant' }])).toEqual([
      'tool_call_id_misplaced [1].tool_call_id',
    ])
    expect(codes([{ role: 'tool', content: [] }])).toEqual([])
  })

  it('reports wrong roles, contents and messages', () => {
    expect(codes([{ role: 'robot', content: [] }])).toEqual(['unknown_role [0].role'])
    expect(codes([{ role: 'human', content: [] }])).toEqual(['unknown_role [0].role'])
    expect(codes([{ content: [] }])).toEqual(['role_missing [0].role'])
    expect(codes([{ role: 'user', content: 'hi' }])).toEqual(['content_not_array [0].content'])
    expect(codes([{ role: 'user' }])).toEqual(['content_missing [0].content'])
    expect(codes([user('bare', { type: 'hologram' }, {})])).toEqual([
      'content_not_object [0].content[0]',
      'unknown_content_type [0].content[1].type',
      'content_type_missing [0].content[2].type',
    ])
    expect(codes(['hi', null])).toEqual(['message_not_object [0]', 'message_not_object [1]'])
  })

  it('has a fix for every issue, and stops at 100', () => {
    const issues = validateMessages(Array.from({ length: 5000 }, () => user({ type: 'text' })))
    expect(issues).toHaveLength(100)
    expect(issues.at(-1)).toMatchObject({ code: 'more_issues', severity: 'error' })
    for (const issue of issues) expect(issue.fix).toBeTruthy()
  })
})

describe('readCanonicalMessages', () => {
  it('returns valid messages unchanged, as the same objects', () => {
    const sent: JsonValue[] = [user({ type: 'text', text: 'hi', extra: 1 })] as JsonValue[]
    expect(readCanonicalMessages(sent, '', [])[0]).toBe(sent[0])
  })

  it('corrects invalid ones so that they fit the schema, and loses no data', () => {
    const sent = [
      user('bare', 7, { type: 'text', text: 't', annotations: 'x' }, { type: 'tool_call', args: '{}' }),
      { role: 'robot', content: 'said', name: 7, tool_call_id: 'x', usage_metadata: 'much' },
      null,
    ] as JsonValue[]
    const issues: Issue[] = []
    const got = readCanonicalMessages(sent, '', issues)
    for (const message of got) expect(registry.check('message', message)).toMatchObject({ ok: true })
    expect(got).toEqual([
      user(
        { type: 'text', text: 'bare' },
        { type: 'text', text: '', extras: { unread: 7 } },
        { type: 'text', text: 't', extras: { unread: { type: 'text', text: 't', annotations: 'x' } } },
        { type: 'text', text: '', extras: { unread: { type: 'tool_call', args: '{}' } } },
      ),
      user({ type: 'text', text: 'said' }),
      user({ type: 'text', text: '', extras: { unread: null } }),
    ])
  })
})
