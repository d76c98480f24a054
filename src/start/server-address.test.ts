import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { announceServer, findServer } from './server-address.ts'
import { startTime } from '../storage/child-processes.ts'
import { newFolder } from '../../test/support/folder.ts'

const ADDRESS = { url: 'http://127.0.0.1:1985', deploymentUrl: 'http://127.0.0.1:2025' }
let dataDir: string
beforeEach(async () => void (dataDir = await newFolder()))

const file = (): string => join(dataDir, 'server.json')
async function changeFile(changes: object): Promise<void> {
  const before = JSON.parse(await readFile(file(), 'utf8')) as object
  await writeFile(file(), JSON.stringify({ ...before, ...changes }))
}

describe('the server address in a data directory', () => {
  it('is found while the server runs, is readable by the owner only, and leaves no temporary file', async () => {
    expect(await findServer(dataDir)).toBeUndefined()
    const announced = await announceServer(dataDir, ADDRESS)
    expect(announced.isFirst).toBe(true)
    expect(await findServer(dataDir)).toEqual({ ...ADDRESS, pid: process.pid })
    expect((await stat(file())).mode & 0o777).toBe(0o600)
    expect(await readdir(dataDir)).toEqual(['server.json'])
  })

  it('is not found once the server stops, and the next start is not the first', async () => {
    await (await announceServer(dataDir, ADDRESS)).withdraw()
    expect(await findServer(dataDir)).toBeUndefined()
    const again = await announceServer(dataDir, { ...ADDRESS, deploymentUrl: undefined })
    expect(again.isFirst).toBe(false)
    expect(await findServer(dataDir)).toEqual({
      url: ADDRESS.url,
      deploymentUrl: undefined,
      pid: process.pid,
    })
  })

  it('is compared with that of the last start (D-55)', async () => {
    expect((await announceServer(dataDir, ADDRESS)).movedAddresses).toEqual([])
    const next = { url: 'http://0.0.0.0:1984', deploymentUrl: undefined }
    const moved = [{ from: ADDRESS.url, to: 'http://127.0.0.1:1984' }]
    expect((await announceServer(dataDir, next)).movedAddresses).toEqual(moved)
    expect((await announceServer(dataDir, next)).movedAddresses).toEqual([])
  })

  it('is not found when the process is dead or another process has its pid', async () => {
    await announceServer(dataDir, ADDRESS)
    const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)'])
    const exited = once(child, 'exit')
    const dying = { pid: child.pid ?? 0, started: await startTime(child.pid ?? 0) }
    await changeFile({ process: dying })
    expect(await findServer(dataDir)).toMatchObject({ pid: child.pid })
    child.kill('SIGKILL')
    await exited
    expect(await findServer(dataDir)).toBeUndefined()
    await changeFile({ process: { pid: process.pid, started: 'another time' } })
    expect(await findServer(dataDir)).toBeUndefined()
  })

  it('is found when the server has pid 1, as in a container', async () => {
    await announceServer(dataDir, ADDRESS)
    await changeFile({ process: { pid: 1, started: await startTime(1) } })
    expect(await findServer(dataDir)).toEqual({ ...ADDRESS, pid: 1 })
    expect((await announceServer(dataDir, ADDRESS)).isFirst).toBe(false)
  })

  it('is not found in a copy of the folder', async () => {
    await announceServer(dataDir, ADDRESS)
    const copy = join(dataDir, 'copy')
    await cp(file(), join(copy, 'server.json'))
    expect(await findServer(copy)).toBeUndefined()
    expect(await findServer(dataDir)).toBeDefined()
  })

  it('replaces the address of all interfaces by the loopback address', async () => {
    await announceServer(dataDir, { url: 'http://0.0.0.0:1984', deploymentUrl: 'http://[::]:2024' })
    expect(await findServer(dataDir)).toMatchObject({
      url: 'http://127.0.0.1:1984',
      deploymentUrl: 'http://[::1]:2024',
    })
  })

  it.each(['', 'no json', '[]', 'null', '{"url":"x"}'])(
    'is not found in a file that holds %j',
    async (text) => {
      await writeFile(file(), text)
      expect(await findServer(dataDir)).toBeUndefined()
      expect((await announceServer(dataDir, ADDRESS)).isFirst).toBe(true)
    },
  )

  it.each([
    { process: { pid: 1, started: 'x' } },
    { process: { pid: process.pid } },
    { process: 5 },
    { url: 'no url' },
    { deployment_url: 7 },
    { folder: undefined },
  ])('is not found in a file with %j', async (changes) => {
    await announceServer(dataDir, ADDRESS)
    await changeFile(changes)
    expect(await findServer(dataDir)).toBeUndefined()
  })
})
