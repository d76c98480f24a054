import { chmod, rename, stat, symlink } from 'node:fs/promises'
import type { Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { holdSocket } from './hold-socket.ts'
import { createServer, request } from './http.ts'
import { newFolder } from '../../../test/support/folder.ts'

describe.skipIf(process.platform !== 'linux')('a socket in a folder of code that is not trusted', () => {
  let folder: string
  const servers: Pick<Server, 'close'>[] = []
  beforeEach(async () => void (folder = await newFolder()))
  afterEach(async () => {
    for (const server of servers.splice(0)) server.close()
  })
  const serve = async (path: string, text: string): Promise<void> => {
    const server = createServer((_req, res) => res.end(text))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(path, resolve))
  }
  const ask = (socketPath: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const asked = request({ socketPath, agent: false }, (res) => {
        let text = ''
        res.on('data', (chunk) => (text += String(chunk))).on('end', () => resolve(text))
      })
      asked.on('error', reject).end()
    })

  it('stays the same when a link takes its place', async () => {
    const [app, other] = [join(folder, 'app'), join(folder, 'other')]
    await serve(app, 'app')
    await serve(other, 'other')
    const held = await holdSocket(app)
    await rename(app, join(folder, 'moved'))
    await symlink(other, app)
    expect(await ask(held?.path ?? '')).toBe('app')
    expect(await ask(app)).toBe('other')
    await chmod(held?.path ?? '', 0o640)
    const modes = await Promise.all([join(folder, 'moved'), other].map((path) => stat(path)))
    expect(modes.map(({ mode }) => (mode & 0o777) === 0o640)).toEqual([true, false])
    await held?.close()
    expect(await holdSocket(app)).toBeUndefined()
  })

  it('has to be a socket', async () => {
    expect(await holdSocket(folder)).toBeUndefined()
    await expect(holdSocket(join(folder, 'none'))).rejects.toMatchObject({ code: 'ENOENT' })
  })
})
