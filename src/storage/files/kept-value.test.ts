import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { keptValue } from './kept-value.ts'
import { newFolder } from '../../../test/support/folder.ts'

let dir: string

beforeEach(async () => void (dir = await newFolder()))

describe('keptValue', () => {
  it('creates a value once, in a file for its owner only, and leaves no other file', async () => {
    expect(await keptValue(join(dir, 'new'), 'id', () => 'first')).toBe('first')
    expect(await keptValue(join(dir, 'new'), 'id', () => 'second')).toBe('first')
    expect(await readdir(join(dir, 'new'))).toEqual(['id'])
    expect((await stat(join(dir, 'new', 'id'))).mode & 0o077).toBe(0)
  })

  it('creates a value when a killed start left the file empty', async () => {
    await writeFile(join(dir, 'id'), '')
    expect(await keptValue(dir, 'id', () => 'made')).toBe('made')
  })

  it('creates none when the file exists and cannot be read', async () => {
    await mkdir(join(dir, 'id'))
    const make = (): string => expect.unreachable('a value was made')
    await expect(keptValue(dir, 'id', make)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  it('writes beside the file and renames: a failed write changes nothing', async () => {
    // The name is so long that the temporary file, whose name is longer, cannot be created.
    const name = 'i'.repeat(250)
    await writeFile(join(dir, name), '\n')
    await expect(keptValue(dir, name, () => 'made')).rejects.toMatchObject({ code: 'ENAMETOOLONG' })
    expect(await readFile(join(dir, name), 'utf8')).toBe('\n')
  })

  it('creates the same value in several processes at once', async () => {
    const values = Array.from({ length: 20 }, () => keptValue(dir, 'id', () => 'shared'))
    expect(await Promise.all(values)).toEqual(values.map(() => 'shared'))
    expect(await readdir(dir)).toEqual(['id'])
  })
})
