import { describe, expect, it } from 'vitest'
import { openSecrets, replacedSecrets } from './deployment-secrets.ts'
import { deploymentEnvironment } from './environment.ts'
import { createMask } from './mask.ts'
import { createSealer } from '../../base/node/sealer.ts'

describe('secrets of deployments', () => {
  it('P-16: logs mask values of 8 characters and more, the longest first, and lines of values', () => {
    const mask = createMask(['12345678', '12345678-longer', 'short', 'first line\nsecond line'])
    expect(mask('a 12345678-longer b 12345678 c short')).toBe('a *** b *** c short')
    expect(mask('> second line')).toBe('> ***')
  })

  it('P-16: in a long line that was cut within a value, what is left of the value is masked', () => {
    const mask = createMask(['another value', 'begin-middle-end'])
    const long = 'x'.repeat(4_000)
    expect(mask(`middle-end${long}begin-middle-`)).toBe(`***${long}***`)
    expect(mask(`dle-end${long}begin-m`)).toBe(`dle-end${long}begin-m`)
    expect(mask(`middle-end x begin-middle-`)).toBe(`middle-end x begin-middle-`)
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
  it('P-18: a name with "=" does not set a reserved variable, and NUL is in no variable', () => {
    const secrets = ['NODE_OPTIONS=--require=x', 'PATH=/tmp', '', 'N\0'].map((name) => ({ name, value: '1' }))
    const { env, left_out } = deploymentEnvironment(
      { 'LANGSMITH_API_KEY=x': 'y', VALUE: 'a\0b', A: '1' },
      secrets,
    )
    expect(env).toEqual({ A: '1' })
    expect(left_out).toEqual(['LANGSMITH_API_KEY=x', 'VALUE', ...secrets.map(({ name }) => name)])
  })

  it.each([
    ['A=B', '1'],
    ['A\0', '1'],
    ['A', 'x\0y'],
  ])('P-18: a secret that no process can have is refused: %j with %j', (name, value) => {
    const sealer = createSealer('k')
    const sent = [{ name, value }]
    expect(() => replacedSecrets({ id: 'd', secrets: [] }, sent, { sealer, now: 1 })).toThrow(
      expect.objectContaining({ code: 'invalid_request', message: expect.stringMatching(/^secrets: /) }),
    )
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
