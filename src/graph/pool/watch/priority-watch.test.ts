import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventually } from '../../../../test/support/eventually.ts'
import { linuxPriorities, sharesBySession } from './linux-processes.ts'
import { LOW, type Priorities, watchPriority } from './priority-watch.ts'

describe('watchPriority', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] }))
  afterEach(() => void vi.useRealTimers())

  /**
   * Simulated processes. `shares`: for each process, the share of a processor that it uses. `waits`: the share of the
   * time for which it waits for a processor. `set` collects the priorities that the watch sets.
   */
  function world(
    shares: Map<number, number>,
    canRaise: boolean,
    {
      refused = (): boolean => false,
      children = new Map<number, number[]>(),
      waits = new Map<number, number>(),
    } = {},
  ) {
    const set: [number, number][] = []
    const used = new Map<number, number>()
    const waited = new Map<number, number>()
    const priorities: Priorities = {
      family: (pid) => [pid, ...(children.get(pid) ?? [])],
      usedMs: (pid) => used.get(pid) ?? 0,
      awakeMs: (pid) => (used.get(pid) ?? 0) + (waited.get(pid) ?? 0),
      set: (pid, nice) => !refused() && set.push([pid, nice]) > 0,
      canRaise: () => canRaise,
    }
    const hosts = () => {
      const below = new Set([...children.values()].flat())
      return [...shares.keys()].filter((pid) => !below.has(pid)).map((pid) => ({ pid }))
    }
    const stop = watchPriority(hosts, priorities)
    return {
      set,
      stop,
      async pass(ms: number) {
        for (let at = 0; at < ms; at += 250) {
          for (const [pid, share] of shares) used.set(pid, (used.get(pid) ?? 0) + 250 * share)
          for (const [pid, share] of waits) waited.set(pid, (waited.get(pid) ?? 0) + 250 * share)
          await vi.advanceTimersByTimeAsync(250)
        }
      },
    }
  }

  it('gives a process a low priority while it starts, and while it is busy', async () => {
    const shares = new Map([[1, 0.3]])
    const { set, pass, stop } = world(shares, true)
    await pass(250)
    expect(set).toEqual([[1, LOW]])
    await pass(500)
    expect(set).toEqual([
      [1, LOW],
      [1, 0],
    ])
    shares.set(1, 1)
    await pass(2_000)
    expect(set.slice(2)).toEqual([[1, LOW]])
    shares.set(1, 0.7)
    await pass(2_000)
    expect(set).toHaveLength(3)
    shares.set(1, 0.1)
    await pass(1_000)
    expect(set.slice(3)).toEqual([[1, 0]])
    stop()
    shares.set(1, 1)
    await pass(2_000)
    expect(set).toHaveLength(4)
  })

  it('keeps the low priority of a loop that gets little of a processor', async () => {
    const [shares, waits] = [new Map([[1, 1]]), new Map([[1, 0]])]
    const { set, pass } = world(shares, true, { waits })
    await pass(1_000)
    shares.set(1, 0.3)
    waits.set(1, 0.7)
    await pass(2_000)
    expect(set).toEqual([[1, LOW]])
    waits.set(1, 0.5)
    await pass(500)
    expect(set.slice(1)).toEqual([[1, 0]])
  })

  it('tries again what the kernel does not take at once', async () => {
    let isRefused = true
    const shares = new Map([[1, 1]])
    const { set, pass } = world(shares, true, { refused: () => isRefused })
    await pass(500)
    isRefused = false
    await pass(250)
    expect(set).toEqual([[1, LOW]])
    isRefused = true
    shares.set(1, 0)
    await pass(500)
    isRefused = false
    await pass(250)
    expect(set.slice(1)).toEqual([[1, 0]])
  })

  it('counts what is below a process, and gives it the same priority', async () => {
    const shares = new Map([[1, 0.1]])
    const children = new Map<number, number[]>()
    const { set, pass } = world(shares, true, { children })
    await pass(1_000)
    const before = set.length
    children.set(1, [2])
    shares.set(2, 0.9)
    await pass(2_000)
    expect(set.slice(before)).toEqual([
      [1, LOW],
      [2, LOW],
    ])
    children.set(1, [2, 3])
    await pass(2_000)
    expect(set.slice(before + 2)).toEqual([[3, LOW]])
    shares.set(2, 0)
    await pass(1_000)
    expect(set.slice(before + 3)).toEqual([
      [1, 0],
      [2, 0],
      [3, 0],
    ])
  })

  it('waits longer where the priority cannot be taken back', async () => {
    const { set, pass } = world(new Map([[1, 1]]), false)
    await pass(4_500)
    expect(set).toEqual([])
    await pass(1_000)
    expect(set).toEqual([[1, LOW]])
  })
})

describe.skipIf(process.platform !== 'linux')('a process that loops', () => {
  function loop(options: { detached: boolean }): number {
    const child = spawn(process.execPath, ['-e', 'for (;;);'], options)
    onTestFinished(() => void child.kill('SIGKILL'))
    const { pid = 0 } = child
    onTestFinished(watchPriority(() => [{ pid }], linuxPriorities()))
    return pid
  }

  it.skipIf(process.getuid?.() !== 0)('gets a low priority, where it can be taken back', async () => {
    const pid = loop({ detached: false })
    await eventually(async () => expect(getPriority(pid)).toBe(Math.min(19, getPriority() + LOW)))
  })

  it('gets it for its session, where sessions share processors', async ({ skip }) => {
    if (!sharesBySession()) skip('the kernel does not schedule sessions as groups here')
    const pid = loop({ detached: true })
    await eventually(async () =>
      expect(await readFile(`/proc/${pid}/autogroup`, 'utf8')).toContain(`nice ${LOW}`),
    )
  })
})
