import { link, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { giveFiles, takeFiles } from './user-files.ts'
import { newFolder } from '../../../test/support/folder.ts'

const isRoot = process.platform === 'linux' && process.getuid?.() === 0

it.skipIf(!isRoot)(
  'P-23: files that a build has linked to its cache stay those of its user there',
  async () => {
    const folder = await newFolder()
    const [cache, built] = [join(folder, 'cache'), join(folder, 'built')]
    for (const dir of [cache, built]) await mkdir(dir)
    const [cached, linked] = [join(cache, 'package'), join(built, 'package')]
    await writeFile(cached, 'content', { mode: 0o755 })
    await link(cached, linked)
    const [builder, host] = [1_900_000_001, 1_900_000_000].map((id) => ({ uid: id, gid: id }))
    for (const dir of [cache, built]) await takeFiles(dir, builder ?? expect.fail())

    await giveFiles(built, host ?? expect.fail())
    expect(await stat(cached)).toMatchObject({ ...builder, nlink: 1 })
    const { uid, gid, mode } = await stat(linked)
    expect([uid, gid, mode & 0o777]).toEqual([0, host?.gid, 0o750])
    expect(await readFile(linked, 'utf8')).toBe('content')
  },
)
