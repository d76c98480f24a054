import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { langgraphWarning, tooOldLanggraph } from './langgraph-version.ts'
import { newFolder } from '../../../test/support/folder.ts'

let folder: string
beforeEach(async () => void (folder = await newFolder()))

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

describe('tooOldLanggraph', () => {
  it.each(['0.2.8', '0.3.12'])('names %s and the command to run', async (version) => {
    const reason = await tooOldLanggraph(await projectWith(version))
    expect(reason).toContain(`LangGraph ${version} is installed`)
    expect(reason).toContain('npm install @langchain/langgraph@latest')
  })

  it.each(['0.4.0', '0.10.1', '1.0.0', '2.1.0'])('accepts %s', async (version) => {
    expect(await tooOldLanggraph(await projectWith(version))).toBeUndefined()
  })

  it('accepts a project that uses the LangGraph of Weir', async () => {
    expect(await tooOldLanggraph(join(folder, 'agent.ts'))).toBeUndefined()
  })
})
