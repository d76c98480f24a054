import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { unpackSource } from '../../deploy/source/unpack-source.ts'
import { packSource } from './pack-source.ts'
import { newFolder } from '../../../test/support/folder.ts'

let folder: string
beforeEach(async () => void (folder = await newFolder()))

async function write(path: string, text = path): Promise<void> {
  const file = join(folder, 'project', path)
  await mkdir(join(file, '..'), { recursive: true })
  await writeFile(file, text)
}

describe('the archive of a project', () => {
  it('has what the server unpacks again: also names that ustar cannot have', async () => {
    const long = `${'folder/'.repeat(20)}file.ts`
    const names = ['langgraph.json', 'src/agent.ts', 'ä ö/ü.txt', long]
    for (const name of names) await write(name)
    await write('empty', '')
    const packed = await packSource(join(folder, 'project'))
    await mkdir(join(folder, 'out'))
    expect(await unpackSource(packed.file, join(folder, 'out'))).toMatchObject({ files: 5 })
    for (const name of names) expect(await readFile(join(folder, 'out', name), 'utf8')).toBe(name)
    expect(await readFile(join(folder, 'out/empty'), 'utf8')).toBe('')
    await packed.remove()
  })

  it('leaves out what the ignore files name, dependencies, .env and links', async () => {
    for (const name of [
      'a.ts',
      '.env',
      '.env.local',
      'node_modules/x/index.js',
      'data/big',
      'keep/big',
      '.git/x',
    ])
      await write(name)
    await write('.gitignore', 'big\n!keep/big\n')
    await write('.dockerignore', '*.log\n')
    await write('x.log')
    await symlink('a.ts', join(folder, 'project/link'))
    const { files, links, remove } = await packSource(join(folder, 'project'))
    expect(files.map(({ path }) => path)).toEqual(['.dockerignore', '.gitignore', 'a.ts', 'keep/big'])
    expect(links).toEqual(['link'])
    await remove()
  })
})
