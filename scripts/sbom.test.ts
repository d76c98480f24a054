import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, it, vi } from 'vitest'
import { inLong } from '../test/support/length.ts'
import { shippedParts, wholeSbom } from './sbom.ts'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

afterEach(() => vi.unstubAllEnvs())

it('lists exactly the packages of the lock file that are installed with Weir, and those whose code it contains', () => {
  const { packages } = JSON.parse(readFileSync(`${ROOT}package-lock.json`, 'utf8')) as {
    packages: Record<string, { name?: string; version: string; dev?: boolean }>
  }
  const installed = Object.entries(packages)
    .filter(([path, { dev }]) => path !== '' && dev !== true)
    .map(([path, { name, version }]) => `${name ?? path.replace(/^.*node_modules\//, '')}@${version}`)
  // As in the build of the web interface.
  vi.stubEnv('NODE_ENV', 'production')
  const whole = wholeSbom(ROOT)
  const sbom = shippedParts(whole, 'weir', new Set(['marked']))
  const refs = sbom.components.map((one) => one['bom-ref'])
  expect(refs.filter((ref) => !ref.startsWith('marked@')).sort()).toEqual([...new Set(installed)].sort())
  expect(refs.filter((ref) => ref.startsWith('marked@'))).toHaveLength(1)
  expect(sbom.metadata.component.name).toBe('weir')
})

inLong(() => {
  it('is the same each time', () => {
    const [one, other] = [wholeSbom(ROOT), wholeSbom(ROOT)].map((whole) =>
      JSON.stringify(shippedParts(whole, 'weir', new Set(['marked']))),
    )
    expect(one).toBe(other)
  })
})
