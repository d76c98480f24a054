import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { stopSignal } from './stop-signal.ts'

/** A process that gets signals at these milliseconds; answers the codes with which it was ended. */
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

it('the first signal stops, the second one ends the process at once', async () => {
  expect(await signalled(1000)).toEqual([])
  expect(await signalled(1000, 2501)).toEqual([1])
})

it('one signal that comes twice, from systemd and from the launcher, is one', async () => {
  expect(await signalled(1000, 1002)).toEqual([])
  expect(await signalled(1000, 1002, 2500)).toEqual([1])
})
