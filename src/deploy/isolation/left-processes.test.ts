import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, it, onTestFinished } from 'vitest'
import { HAS_OTHER_USERS, NO_OTHER_USERS } from '../../../test/support/linux.ts'
import { idsOfServer, userOf } from './user-ids.ts'
import { createUserProcesses, leftRunning, processesOf } from './left-processes.ts'

describe('leftRunning', () => {
  it('has what descends from no running process, also under a server with pid 1', () => {
    const uid = 7
    const processes = [
      { pid: 10, parent: 1, uid },
      { pid: 11, parent: 10, uid },
      { pid: 12, parent: 11, uid },
      { pid: 20, parent: 1, uid },
      { pid: 21, parent: 20, uid },
    ]
    expect(leftRunning(processes, new Set([10]))).toEqual([20, 21])
    expect(leftRunning(processes, new Set([10, 20]))).toEqual([])
    expect(leftRunning(processes, new Set())).toEqual([10, 11, 12, 20, 21])
  })
})

describe.skipIf(!HAS_OTHER_USERS)(`P-23: processes of a user${NO_OTHER_USERS}`, () => {
  /** Program that starts a process, which starts a detached process and prints its pid. */
  const DETACHING = `
    const { spawn } = require('node:child_process')
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    child.unref()
    console.log(child.pid)
    setInterval(() => {}, 1000)`

  it('that a host has left running end with it, and those of other hosts do not', async () => {
    const user = userOf(idsOfServer(`/user-processes-${process.pid}`).first)
    const processes = createUserProcesses()
    const start = async () => {
      const host = spawn(process.execPath, ['-e', DETACHING], {
        ...user,
        cwd: '/',
        env: { PATH: '/usr/bin:/bin' },
      })
      onTestFinished(() => void host.kill('SIGKILL'))
      const failed = once(host, 'error').then(([error]) => Promise.reject(error))
      const [line] = (await Promise.race([
        once(createInterface({ input: host.stdout }), 'line'),
        failed,
      ])) as [string]
      return { host, left: Number(line), end: processes.started(user, host.pid ?? 0) }
    }
    const [one, other] = [await start(), await start()]
    onTestFinished(other.end)
    const pids = async () => (await processesOf((uid) => uid === user.uid)).map(({ pid }) => pid)
    const ended = once(one.host, 'exit')
    one.host.kill('SIGKILL')
    await ended
    expect(await pids()).toContain(one.left)
    await one.end()
    expect(await pids()).toEqual([other.host.pid, other.left].toSorted((a = 0, b = 0) => a - b))
    const otherEnded = once(other.host, 'exit')
    other.host.kill('SIGKILL')
    await otherEnded
    await other.end()
    expect(await pids()).toEqual([])
  })
})
