import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex, PassThrough } from 'node:stream'

/** The server's end of a channel over a socket, to which one program connects. */
export interface SocketChannel {
  /** Path of the socket, which is alone in its folder. */
  path: string
  /** Stream that buffers written data until the program is connected. */
  stream: Duplex
  close(): void
}

export function openSocketChannel(): SocketChannel {
  const folder = mkdtempSync(join(tmpdir(), 'weir-channel-'))
  const path = join(folder, 'socket')
  const [incoming, outgoing] = [new PassThrough(), new PassThrough()]
  const stream = Duplex.from({ readable: incoming, writable: outgoing })
  // A cut channel ends without an error.
  for (const part of [incoming, outgoing, stream]) part.on('error', () => undefined)
  let connected: Socket | undefined
  const server = createServer((socket) => {
    if (connected !== undefined) return void socket.destroy()
    connected = socket
    server.close()
    socket.on('error', () => undefined)
    outgoing.pipe(socket).pipe(incoming)
    socket.once('close', () => stream.destroy())
  })
  server.on('error', (error) => stream.destroy(error))
  server.listen(path)
  return {
    path,
    stream,
    close() {
      server.close()
      connected?.destroy()
      stream.destroy()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
