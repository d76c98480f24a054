import fc from 'fast-check'
import { expect, it } from 'vitest'
import { createBodyPieces } from './body-pieces.ts'
import { tries } from '../../test/support/properties.ts'

it('gives back every byte in order, whatever the chunks are', () => {
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.integer({ min: 4000, max: 9000 }).map((length) => new Uint8Array(length).fill(length)),
  )
  fc.assert(
    fc.property(fc.array(chunk, { maxLength: 40 }), (chunks) => {
      const pieces = createBodyPieces()
      for (const one of chunks) pieces.add(Buffer.from(one))
      const joined = pieces.joined()
      expect(Buffer.compare(joined, Buffer.concat(chunks))).toBe(0)
      expect(joined.byteLength).toBe(joined.buffer.byteLength)
    }),
    tries(),
  )
})

it('takes little more memory than the bytes of a body that comes one by one', () => {
  const count = 1_000_000
  const pieces = createBodyPieces()
  const before = process.memoryUsage()
  for (let i = 0; i < count; i++) pieces.add(Buffer.from('x'))
  const after = process.memoryUsage()
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(3 * count)
  expect(pieces.joined().length).toBe(count)
})
