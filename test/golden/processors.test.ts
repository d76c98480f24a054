import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { builtInProcessors } from '../../processors/index.ts'
import type { Issue } from '../../src/schema/issue.ts'
import type { JsonValue } from '../../src/schema/json.ts'
import { createRegistry } from '../../src/schema/registry.ts'
import { chooseFormat } from '../../src/trace/derive/choose.ts'
import type { Hints, Side } from '../../src/trace/messages/processor.ts'

/** One golden case: a side of a TraceRun (input or output) as it was sent, and further facts of the TraceRun. */
interface Case {
  side: Side
  value: JsonValue
  hints?: Partial<Hints>
}

const ROOT = new URL('./processors/', import.meta.url)
const UPDATE = process.env['UPDATE_GOLDEN'] === '1'
const registry = createRegistry()

function chosen({ side, value, hints }: Case): Record<string, unknown> {
  const issues: Issue[] = []
  const all: Hints = {
    run_type: 'llm',
    provider: undefined,
    model: undefined,
    metadata: {},
    inputs_format: undefined,
    ...hints,
  }
  const found = chooseFormat(side, value, all, builtInProcessors, issues)
  return {
    format: found?.format ?? null,
    model: found?.model,
    usage: found?.usage,
    tools: found?.tools,
    messages: found?.messages ?? [],
    issues: issues.concat(found?.issues ?? []),
  }
}

/** Folders have the names of formats. `none` has values that no processor may recognise. */
describe.each(readdirSync(ROOT).sort())('%s', (folder) => {
  const dir = new URL(`${folder}/`, ROOT)
  const names = readdirSync(dir).filter((file) => file.endsWith('.input.json'))

  it.each(names.map((file) => file.slice(0, -'.input.json'.length)))('%s', (name) => {
    const input = readFileSync(new URL(`${name}.input.json`, dir), 'utf8')
    const sent = JSON.parse(input) as Case
    const got = chosen(sent)
    expect(got.format).toBe(folder === 'none' ? null : folder)
    for (const message of got.messages as unknown[]) expect(registry.check('message', message)).toMatchObject({ ok: true })
    expect(sent).toEqual(JSON.parse(input))
    const golden = new URL(`${name}.expected.json`, dir)
    if (UPDATE) writeFileSync(golden, `${JSON.stringify(got, null, 2)}\n`)
    expect(JSON.parse(JSON.stringify(got))).toEqual(JSON.parse(readFileSync(golden, 'utf8')))
  })
})

it('has golden cases for every built-in format', () => {
  const folders = readdirSync(ROOT)
  for (const { name } of builtInProcessors) expect(folders).toContain(name)
})
