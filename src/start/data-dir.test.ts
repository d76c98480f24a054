import { readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '../base/errors.ts'
import { prepareDataDir, toStartError } from './data-dir.ts'
import { announceServer } from './server-address.ts'
import { newFolder } from '../../test/support/folder.ts'

let dir: string
beforeEach(async () => void (dir = await newFolder()))

describe('prepareDataDir', () => {
  it('creates a folder with owner-only access that Git ignores, and keeps existing files', async () => {
    const made = join(dir, 'a/b')
    await prepareDataDir(made)
    expect((await stat(made)).mode & 0o777).toBe(0o700)
    expect(await readFile(join(made, '.gitignore'), 'utf8')).toBe('*\n')
    await writeFile(join(made, '.gitignore'), '')
    await prepareDataDir(made)
    expect(await readFile(join(made, '.gitignore'), 'utf8')).toBe('*\n')
    await writeFile(join(made, '.gitignore'), 'mine')
    await prepareDataDir(made)
    expect(await readFile(join(made, '.gitignore'), 'utf8')).toBe('mine')
  })

  it.each(['', '/sub', '/sub/sub'])('refuses a file%s', async (below) => {
    const file = join(dir, 'file')
    await writeFile(file, '')
    await expect(prepareDataDir(file + below)).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: `${file} is a file, and DATA_DIR needs a folder there. Set DATA_DIR to another folder.`,
    })
  })

  it.skipIf(process.platform !== 'linux')('refuses a folder in which nothing can be created', async () => {
    await expect(prepareDataDir('/proc/none/data')).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: expect.stringContaining('/proc/none/data (DATA_DIR) cannot be created'),
    })
  })

  it('refuses a folder that another server uses, and names its address', async () => {
    const { withdraw } = await announceServer(dir, { url: 'http://127.0.0.1:1985', deploymentUrl: undefined })
    await expect(prepareDataDir(dir)).rejects.toMatchObject({
      code: 'data_dir_unusable',
      message: `A server runs on ${dir} already, at http://127.0.0.1:1985 (process ${process.pid}). Use that one, stop it, or set DATA_DIR to another folder.`,
    })
    await withdraw()
    await prepareDataDir(dir)
  })
})

describe('toStartError', () => {
  const errno = (code: string, path?: string): Error => Object.assign(new Error(code), { code, path })

  it.each([
    [
      errno('ENOSPC'),
      'The disk of /d (DATA_DIR) is full. Make room on it, or set DATA_DIR to another folder.',
    ],
    [
      errno('EDQUOT'),
      'The disk of /d (DATA_DIR) is full. Make room on it, or set DATA_DIR to another folder.',
    ],
    [
      new AppError('disk_full'),
      'The disk of /d (DATA_DIR) is full. Make room on it, or set DATA_DIR to another folder.',
    ],
    [
      errno('EROFS'),
      'The disk of /d (DATA_DIR) is not writable. Fix that, or set DATA_DIR to another folder.',
    ],
    [
      errno('EACCES', '/d/blobs'),
      'This user may not write /d/blobs (EACCES). Give it the folder /d, or set DATA_DIR to another folder.',
    ],
    [
      Object.assign(new Error('unable to open database file'), { errcode: 14 }),
      'A database in /d (DATA_DIR) cannot be opened. Give this user the folder and all files in it, or set DATA_DIR to another folder.',
    ],
  ])('turns %s into an error about the folder', (thrown, message) => {
    expect(toStartError(thrown, '/d')).toMatchObject({ code: 'data_dir_unusable', message, cause: thrown })
  })

  it.each([
    [
      errno('EACCES', '/parent'),
      'This user may not write /parent (EACCES). Give it the folder /parent/d, or set DATA_DIR to another folder.',
    ],
    [
      errno('EPERM', '/parent/d'),
      'This user may not write /parent/d (EPERM). Give it the folder /parent/d, or set DATA_DIR to another folder.',
    ],
  ])('names the path of %s, also above the folder', (thrown, message) => {
    expect(toStartError(thrown, '/parent/d')).toMatchObject({ code: 'data_dir_unusable', message })
  })

  it.each([
    errno('EACCES', '/elsewhere/own.ts'),
    errno('EACCES', '/data2/file'),
    errno('EACCES'),
    new AppError('disk_full', { message: 'The disk of the Postgres server is full.' }),
  ])('keeps %s, which is not about the folder', (thrown) =>
    expect(toStartError(thrown, '/data')).toBe(thrown),
  )

  it.each([new AppError('config_invalid'), new TypeError('x'), errno('ECONNREFUSED'), 'text', undefined])(
    'keeps %s, which is not about a disk',
    (thrown) => expect(toStartError(thrown, '/d')).toBe(thrown),
  )
})
