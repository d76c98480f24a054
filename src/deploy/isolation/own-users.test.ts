import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { HAS_OTHER_USERS, NO_OTHER_USERS } from '../../../test/support/linux.ts'
import { openOwnUsers } from './own-users.ts'
import { idsOfServer, userOf } from './user-ids.ts'
import { inLong } from '../../../test/support/length.ts'
import { newFolder } from '../../../test/support/folder.ts'

describe.skipIf(!HAS_OTHER_USERS)(`P-23: user ids of their own${NO_OTHER_USERS}`, () => {
  let dataDir: string
  beforeEach(async () => void (dataDir = await newFolder()))
  const open = () => openOwnUsers({ env: process.env, packages: tmpdir(), dataDir })

  it('end what an earlier start has left running under them, and nothing else', async ({ skip }) => {
    const { first } = idsOfServer(dataDir)
    const loop = (uid: number): ChildProcess => {
      const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], {
        ...userOf(uid),
        cwd: '/',
        env: {},
      })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    }
    const [left, other] = [loop(first + 1), loop(first - 1)]
    const ended = once(left, 'exit')
    const opened = await open()
    if ('reason' in opened) return skip(opened.reason)
    expect(await ended).toEqual([null, 'SIGKILL'])
    expect(other.exitCode ?? other.signalCode).toBeNull()
  })

  inLong(() => {
    it('have one build of a deployment at a time', async ({ skip }) => {
      const opened = await open()
      if ('reason' in opened) return skip(opened.reason)
      const order: string[] = []
      const build = async (name: string, id: string) => {
        const dir = join(dataDir, 'deployments', 'builds', name)
        await mkdir(dir)
        const { end } = await opened.builds(dir, { id, cache: dir })
        order.push(`${name} begins`)
        return async () => {
          order.push(`${name} ends`)
          await end()
        }
      }
      const endFirst = await build('first', 'd')
      const second = build('second', 'd')
      const endOther = await build('other', 'e')
      await endFirst()
      const endSecond = await second
      await Promise.all([endOther(), endSecond()])
      const begun = ['first begins', 'other begins', 'first ends', 'second begins']
      expect(order).toEqual([...begun, 'other ends', 'second ends'])
    })
  })

  it('do not work, and change no mode of DATA_DIR, where a folder cannot be made for a user', async () => {
    await mkdir(join(dataDir, 'deployments', 'users'), { recursive: true })
    await writeFile(join(dataDir, 'deployments', 'users', 'probe'), '')
    await chmod(dataDir, 0o750)
    expect(await open()).toMatchObject({ reason: expect.stringContaining('EEXIST') })
    expect((await stat(dataDir)).mode & 0o7777).toBe(0o750)
  })

  it('leave a folder for files of all users as it is', async () => {
    await chmod(dataDir, 0o1777)
    expect(await open()).toMatchObject({ reason: expect.stringContaining('DATA_DIR') })
    expect((await stat(dataDir)).mode & 0o7777).toBe(0o1777)
  })
})
