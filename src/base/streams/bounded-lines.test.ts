import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { eachLine, MAX_LINE_CHARS } from './bounded-lines.ts'

async function linesOf(chunks: Iterable<string | Buffer>): Promise<string[]> {
  const stream = new PassThrough()
  const lines: string[] = []
  eachLine(stream, (line) => lines.push(line))
  const ended = new Promise((resolve) => stream.once('end', resolve))
  for (const chunk of chunks)
    if (!stream.write(chunk)) await new Promise((resolve) => stream.once('drain', resolve))
  stream.end()
  await ended
  return lines
}

it('lines end at each line break, and blank ones are left out', async () => {
  expect(await linesOf(['a\nb', 'c\r', '\nd\re\n\n  \n', 'f'])).toEqual(['a', 'bc', 'd', 'e', 'f'])
})

it('a character may be split between chunks', async () => {
  const bytes = Buffer.from('ä\n')
  expect(await linesOf([bytes.subarray(0, 1), bytes.subarray(1)])).toEqual(['ä'])
})

it('the last line needs no line break, also after more lines than are handled at once', async () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n}`)
  const found = await linesOf([lines.join('\n')])
  await expect.poll(() => found).toEqual(lines)
})

it('D-64: of an endless line its first characters are kept, and nothing more is held', async () => {
  function* endless(): Generator<string> {
    for (let n = 0; n < 1_000; n++) yield 'a'.repeat(1 << 16)
    yield '\nnext'
  }
  const before = process.memoryUsage().rss
  expect(await linesOf(endless())).toEqual(['a'.repeat(MAX_LINE_CHARS), 'next'])
  expect(process.memoryUsage().rss - before).toBeLessThan(100 << 20)
})

it('D-64: while lines come without end, the thread does other work', async () => {
  const stream = new PassThrough()
  let lines = 0
  eachLine(stream, () => {
    lines += 1
    for (const until = performance.now() + 0.01; performance.now() < until; );
  })
  // One chunk takes a third of a second.
  const write = (): boolean => stream.write('x\n'.repeat(1 << 15))
  stream.on('drain', write)
  write()
  let longest = 0
  for (const begun = performance.now(); performance.now() - begun < 1_000; ) {
    const before = process.cpuUsage().user
    await new Promise((resolve) => setTimeout(resolve, 10))
    longest = Math.max(longest, process.cpuUsage().user - before)
  }
  stream.destroy()
  const handled = lines
  // Longer than the pause between two turns, in which nothing may happen any more.
  await new Promise((resolve) => setTimeout(resolve, 100))
  expect(lines).toBe(handled)
  expect(lines).toBeGreaterThan(1_000)
  // Microseconds of processor time in one turn.
  expect(longest).toBeLessThan(100_000)
})
