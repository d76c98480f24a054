import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { withoutLinux } from '../../test/support/linux.ts'
import { createLogger } from '../base/log.ts'
import { endLeftovers, recordChild, startTime } from './child-processes.ts'
import { newFolder } from '../../test/support/folder.ts'

const onlyLinux = withoutLinux()
const logger = createLogger({ level: 'silent' })
let dataDir: string

beforeEach(async () => void (dataDir = await newFolder()))

async function sleeper() {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  await once(child, 'spawn')
  const exited = once(child, 'exit')
  const pid = child.pid ?? 0
  const end = async () => {
    child.kill('SIGKILL')
    await exited
  }
  return { pid, exited, end }
}

async function leaveRecord(pid: number, started: string | undefined, parent: object): Promise<void> {
  await mkdir(join(dataDir, 'processes'), { recursive: true })
  const record = { name: 'test', pid, started, parent }
  await writeFile(join(dataDir, 'processes', `test-${pid}.json`), JSON.stringify(record))
}

const DEAD = { pid: 2 ** 22 + 1, started: 'long ago' }

describe('records of child processes', () => {
  it('a process has one start time while it runs, and none afterwards', async () => {
    const child = await sleeper()
    const started = await startTime(child.pid)
    expect(started).toBeTypeOf('string')
    expect(await startTime(child.pid)).toBe(started)
    await child.end()
    expect(await startTime(child.pid)).toBeUndefined()
  })

  it('a child whose parent has ended is ended', async () => {
    const child = await sleeper()
    await leaveRecord(child.pid, await startTime(child.pid), DEAD)
    expect(await endLeftovers(dataDir, logger)).toBe(1)
    expect((await child.exited)[1]).toBe('SIGKILL')
    expect(await readdir(join(dataDir, 'processes'))).toEqual([])
  })

  it('a child whose parent runs is not ended, until its record is removed', async () => {
    const child = await sleeper()
    const forget = await recordChild(dataDir, 'test', child.pid)
    expect(await endLeftovers(dataDir, logger)).toBe(0)
    expect(await startTime(child.pid)).toBeDefined()
    await forget()
    expect(await readdir(join(dataDir, 'processes'))).toEqual([])
    await child.end()
  })

  it('a child whose record cannot be written has none', async () => {
    const child = await sleeper()
    // A folder in the place of the record fails as a full disk does.
    await mkdir(join(dataDir, 'processes', `test-${child.pid}.json`, 'x'), { recursive: true })
    const forget = await recordChild(dataDir, 'test', child.pid)
    expect(await readdir(join(dataDir, 'processes'))).toEqual([`test-${child.pid}.json`])
    await forget()
    await rm(join(dataDir, 'processes'), { recursive: true })
    await child.end()
  })

  it.skipIf(onlyLinux !== '')(`a parent with the pid 1, as in a container, counts${onlyLinux}`, async () => {
    const child = await sleeper()
    await leaveRecord(child.pid, await startTime(child.pid), {
      pid: 1,
      started: (await startTime(1)) ?? '',
    })
    expect(await endLeftovers(dataDir, logger)).toBe(0)
    expect(await readdir(join(dataDir, 'processes'))).toHaveLength(1)
    await leaveRecord(child.pid, await startTime(child.pid), { pid: 1, started: 'an earlier container' })
    expect(await endLeftovers(dataDir, logger)).toBe(1)
    await child.end()
  })

  it('another process that got the same pid is not ended', async () => {
    const child = await sleeper()
    await leaveRecord(child.pid, 'another time', DEAD)
    expect(await endLeftovers(dataDir, logger)).toBe(0)
    expect(await startTime(child.pid)).toBeDefined()
    expect(await readdir(join(dataDir, 'processes'))).toEqual([])
    await child.end()
  })

  it.each(['', 'null', '{"pid":1,"started":"x","name":"init","parent":{"pid":4,"started":"y"}}', '[1]'])(
    'a damaged record %j ends no process and is removed',
    async (text) => {
      await mkdir(join(dataDir, 'processes'))
      await writeFile(join(dataDir, 'processes', 'x.json'), text)
      expect(await endLeftovers(dataDir, logger)).toBe(0)
      expect(await readdir(join(dataDir, 'processes'))).toEqual([])
    },
  )
})
