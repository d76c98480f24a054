import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { langgraphWarning } from './langgraph-version.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function projectWith(version: string): Promise<string> {
  const own = join(folder, 'node_modules', '@langchain', 'langgraph')
  await mkdir(own, { recursive: true })
  await writeFile(
    join(own, 'package.json'),
    JSON.stringify({
      name: '@langchain/langgraph',
      version,
      exports: { './package.json': './package.json' },
    }),
  )
  return join(folder, 'src', 'agent.ts')
}

describe('langgraphWarning', () => {
  it.each(['1.3.9', '0.4.2', '2.4.18'])('names both versions when the project has %s', async (version) => {
    const warning = await langgraphWarning([await projectWith(version)], '1.4.18')
    expect(warning).toMatchObject({ project_langgraph: version, weir_langgraph: '1.4.18' })
    expect(warning?.message).toContain(version)
  })

  it.each(['1.4.18', '1.4.0', '1.4.99'])('does not warn about %s', async (version) => {
    expect(await langgraphWarning([await projectWith(version)], '1.4.18')).toBeUndefined()
  })

  it('does not warn about a project that uses the LangGraph of Weir', async () => {
    expect(await langgraphWarning([join(folder, 'agent.ts')])).toBeUndefined()
  })
})
