import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import type { Recording } from '../recorded.ts'
import { startMeteredVendor } from '../vendor/metered-vendor.ts'

// Runs the compiled program once and writes what it sent, with what the vendor billed, to recorded.json:
//   CARGO_TARGET_DIR=/tmp/rig cargo build --manifest-path test/instrumentations/rust/Cargo.toml
//   node scripts/launch.mjs test/instrumentations/rust/record.ts /tmp/rig/debug/rig-client
const [, , program] = process.argv
if (program === undefined) throw new Error('The first argument is the compiled program.')

const requests: Recording['requests'] = []
const receiver = createServer((req, res) => {
  void buffer(req).then((body) => {
    requests.push({ type: req.headers['content-type'] ?? '', body: body.toString('base64') })
    res.writeHead(200, { 'content-type': 'application/x-protobuf' }).end()
  })
})
await new Promise<void>((resolve) => void receiver.listen(0, '127.0.0.1', resolve))
const vendor = await startMeteredVendor()
const env = {
  WEIR_URL: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`,
  WEIR_KEY: 'none',
  PROJECT: 'none',
  VENDOR_URL: vendor.url,
}
const { stdout } = await promisify(execFile)(program, { env })
const recording: Recording = { versions: stdout.trim(), calls: vendor.take(), requests }
await writeFile(new URL('recorded.json', import.meta.url), `${JSON.stringify(recording, null, 2)}\n`)
await vendor.stop()
receiver.close()
