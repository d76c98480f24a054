import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
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

describe('schemas', () => {
  const ajv = new Ajv2020({ strict: false })

  it.each(names)('%s is a valid JSON Schema 2020-12', (name) => {
    const file = new URL(`../../schemas/${name}.schema.json`, import.meta.url)
    expect(ajv.validateSchema(JSON.parse(readFileSync(file, 'utf8')) as object)).toBe(true)
  })
})

describe('createRegistry', () => {
  it.each(names)('compiles the schema %s', (name) => {
    expect(createRegistry().check(name, undefined)).toMatchObject({ ok: false })
  })

  it('returns a valid value unchanged', () => {
    const result = createRegistry().check('config', valid)
    expect(result).toEqual({ ok: true, value: valid })
    expect(result.ok && result.value).toBe(valid)
  })

  it('names each problem with a code and a path', () => {
    const { ['PORT']: _, ...rest } = valid
    const result = createRegistry().check('config', { ...rest, AUTH: 'x', PROCESSORS: ['a', 7], extra: 1 })
    expect(!result.ok && result.faults.map(({ code, path }) => [code, path])).toEqual([
      ['missing_field', 'PORT'],
      ['unknown_field', 'extra'],
      ['unknown_value', 'AUTH'],
      ['wrong_type', 'PROCESSORS[1]'],
    ])
  })

  it('lists all allowed values, null too', () => {
    const result = createRegistry().check('thread-create', { if_exists: 'x' })
    expect(!result.ok && result.faults[0]?.message).toBe('must be one of raise, do_nothing, null')
  })

  it('reports a bounded number of problems', () => {
    const result = createRegistry().check('config', {
      ...valid,
      PROCESSORS: Array.from({ length: 5000 }, () => 1),
    })
    expect(!result.ok && result.faults.length).toBe(100)
  })

  it('treats a missing schema as a bug of the program', () => {
    expect(() => createRegistry().check('no-such' as SchemaName, {})).toThrow('no-such.schema.json')
  })
})
