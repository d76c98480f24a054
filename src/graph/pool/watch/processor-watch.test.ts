import { spawn, spawnSync } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { linuxProcessors } from './linux-processes.ts'
import { type Processors, watchProcessors } from './processor-watch.ts'
import { newFolder } from '../../../../test/support/folder.ts'

describe('P-3: watchProcessors', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /** One simulated process with a child, which use these shares of a processor. */
  function world(most: number, share: { own: number; child: number }) {
    const used = new Map([
      [1, 0],
      [2, 0],
    ])
    const limits: [number, number | undefined][] = []
    const result = vi.fn((): boolean => true)
    const processors: Processors = {
      family: (pid) => [pid, 2],
      usedMs: (pid) => used.get(pid),
      limit: (pid, processors) => limits.push([pid, processors]) > 0 && result(),
    }
    const stop = watchProcessors(() => [{ pid: 1 }], most, processors)
    return {
      limits,
      result,
      stop,
      async pass(seconds: number) {
        for (let n = 0; n < seconds; n += 1) {
          used.set(1, (used.get(1) ?? 0) + 1_000 * share.own)
          used.set(2, (used.get(2) ?? 0) + 1_000 * share.child)
          await vi.advanceTimersByTimeAsync(1_000)
        }
      },
    }
  }

  it('limits a process and its descendants while they use too many together', async () => {
    const share = { own: 0.6, child: 0.5 }
    const { limits, pass, stop } = world(1, share)
    await pass(5)
    expect(limits).toEqual([])
    share.child = 1
    await pass(1)
    expect(limits).toEqual([])
    await pass(1)
    expect(limits).toEqual([
      [1, 1],
      [2, 1],
    ])
    // With the limit it uses no more than that, and keeps the limit until it is calm.
    Object.assign(share, { own: 0.5, child: 0.5 })
    await pass(3)
    expect(limits.slice(2).every(([, processors]) => processors === 1)).toBe(true)
    const before = limits.length
    share.child = 0
    await pass(3)
    expect(limits.slice(before)).toEqual([
      [1, undefined],
      [2, undefined],
    ])
    stop()
    Object.assign(share, { own: 2, child: 2 })
    await pass(3)
    expect(limits).toHaveLength(before + 2)
  })

  it('tries again while the limit has not been taken away', async () => {
    const share = { own: 2, child: 2 }
    const { limits, result, pass } = world(2, share)
    await pass(3)
    expect(limits.at(-1)).toEqual([2, 2])
    Object.assign(share, { own: 0, child: 0 })
    result.mockReturnValue(false)
    await pass(2)
    const before = limits.length
    result.mockReturnValue(true)
    await pass(3)
    expect(limits.slice(before)).toEqual([
      [1, undefined],
      [2, undefined],
    ])
  })
})

// Systems without `taskset` limit nothing, and with one processor there is nothing to limit.
const isMissing = spawnSync('taskset', ['--version']).error !== undefined

it.skipIf(isMissing || availableParallelism() < 2)(
  'P-3: the processes of a family get the same processor, and all processors again',
  async () => {
    const children = [spawn('sleep', ['600']), spawn('sleep', ['600'])]
    onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')))
    const pids = children.map(({ pid = 0 }) => pid)
    const [head = 0] = pids
    const listed = async (of: number | 'self'): Promise<string | undefined> =>
      /Cpus_allowed_list:\s+(\S+)/.exec(await readFile(`/proc/${of}/status`, 'utf8'))?.[1]
    const { limit } = linuxProcessors()
    const results = (processors: number | undefined): boolean[] =>
      pids.map((pid) => limit(pid, processors, head))
    expect(results(1)).toEqual([false, false])
    await eventually(async () => expect(results(1)).toEqual([true, true]))
    expect(await listed(head)).toMatch(/^\d+$/)
    for (const pid of pids) expect(await listed(pid)).toBe(await listed(head))
    expect(results(undefined)).toEqual([false, false])
    await eventually(async () => expect(results(undefined)).toEqual([true, true]))
    for (const pid of pids) expect(await listed(pid)).toBe(await listed('self'))
  },
)

it.skipIf(isMissing || availableParallelism() < 2)(
  'P-3: a limit that could not be set is tried again, and other processes get theirs',
  async () => {
    const dir = await newFolder()
    const command = join(dir, 'taskset')
    const runs = join(dir, 'runs')
    // Fails the first time, after it has changed the process.
    const text = `#!/bin/sh\ntaskset "$@"\necho "$3" >> ${runs}\ntest "$(wc -l < ${runs})" -gt 1\n`
    await writeFile(command, text, { mode: 0o755 })
    const children = [spawn('sleep', ['600']), spawn('sleep', ['600'])]
    onTestFinished(() => children.forEach((child) => void child.kill('SIGKILL')))
    const [head = 0, other = 0] = children.map(({ pid }) => pid)
    const { limit } = linuxProcessors(command)
    await eventually(async () => expect(limit(head, 1, head)).toBe(true))
    expect(await readFile(runs, 'utf8')).toBe(`${head}\n${head}\n`)
    expect(limit(other, 1, head)).toBe(false)
    await eventually(async () => expect(limit(other, 1, head)).toBe(true))
  },
)
