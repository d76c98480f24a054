import { expect, it } from 'vitest'
import { ConfirmedInserts } from './confirmed-inserts.ts'

const rows = (...texts: string[]): Uint8Array[] => texts.map((text) => Buffer.from(text))

it('repeats what failed and what has other rows, but nothing that is confirmed', async () => {
  const inserts = new ConfirmedInserts()
  const sent: string[] = []
  const send = (table: string, pieces: Uint8Array[]) =>
    inserts.once(table, pieces, async () => {
      sent.push(`${table} ${pieces.join('+')}`)
      if (table === 'away') throw new Error('away')
    })
  await send('t', rows('a', 'b'))
  await expect(send('away', rows('a'))).rejects.toThrow('away')
  await send('t', rows('a', 'b'))
  await expect(send('away', rows('a'))).rejects.toThrow('away')
  await send('u', rows('a', 'b'))
  await send('t', rows('a', 'c'))
  await send('t', rows('a'))
  expect(sent.splice(0)).toEqual(['t a+b', 'away a', 'away a', 'u a+b', 't a+c', 't a'])
  inserts.clear()
  await send('t', rows('a', 'b'))
  expect(sent).toEqual(['t a+b'])
})
