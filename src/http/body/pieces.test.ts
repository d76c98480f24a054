import fc from 'fast-check'
import { expect, it } from 'vitest'
import { collectGarbage } from '../../base/node/collect-garbage.ts'
import { createBodyPieces } from './pieces.ts'
import { tries } from '../../../test/support/properties.ts'

it('returns every byte in order for any sizes of chunks', async () => {
  const chunk = fc.oneof(
    fc.uint8Array({ maxLength: 20 }),
    fc.integer({ min: 4000, max: 9000 }).map((length) => new Uint8Array(length).fill(length)),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(chunk, { maxLength: 40 }), fc.nat(10), async (chunks, prefix_bytes) => {
      const pieces = createBodyPieces()
      for (const one of chunks) pieces.add(Buffer.from(one))
      const { prefix, bytes } = await pieces.joined(prefix_bytes)
      expect(Buffer.compare(Buffer.concat([prefix, bytes]), Buffer.concat(chunks))).toBe(0)
      expect(prefix.length).toBe(Math.min(prefix_bytes, prefix.length + bytes.length))
      expect(bytes.byteLength).toBe(bytes.buffer.byteLength)
    }),
    tries(),
  )
})

it('uses little more memory than the body when each chunk is one byte', async () => {
  const count = 1_000_000
  const pieces = createBodyPieces()
  collectGarbage()
  const before = process.memoryUsage()
  for (let i = 0; i < count; i++) pieces.add(Buffer.from('x'))
  // Buffer.from takes each byte from a block of 8 KiB, which is garbage when the pieces have copied it.
  collectGarbage()
  const after = process.memoryUsage()
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(3 * count)
  expect((await pieces.joined()).bytes.length).toBe(count)
})
