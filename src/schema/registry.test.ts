import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createRegistry, type SchemaName } from './registry.ts'

const names = readdirSync(new URL('../../schemas/', import.meta.url))
  .filter((file) => file.endsWith('.schema.json'))
  .map((file) => file.replace('.schema.json', '') as SchemaName)

const config = JSON.parse(
  readFileSync(new URL('../../schemas/config.schema.json', import.meta.url), 'utf8'),
) as { required: string[]; properties: Record<string, { default: unknown }> }

/** Every required setting with its default. */
const valid = Object.fromEntries(
  config.required.map((name): [string, unknown] => [name, config.properties[name]?.default]),
)

describe('createRegistry', () => {
  it.each(names)('compiles the schema %s', (name) => {
    expect(createRegistry().check(name, undefined)).toMatchObject({ ok: false })
  })

  it('gives a valid value back as it is', () => {
    const result = createRegistry().check('config', valid)
    expect(result).toEqual({ ok: true, value: valid })
    expect(result.ok && result.value).toBe(valid)
  })

  it('names each problem with a code and a path', () => {
    const { ['PORT']: _, ...rest } = valid
    const result = createRegistry().check('config', { ...rest, AUTH: 'x', PROCESSORS: ['a', 7], extra: 1 })
    expect(!result.ok && result.issues.map(({ code, severity, path }) => [code, severity, path])).toEqual([
      ['missing_field', 'error', 'PORT'],
      ['unknown_field', 'error', 'extra'],
      ['unknown_value', 'error', 'AUTH'],
      ['wrong_type', 'error', 'PROCESSORS[1]'],
    ])
  })

  it('tells all values that there are, null too', () => {
    const result = createRegistry().check('thread-create', { if_exists: 'x' })
    expect(!result.ok && result.issues[0]?.message).toBe('must be one of raise, do_nothing, null')
  })

  it('reports a bounded number of problems', () => {
    const result = createRegistry().check('config', {
      ...valid,
      PROCESSORS: Array.from({ length: 5000 }, () => 1),
    })
    expect(!result.ok && result.issues.length).toBe(100)
  })

  it('takes a missing schema for a fault of the program', () => {
    expect(() => createRegistry().check('no-such' as SchemaName, {})).toThrow('no-such.schema.json')
  })
})
