import { gunzipSync, zstdDecompressSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { accepts, createCompressor } from './compressor.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const BODY = JSON.stringify(Array.from({ length: 300 }, (_, n) => ({ n, text: '日本語' })))

it.each([
  ['gzip, deflate, br, zstd', 'zstd', zstdDecompressSync],
  ['gzip, deflate', 'gzip', gunzipSync],
  ['ZSTD;q=0, GZip;q=0.5', 'gzip', gunzipSync],
] as const)('N17: compresses an answer for a client that accepts %s', async (accepted, encoding, decode) => {
  for (const body of [BODY, Buffer.from(BODY)]) {
    const answer = await createCompressor().encode(accepted, { ...JSON_TYPE, vary: 'accept' }, body)
    expect(answer.headers).toMatchObject({ 'content-encoding': encoding, vary: 'accept, accept-encoding' })
    expect(decode(answer.body as Uint8Array).toString()).toBe(BODY)
    expect(answer.body.length).toBeLessThan(BODY.length / 2)
  }
})

it.each([
  [undefined, JSON_TYPE, BODY],
  ['', JSON_TYPE, BODY],
  ['identity, gzip;q=0, zstd; q=0.000', JSON_TYPE, BODY],
  ['gzip', JSON_TYPE, '{}'],
  ['gzip', { 'content-type': 'text/event-stream' }, BODY],
  ['gzip', { 'content-type': 'image/png' }, BODY],
  ['gzip', { ...JSON_TYPE, 'content-encoding': 'br' }, BODY],
])('N17: leaves an answer as it is: accepted %j, %j', async (accepted, headers, body) => {
  const answer = await createCompressor().encode(accepted, headers, body)
  expect(answer.body).toBe(body)
  expect(answer.headers['content-encoding']).toBe(
    (headers as { 'content-encoding'?: string })['content-encoding'],
  )
  expect(answer.headers['x-padding']).toBeUndefined()
})

it('N17: lets no answer wait for others to be compressed', async () => {
  const compressor = createCompressor()
  const answers = await Promise.all([1, 2, 3].map(() => compressor.encode('gzip', JSON_TYPE, BODY)))
  expect(answers.map(({ headers }) => headers['content-encoding'])).toEqual(['gzip', 'gzip', undefined])
  const next = await compressor.encode('gzip', JSON_TYPE, BODY)
  expect(next.headers['content-encoding']).toBe('gzip')
})

it('N17: says no length of before', async () => {
  const headers = { ...JSON_TYPE, 'content-length': BODY.length }
  const [small, same] = [
    createCompressor().encode('gzip', headers, BODY),
    createCompressor().encode('', headers, BODY),
  ]
  expect((await small).headers).not.toHaveProperty('content-length')
  expect((await same).headers).toHaveProperty('content-length', BODY.length)
})

it('N17: hides how long a compressed answer is', async () => {
  const compressor = createCompressor()
  const lengths = new Set<number>()
  for (let n = 0; n < 20; n += 1) {
    const { headers } = await compressor.encode('gzip', JSON_TYPE, BODY)
    lengths.add(String(headers['x-padding']).length)
  }
  expect(lengths.size).toBeGreaterThan(3)
})

it('reads Accept-Encoding by whole names', () => {
  expect([accepts('x-gzip', 'gzip'), accepts('gzip;q=1.0', 'gzip'), accepts('*', 'gzip')]).toEqual([
    false,
    true,
    false,
  ])
})
