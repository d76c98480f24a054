import { expect, it } from 'vitest'
import { AppError } from '../../../base/errors.ts'
import { closeFor } from './serve-socket.ts'

it('a refusal in any script has a reason that fits into a close frame (V-34)', () => {
  for (const message of ['нет '.repeat(50), '不'.repeat(60), '🚫'.repeat(40), 'no']) {
    const closed: [number, string][] = []
    const close = (code: number, reason: string): void => void closed.push([code, reason])
    closeFor({ close }, new AppError('unauthorized', { message }))
    const [code, reason = ''] = closed[0] ?? []
    expect(code).toBe(4401)
    expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123)
    expect(reason.length).toBeGreaterThan(0)
    expect(message.startsWith(reason)).toBe(true)
  }
})
