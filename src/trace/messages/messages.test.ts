import { describe, expect, it } from 'vitest'
import { expectCpuBelow } from '../../../test/support/cpu-bound.ts'
import type { Issue } from '../../schema/issue.ts'
import {
  addIssue,
  jsonText,
  mediaBlock,
  mediaKind,
  message,
  readRole,
  readToolArgs,
  resolveRole,
} from './messages.ts'

describe('readRole (D-14)', () => {
  it.each([
    ['developer', 'system'],
    ['function', 'tool'],
    ['human', 'user'],
    ['ai', 'assistant'],
    ['model', 'assistant'],
    ['Assistant', 'assistant'],
    ['reasoning', 'reasoning'],
  ])('%s is %s', (sent, role) => expect(readRole(sent)).toBe(role))

  it.each(['butler', '', 'constructor', '__proto__', 7, null])('%s is not a role', (sent) => {
    expect(readRole(sent)).toBeUndefined()
  })

  it('reads any other role as user, with a warning, and a missing one by the side', () => {
    const issues: Issue[] = []
    expect(resolveRole('butler', 'assistant', 'm', issues)).toBe('user')
    expect(resolveRole(undefined, 'assistant', 'm', issues)).toBe('assistant')
    expect(issues.map(({ code, path }) => `${code} ${path}`)).toEqual([
      'unknown_role m.role',
      'role_missing m.role',
    ])
  })
})

describe('mediaBlock', () => {
  it('splits a data URL into type and bytes', () => {
    const expected = { type: 'image', base64: 'AAAA', mime_type: 'image/png' }
    expect(mediaBlock('image', { url: 'data:image/png;base64,AAAA' })).toEqual(expected)
    expect(mediaBlock('image', { base64: 'DATA:image/png;charset=x;base64,AAAA' })).toEqual(expected)
  })

  it('does not change other URLs', () => {
    expect(mediaBlock('image', { url: 'https://x.example/a' })).toEqual({
      type: 'image',
      url: 'https://x.example/a',
    })
    expect(mediaBlock('file', { url: 'data:text/plain,hi' })).toEqual({
      type: 'file',
      url: 'data:text/plain,hi',
    })
  })

  it('is undefined without a source', () => {
    expect(mediaBlock('audio', { base64: '', url: 7, mime_type: 'audio/wav' })).toBeUndefined()
  })

  it('does not scan the data: 20 MB take no time', () => {
    const url = `data:image/png;base64,${'A'.repeat(20_000_000)}`
    expectCpuBelow(0.1, () => expect(mediaBlock('image', { url })?.type).toBe('image'))
  })

  it('derives the kind from the MIME type', () => {
    expect(['image/png', 'audio/wav', 'video/mp4', 'application/pdf', undefined].map(mediaKind)).toEqual([
      'image',
      'audio',
      'video',
      'file',
      'file',
    ])
  })
})

describe('readToolArgs', () => {
  it.each([
    ['{"a":1}', { a: 1 }],
    [{ a: 1 }, { a: 1 }],
    ['', {}],
    [null, {}],
    ['null', {}],
  ])('%j is %j', (sent, args) => {
    const issues: Issue[] = []
    expect(readToolArgs(sent, '', issues)).toEqual(args)
    expect(issues).toEqual([])
  })

  it.each([['{"a":'], ['[1]'], ['7'], [[1]], [true]])('keeps %j under raw, with a warning', (sent) => {
    const issues: Issue[] = []
    expect(readToolArgs(sent, 'args', issues)).toEqual({ raw: sent })
    expect(issues).toMatchObject([{ code: 'tool_args_not_json', severity: 'warning', path: 'args' }])
  })
})

it('puts a tool call id on role tool only', () => {
  expect(message('tool', [], 'c1', 'f')).toEqual({ role: 'tool', content: [], tool_call_id: 'c1', name: 'f' })
  expect(message('user', [], 'c1', '')).toEqual({ role: 'user', content: [] })
})

it('keeps JSON that is too deep as text', () => {
  const depth = 200_000
  const deep = JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`) as never
  expect(jsonText(deep)).toBeUndefined()
  expect(jsonText({ a: [1] })).toBe('{"a":[1]}')
})

it('keeps at most 100 issues, an error among them', () => {
  const issues: Issue[] = []
  const issue = (severity: Issue['severity']): Issue => ({
    code: 'unknown_role',
    severity,
    path: '',
    message: 'x',
  })
  for (let i = 0; i < 150; i++) addIssue(issues, issue('info'))
  expect(issues).toHaveLength(100)
  expect(issues.at(-1)).toMatchObject({ code: 'more_issues', severity: 'info' })
  addIssue(issues, issue('error'))
  expect(issues.at(-1)).toMatchObject({ code: 'more_issues', severity: 'error' })
})
