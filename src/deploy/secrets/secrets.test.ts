import { describe, expect, it } from 'vitest'
import { openSecrets, replacedSecrets } from './deployment-secrets.ts'
import { deploymentEnvironment } from './environment.ts'
import { createMask } from './mask.ts'
import { createSealer } from './seal.ts'

const PLACE = { deployment_id: 'd', name: 'KEY' }

describe('secrets of deployments', () => {
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
      () => sealer.open({ ...PLACE, name: 'OTHER' }, sealed),
      () => sealer.open({ ...PLACE, deployment_id: 'e' }, sealed),
      () => sealer.open(PLACE, bytes.toString('base64')),
      () => sealer.open(PLACE, ''),
    ])
      expect(open).toThrow(unreadable)
  })

  it('P-16: logs mask values of 8 characters and more, the longest first, and lines of values', () => {
    const mask = createMask(['12345678', '12345678-longer', 'short', 'first line\nsecond line'])
    expect(mask('a 12345678-longer b 12345678 c short')).toBe('a *** b *** c short')
    expect(mask('> second line')).toBe('> ***')
  })

  it('P-18: secrets replace the env of langgraph.json; reserved names are left out', () => {
    const secrets = ['A', 'NODE_OPTIONS', 'WEIR_URL', 'LD_PRELOAD', 'LANGSMITH_API_KEY', 'PATH', 'PYTHONPATH']
    const { env, left_out } = deploymentEnvironment(
      { A: 'of the file', B: 1, C: { no: 'text' }, PORT: 1 },
      secrets.map((name) => ({ name, value: 'secret' })),
    )
    expect(env).toEqual({ A: 'secret', B: '1' })
    expect(left_out).toEqual(['PORT', ...secrets.slice(1)])
  })
  it('P-17: a sent list replaces all secrets, an empty one or none keeps them', () => {
    const sealer = createSealer('k')
    const first = replacedSecrets({ id: 'd', secrets: [] }, [{ name: 'A', value: '1' }], { sealer, now: 5 })
    expect(first).toEqual([{ name: 'A', sealed: expect.any(String), updated_at: 5 }])
    const stored = { id: 'd', secrets: first }
    for (const kept of [[], undefined])
      expect(replacedSecrets(stored, kept, { sealer, now: 6 })).toEqual(first)
    const sent = ['2', '3'].map((value) => ({ name: 'B', value }))
    const second = { id: 'd', secrets: replacedSecrets(stored, sent, { sealer, now: 7 }) }
    expect(openSecrets(second, sealer)).toEqual([{ name: 'B', value: '3' }])
    expect(() => openSecrets({ ...second, id: 'e' }, sealer)).toThrow(
      expect.objectContaining({ code: 'secrets_unreadable' }),
    )
  })
})
