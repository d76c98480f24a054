import { afterEach, expect, it } from 'vitest'
import { type AppFixture, startApp } from '../../../../../test/support/servers/app-fixture.ts'
import type { Media } from '../../../../trace/json/media.ts'

const RUN = '0195f3a0-0000-7000-8000-000000000001'
let fixture: AppFixture
afterEach(() => fixture.stop())

function withFile(file: Media) {
  return startApp({
    reads: { media: async (_workspace, _id, path) => (path === '/a/~1 "b' ? file : undefined) },
  })
}
const fileOf = (mime: string, text = '<script>alert(1)</script>'): Media => ({
  mime,
  bytes: new Uint8Array(Buffer.from(text)),
})

it('N14: links only when they are asked for', async () => {
  const asked: unknown[] = []
  fixture = await startApp({
    reads: {
      traceRun: async (_workspace, _id, _choice, link) => {
        asked.push(link)
        return Buffer.from('{}')
      },
    },
  })
  const statuses = []
  for (const query of ['', '?media=inline', '?media=refs', '?media=x'])
    statuses.push((await fixture.request(`/api/v1/runs/${RUN}${query}`)).status)
  expect(statuses).toEqual([200, 200, 200, 422])
  expect(asked).toEqual([undefined, undefined, `/api/v1/runs/${RUN}/media?path=`])
})

it.each([
  ['image/png', 'image/png', 'inline'],
  ['audio/mpeg', 'audio/mpeg', 'inline'],
  ['image/svg+xml', 'image/svg+xml', 'attachment'],
  ['text/html', 'text/html', 'attachment'],
  ['application/xhtml+xml', 'application/xhtml+xml', 'attachment'],
  ['text/html\r\nx: y', 'application/octet-stream', 'attachment'],
])('N14: a file of type %j is sent as %s, %s, and cannot run', async (mime, type, disposition) => {
  fixture = await withFile(fileOf(mime))
  const answer = await fixture.request(`/api/v1/runs/${RUN}/media?path=${encodeURIComponent('/a/~1 "b')}`)
  expect(await answer.text()).toBe('<script>alert(1)</script>')
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': type,
    'content-disposition': expect.stringMatching(`^${disposition}; filename\\*=UTF-8''`) as unknown,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
  })
})

it('N14: a file of text arrives whole, also compressed', async () => {
  const text = 'a line\n'.repeat(1000)
  fixture = await withFile(fileOf('text/plain', text))
  const answer = await fixture.request(`/api/v1/runs/${RUN}/media?path=${encodeURIComponent('/a/~1 "b')}`)
  expect([answer.headers.get('content-encoding'), await answer.text()]).toEqual(['gzip', text])
})

it('N14: there is nothing at other places, and nothing without a key', async () => {
  fixture = await withFile(fileOf('image/png'))
  const statusOf = async (query: string, headers = {}) =>
    (await fixture.request(`/api/v1/runs/${RUN}/media${query}`, { headers })).status
  expect(await statusOf('?path=/b')).toBe(404)
  expect(await statusOf('')).toBe(422)
  expect(await statusOf('?path=/a', { 'x-api-key': 'other' })).toBe(401)
})
