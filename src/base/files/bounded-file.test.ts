import { execFileSync } from 'node:child_process'
import { open, readFile, symlink, truncate, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { changeBoundedFile, readBoundedFile } from './bounded-file.ts'
import { useFolder } from '../../../test/support/folder.ts'

describe('D-64: a file that untrusted code has written', () => {
  let folder: string
  const path = (name: string): string => join(folder, name)
  const server = createServer()
  useFolder(async (made) => {
    folder = made
    await writeFile(path('plain'), 'content')
    execFileSync('mkfifo', [path('pipe')])
    await symlink('/dev/zero', path('device'))
    await symlink('/etc/hostname', path('link'))
    await symlink('plain', path('inside'))
    await writeFile(path('huge'), '')
    await truncate(path('huge'), 2 ** 40)
    await new Promise<void>((resolve) => server.listen(path('socket'), resolve))
  })
  afterAll(async () => {
    server.close()
  })
  const bounds = { max_bytes: 10 }

  it('is read if it is regular, not too large, and in its folder', async () => {
    expect(String(await readBoundedFile(path('plain'), { max_bytes: 7 }))).toBe('content')
    expect(String(await readBoundedFile(path('inside'), { ...bounds, within: folder }))).toBe('content')
    expect(String(await readBoundedFile('/proc/self/status', { max_bytes: 1 << 16 }))).toContain('VmRSS')
  })

  it.each([
    ['pipe', 'is not a regular file'],
    ['device', 'is not a regular file'],
    ['socket', 'is not a regular file'],
    ['huge', 'has more than 10 bytes'],
  ])('is refused at once otherwise: a %s', async (name, message) => {
    await expect(readBoundedFile(path(name), bounds)).rejects.toThrow(message)
  })

  it('may be a link, but not one that leads out of its folder', async () => {
    await expect(readBoundedFile(path('link'), { ...bounds, within: folder })).rejects.toMatchObject({
      fault: 'outside',
    })
    await expect(readBoundedFile(path('none'), { ...bounds, within: folder })).rejects.toMatchObject({
      code: 'ENOENT',
    })
    await expect(readBoundedFile(folder, bounds)).rejects.toMatchObject({ code: 'EISDIR' })
  })

  it('may not grow beyond its bound while it is read', async () => {
    const file = await open(path('grows'), 'w')
    let isDone = false
    const growing = (async () => {
      while (!isDone) await file.write('x'.repeat(1 << 16))
    })()
    const read = await readBoundedFile(path('grows'), { max_bytes: 1 << 20 }).catch((error: Error) => error)
    isDone = true
    await growing
    await file.close()
    if (read instanceof Error) expect(read.message).toBe('has more than 1048576 bytes')
    else expect(read.length).toBeLessThanOrEqual(1 << 20)
  })

  it('is changed only if it is a regular file itself', async () => {
    await writeFile(path('script'), '#!/old/bin')
    const change = (content: Buffer): string => content.toString().replace('old', 'n')
    for (const name of ['script', 'inside', 'pipe', 'socket', 'huge', 'none', '.'])
      await changeBoundedFile(path(name), bounds, change)
    expect(await readFile(path('script'), 'utf8')).toBe('#!/n/bin')
    expect(await readFile(path('plain'), 'utf8')).toBe('content')
  })
})
