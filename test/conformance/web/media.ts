import { randomBytes } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { newUuid } from '../../../src/base/ids.ts'
import { eventually } from '../../support/eventually.ts'
import type { UsedWeir } from '../../support/servers/use-weir.ts'
import type { UsedInterface } from '../../support/servers/web-interface.ts'

interface Used {
  server: { current(): UsedWeir }
  used: { current(): UsedInterface }
}

const SIDE = 48
const HOSTILE = `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script>${'<g/>'.repeat(2000)}</svg>`

function chunk(type: string, data: Buffer): Buffer {
  const content = Buffer.concat([Buffer.from(type), data])
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
  size.writeUInt32BE(data.length)
  sum.writeUInt32BE(crc32(content))
  return Buffer.concat([size, content, sum])
}

/** A picture of grey noise. */
function picture(): Buffer {
  const head = Buffer.from([0, 0, 0, SIDE, 0, 0, 0, SIDE, 8, 0, 0, 0, 0])
  const lines = Array.from({ length: SIDE * 3 }, () => Buffer.concat([Buffer.alloc(1), randomBytes(SIDE)]))
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(Buffer.concat(lines))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

/** Files inside runs. The browser is signed in. */
export function mediaTests({ server, used }: Used): void {
  describe('files inside runs', () => {
    /** Stores a model call with a picture and a hostile SVG; returns its id. */
    async function sendFiles(): Promise<string> {
      const [id, now] = [newUuid(), new Date().toISOString()]
      const parts = [
        ['image/png', picture()],
        ['image/svg+xml', Buffer.from(HOSTILE)],
      ] as const
      const content = parts.map(([type, bytes]) => ({
        type: 'image_url',
        image_url: { url: `data:${type};base64,${bytes.toString('base64')}` },
      }))
      const run = {
        id,
        trace_id: id,
        name: 'look',
        run_type: 'llm',
        session_name: 'pictures',
        start_time: now,
        end_time: now,
        inputs: { messages: [{ role: 'user', content }] },
        outputs: { choices: [{ message: { role: 'assistant', content: 'noise' } }] },
      }
      await server.current().request('/api/v1/runs', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(run),
      })
      return id
    }

    it('N14: a picture is loaded on its own and shown, an SVG is not', async () => {
      const id = await sendFiles()
      const { page, open } = used.current()
      const sizes = new Map<string, number>()
      page.on('response', (answer) => {
        const { pathname } = new URL(answer.url())
        void answer.body().then(
          (body) => sizes.set(pathname, body.length),
          () => undefined,
        )
      })
      await eventually(() => server.current().json(`/api/v1/runs/${id}`))
      await open(`/traces/${id}`)
      const image = page.locator('#run img')
      await image.waitFor()
      expect(await image.evaluate((img) => (img as unknown as { naturalWidth: number }).naturalWidth)).toBe(
        SIDE,
      )
      expect(await page.locator('#run').getByText('image/svg+xml').first().innerText()).toContain(
        'image/svg+xml',
      )
      expect(await image.count()).toBe(1)
      await eventually(async () => {
        expect(sizes.get(`/api/v1/runs/${id}/media`)).toBeGreaterThan(3000)
        expect(sizes.get(`/api/v1/runs/${id}`)).toBeLessThan(8000)
      })
    })
  })
}
