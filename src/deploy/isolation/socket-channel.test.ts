import { existsSync } from 'node:fs'
import { connect } from 'node:net'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openSocketChannel } from './socket-channel.ts'

it('a channel over a socket keeps what is written until the one program is connected, and ends with it', async () => {
  const { path, stream, close } = openSocketChannel()
  onTestFinished(close)
  stream.write('before ')
  const program = connect(path)
  program.setEncoding('utf8')
  let received = ''
  program.on('data', (text: string) => (received += text))
  stream.write('after')
  program.write('answer')
  const [answer] = (await once(stream, 'data')) as [Buffer]
  expect(answer.toString()).toBe('answer')
  await expect.poll(() => received).toBe('before after')

  await expect(once(connect(path), 'connect')).rejects.toMatchObject({ code: 'ENOENT' })
  const ended = once(stream, 'close')
  program.destroy()
  await ended
  close()
  expect(existsSync(dirname(path))).toBe(false)
})
