import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { stopSignal } from './stop-signal.ts'

/** Sends signals at these milliseconds; returns the codes of the `exit` calls. */
async function signalled(...times: number[]): Promise<number[]> {
  const codes: number[] = []
  let now = 0
  const target = Object.assign(new EventEmitter(), { exit: (code: number) => void codes.push(code) })
  const stopped = stopSignal(target, () => now)
  for (const at of times) {
    now = at
    target.emit(at % 2 === 0 ? 'SIGTERM' : 'SIGINT')
  }
  await stopped
  return codes
}

it('stops at the first signal, and exits at once at the second', async () => {
  expect(await signalled(1000)).toEqual([])
  expect(await signalled(1000, 2501)).toEqual([1])
})

it('counts a signal once that both systemd and the launcher send', async () => {
  expect(await signalled(1000, 1002)).toEqual([])
  expect(await signalled(1000, 1002, 2500)).toEqual([1])
})
