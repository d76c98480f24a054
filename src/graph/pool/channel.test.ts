import { Duplex } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeFrame, type Frame, FROM_HOST, openChannel } from './channel.ts'
import { tries } from '../../../test/support/properties.ts'

interface Head {
  type: string
}

/** A channel over a stream into which the test writes. `sent` are the bytes that the channel wrote. */
function open(onFrame: (frame: Frame<Head>) => void) {
  const sent: Buffer[] = []
  const stream = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sent.push(chunk)
      done()
    },
  })
  const channel = openChannel<Head, Head>(stream, onFrame)
  return { channel, stream, sent }
}

/** The frames that a channel receives if the bytes arrive in these pieces. */
async function hear(pieces: readonly Buffer[]): Promise<Frame<Head>[]> {
  const frames: Frame<Head>[] = []
  const { stream } = open((frame) => frames.push(frame))
  for (const piece of pieces) stream.push(piece)
  stream.push(null)
  await new Promise((resolve) => stream.once('close', resolve).once('end', resolve))
  return frames
}

const frame = fc.record({
  type: fc.string(),
  parts: fc.array(fc.oneof(fc.string(), fc.uint8Array({ maxLength: 300 })), { maxLength: 4 }),
})

describe('openChannel', () => {
  it('receives every frame complete and in order, however its bytes are split', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 5 }),
        fc.array(fc.nat({ max: 1_500 }), { maxLength: 8 }),
        async (frames, cuts) => {
          const bytes = Buffer.concat(frames.map(({ type, parts }) => encodeFrame({ type }, parts)))
          const places = [0, ...cuts.filter((cut) => cut < bytes.length).sort((a, b) => a - b), bytes.length]
          const heard = await hear(places.slice(1).map((end, i) => bytes.subarray(places[i], end)))
          expect(
            heard.map(({ head, parts }) => [head.type, parts.map((part) => part.toString('hex'))]),
          ).toEqual(
            frames.map(({ type, parts }) => [type, parts.map((part) => Buffer.from(part).toString('hex'))]),
          )
        },
      ),
      tries(60),
    )
  })

  it('sends frames that another channel receives', async () => {
    const { channel, sent } = open(() => undefined)
    channel.send({ type: 'a' }, ['ü', new Uint8Array([0, 255])])
    channel.send({ type: 'b' })
    const heard = await hear(sent)
    expect(heard.map(({ head }) => head.type)).toEqual(['a', 'b'])
    expect(heard[0]?.parts.map((part) => part.toString('latin1'))).toEqual(['\u00c3\u00bc', '\u0000\u00ff'])
  })

  it('ends the stream at an invalid frame', async () => {
    const frames: unknown[] = []
    const { stream } = open((heard) => frames.push(heard))
    const closed = new Promise((resolve) => stream.once('close', resolve))
    stream.push(Buffer.from([255, 255, 255, 255, 0, 0, 0, 0]))
    await closed
    expect(stream.destroyed).toBe(true)
    expect(frames).toEqual([])
  })

  it('drops frames that are sent after the end', async () => {
    const { channel, stream, sent } = open(() => undefined)
    stream.destroy()
    channel.send({ type: 'late' })
    expect(sent).toEqual([])
  })

  it('says when the other process has caught up with many bytes', async () => {
    const taken: (() => void)[] = []
    const stream = new Duplex({
      read() {},
      write(_chunk, _encoding, done) {
        taken.push(done)
      },
    })
    const channel = openChannel<Head, Head>(stream, () => undefined)
    channel.send({ type: 'small' }, ['x'])
    expect(channel.caughtUp()).toBeUndefined()
    channel.send({ type: 'large' }, [Buffer.alloc(17 << 20)])
    const caughtUp = channel.caughtUp()
    expect(caughtUp).toBeInstanceOf(Promise)
    taken.shift()?.()
    await expect.poll(() => taken.length).toBe(1)
    taken.shift()?.()
    await caughtUp
    expect(channel.caughtUp()).toBeUndefined()
  })

  it('waits for no process that is gone', async () => {
    const stream = new Duplex({ read() {}, write() {} })
    const channel = openChannel<Head, Head>(stream, () => undefined)
    channel.send({ type: 'large' }, [Buffer.alloc(17 << 20)])
    const caughtUp = channel.caughtUp()
    stream.destroy()
    await caughtUp
    expect(channel.caughtUp()).toBeUndefined()
  })
})

/** Lengths as a frame begins with them, and the bytes after them. */
function rawFrame(head: string, length = Buffer.byteLength(head) + 4): Buffer {
  const lengths = Buffer.alloc(8)
  lengths.writeUInt32LE(length, 0)
  lengths.writeUInt32LE(Buffer.byteLength(head), 4)
  return Buffer.concat([lengths, Buffer.from(head)])
}

describe('D-64: frames of a process that is not trusted', () => {
  const small = '{"type":"beat"}'
  it.each([
    [
      'a head of many small values',
      rawFrame(`{"x":[${'{},'.repeat(4e5)}0]}`),
      /^its head has \d+ bytes, and 1048576 are/,
    ],
    ['a deep head', rawFrame(`{"x":${'[{"a":'.repeat(1e3)}`), /^its head is nested too deep$/],
    ['a head that is no JSON', rawFrame('{"type":'), /^its head is not JSON$/],
    ['a head that is no object', rawFrame('null'), /^its head is not a JSON object$/],
    ['a frame of 1 GiB', rawFrame(small, 1 << 30), /^it has 1073741824 bytes, and 268435456 are allowed$/],
    ['lengths that do not fit', rawFrame(small, 5), /^it is no frame$/],
    ['many parts', rawFrame(`{"sizes":[${'0,'.repeat(1e5)}0]}`), /^the sizes of its parts are not valid$/],
    ['a size that is no size', rawFrame('{"sizes":[-1]}'), /^the sizes of its parts are not valid$/],
    [
      'parts that are not there',
      rawFrame('{"sizes":[7]}'),
      /^its parts have not the size that its head says$/,
    ],
  ])('end the channel with the reason: %s', async (_what, bytes, reason) => {
    const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
    const heard: Frame<Head>[] = []
    const broken = new Promise<string>((resolve) =>
      openChannel<Head, Head>(stream, (frame) => heard.push(frame), {
        boundsOf: () => FROM_HOST,
        broken: resolve,
      }),
    )
    // Bytes of a frame that is too large are not collected, so that its first ones are enough.
    for (let at = 0; at < Math.min(bytes.length, 2 << 20); at += 65_536)
      stream.push(bytes.subarray(at, at + 65_536))
    expect(await broken).toMatch(reason)
    expect(stream.destroyed).toBe(true)
    expect(heard).toEqual([])
  })

  it('are read with brackets in texts', async () => {
    const stream = new Duplex({ read() {} })
    const text = `${'[{'.repeat(2_000)}"\\`
    const heard = new Promise<Frame<Head>>((resolve) =>
      openChannel<Head, Head>(stream, resolve, { boundsOf: () => FROM_HOST, broken: () => undefined }),
    )
    stream.push(encodeFrame({ type: text }))
    expect((await heard).head.type).toBe(text)
  })
})
