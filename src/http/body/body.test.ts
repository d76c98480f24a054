import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { createAdmission } from './admission.ts'
import { withBody } from './body.ts'

const LIMITS = { max_body_bytes: 1_000, body_window_ms: 10_000, min_body_bytes_per_second: 1 }

it('what a body is decoded to takes its place in the memory of all bodies, until it has been used', async () => {
  const admission = createAdmission(8_000)
  const source = { req: Readable.from([Buffer.alloc(100)]), principal: undefined }
  const held = await withBody(source, admission, LIMITS, async (_body, hold) => {
    const answers = [hold(60), admission.inFlightBytes(), hold(5_000), admission.inFlightBytes(), hold(7_001)]
    return [...answers, admission.inFlightBytes()]
  })
  expect(held).toEqual([true, 100, true, 5_000, false, 5_000])
  expect(admission.inFlightBytes()).toBe(0)
})
