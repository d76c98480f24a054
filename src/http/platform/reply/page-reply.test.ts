import { describe, expect, it } from 'vitest'
import { pageReply } from './page-reply.ts'

const PAGE = '{"items":[{"inputs":{\r\n  "a": "b\\nc"\n}}],"next_cursor":null}'
const reply = (accept?: string) => {
  const { headers, body } = pageReply({ headers: accept === undefined ? {} : { accept } }, Buffer.from(PAGE))
  return { headers, text: Buffer.from(body).toString('utf8') }
}

describe('a page of API v2', () => {
  it.each([undefined, '*/*', 'application/json', 'text/*'])('is JSON for Accept %s', (accept) => {
    expect(reply(accept)).toEqual({ headers: { vary: 'accept' }, text: PAGE })
  })

  it.each(['text/event-stream', 'application/json, Text/Event-Stream;q=0.9'])(
    'is events for %s',
    (accept) => {
      const { headers, text } = reply(accept)
      expect(headers).toMatchObject({ 'content-type': 'text/event-stream' })
      const [data, end, rest] = text.split('\n\n')
      expect([end, rest]).toEqual(['event: end\ndata: {}', ''])
      const lines = data!.split(/\r\n|\r|\n/)
      expect(lines).toHaveLength(2)
      expect(lines[0]).toBe('event: data')
      expect(JSON.parse(lines[1]!.slice('data: '.length))).toEqual([
        { op: 'add', path: '', value: JSON.parse(PAGE) },
      ])
    },
  )
})
