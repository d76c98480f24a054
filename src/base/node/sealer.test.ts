import { expect, it } from 'vitest'
import { createSealer } from './sealer.ts'

const PLACE = 'deployment/KEY'

it('P-16: a sealed value can be opened for its place and with its key only, and does not contain the value', () => {
  const sealer = createSealer('k')
  const sealed = sealer.seal(PLACE, 'sk-ä-value')
  expect(sealer.open(PLACE, sealed)).toBe('sk-ä-value')
  expect(Buffer.from(sealed, 'base64').toString('latin1')).not.toContain('value')
  expect(sealer.seal(PLACE, 'sk-ä-value')).not.toBe(sealed)
  const bytes = Buffer.from(sealed, 'base64')
  bytes[bytes.length - 1]! ^= 1
  const unreadable = expect.objectContaining({ code: 'secrets_unreadable' })
  for (const open of [
    () => createSealer('other').open(PLACE, sealed),
    () => sealer.open('deployment/OTHER', sealed),
    () => sealer.open('other/KEY', sealed),
    () => sealer.open(PLACE, bytes.toString('base64')),
    () => sealer.open(PLACE, ''),
  ])
    expect(open).toThrow(unreadable)
})
