import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

// A server with which Weir is compared: it reads a multipart body, parses each part as JSON, and stores nothing.
const LENGTH = /length[=:] ?(\d+)/i

function parseParts(body: Buffer, boundary: string): void {
  const mark = Buffer.from(`--${boundary}`)
  for (let at = body.indexOf(mark); at >= 0; ) {
    at += mark.length
    if (body[at] === 45) return
    const start = body.indexOf('\r\n\r\n', at) + 4
    const end = start + Number(LENGTH.exec(body.toString('latin1', at, start))?.[1] ?? 0)
    JSON.parse(body.toString('utf8', start, end))
    at = body.indexOf(mark, end)
  }
}

const server = createServer((req, res) => {
  const chunks: Buffer[] = []
  req.on('data', (chunk: Buffer) => chunks.push(chunk))
  req.on('end', () => {
    parseParts(Buffer.concat(chunks), /boundary=([^;]+)/.exec(req.headers['content-type'] ?? '')?.[1] ?? '')
    res.writeHead(202, { 'content-type': 'application/json' }).end('{}')
  })
})
server.listen(0, '127.0.0.1', () =>
  console.log(JSON.stringify({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })),
)
