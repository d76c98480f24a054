import { describe, expect, it } from 'vitest'
import { missingPlatformPackages } from './lock-platforms.ts'

describe('missingPlatformPackages', () => {
  it('D-2: adds packages that the registry left out, with the platform from their names', () => {
    const lock = {
      'node_modules/engine': {
        version: '1.0.0',
        license: 'MIT',
        dev: true,
        optionalDependencies: {
          '@engine/lib-linux-x64-gnu': '1.0.0',
          '@engine/lib-darwin-arm64': '1.0.0',
          '@engine/binding-linux-arm-musleabihf': '^1.0.0',
        },
      },
      'node_modules/@engine/lib-linux-x64-gnu': { version: '1.0.0', optional: true },
    }
    expect(missingPlatformPackages(lock)).toEqual({
      'node_modules/@engine/lib-darwin-arm64': {
        version: '1.0.0',
        cpu: ['arm64'],
        dev: true,
        license: 'MIT',
        optional: true,
        os: ['darwin'],
      },
      'node_modules/@engine/binding-linux-arm-musleabihf': {
        version: '1.0.0',
        cpu: ['arm'],
        dev: true,
        libc: ['musl'],
        license: 'MIT',
        optional: true,
        os: ['linux'],
      },
    })
  })

  it('finds nested packages the way Node does', () => {
    const lock = {
      'node_modules/a/node_modules/b': { optionalDependencies: { 'c-linux-x64': '1.0.0' } },
      'node_modules/a/node_modules/c-linux-x64': { version: '1.0.0' },
    }
    expect(missingPlatformPackages(lock)).toEqual({})
  })

  it('refuses an optional package with an unknown platform', () => {
    const lock = { 'node_modules/a': { optionalDependencies: { mystery: '1.0.0' } } }
    expect(() => missingPlatformPackages(lock)).toThrow('mystery')
  })
})
