import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { temporaryDir } from '../../support/stores/clickhouse/embedded-clickhouse.ts'
import { eventually } from '../../support/eventually.ts'
import { startWeir, type WeirProcess } from '../../support/servers/weir-process.ts'
import { LONG_MS } from '../../support/campaign.ts'

// A store gets up to a million rows, or is away for a while.
vi.setConfig({ testTimeout: LONG_MS, hookTimeout: LONG_MS })

const GRAPHS = 'examples/graphs/langgraph.json'
const run = promisify(execFile)

/** Mounts a file system of 48 MB in memory at `dir`; false if this user may not mount one. */
async function mountSmallDisk(dir: string): Promise<boolean> {
  return await run('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'tmpfs', dir]).then(
    () => true,
    () => false,
  )
}

const disk = await temporaryDir()
const isMounted = await mountSmallDisk(disk.dir)
if (!isMounted) await disk.remove()
const ballast = join(disk.dir, 'ballast')

/** Writes until the disk is full. */
async function fillDisk(): Promise<void> {
  const file = await open(ballast, 'a')
  const write = async (size: number): Promise<boolean> =>
    file.appendFile(Buffer.alloc(size)).then(
      () => true,
      () => false,
    )
  for (const size of [1 << 20, 1 << 12]) while (await write(size));
  await file.close()
}

function attachmentForm(id: string): FormData {
  const json = { id, trace_id: id, dotted_order: `20261122T090000000000Z${id}`, name: 'a', run_type: 'chain' }
  const form = new FormData()
  const part = (value: unknown) => new Blob([JSON.stringify(value)], { type: 'application/json' })
  form.append(`post.${id}`, part({ ...json, start_time: '2026-11-22T09:00:00Z' }))
  form.append(`attachment.${id}.file`, new Blob(['x'.repeat(20_000)], { type: 'text/plain' }))
  return form
}

// This user may not mount file systems, so only the unit tests cover a full disk.
const reason = isMounted ? '' : ' (this user may not mount a tmpfs)'

describe.skipIf(!isMounted)(`a server whose disk is full${reason}`, () => {
  let weir: WeirProcess
  beforeAll(async () => {
    weir = await startWeir(disk.dir, { GRAPHS, DISK_MIN_FREE_BYTES: '1MiB' })
  })
  afterAll(async () => {
    await weir.stop()
    await run('umount', [disk.dir])
    await disk.remove()
  })
  const post = (path: string, body: unknown): Promise<Response> =>
    weir.fetch(path, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  // Larger than the space that is left in the last page of a file.
  const inputs = { text: 'x'.repeat(20_000) }
  const sendRun = (id: string, session_name = 'known'): Promise<Response> =>
    post('/runs', {
      id,
      session_name,
      inputs,
      name: 'r',
      run_type: 'chain',
      start_time: '2026-11-22T09:00:00Z',
    })
  const problemOf = async (answer: Promise<Response>): Promise<unknown> => {
    const { status, headers } = await answer
    const { code, detail } = (await (await answer).json()) as { code: string; detail: string }
    return { status, retry: headers.get('retry-after'), code, detail }
  }
  const full = {
    status: 503,
    retry: '1',
    code: 'disk_full',
    detail: expect.stringContaining('The disk of DATA_DIR is full'),
  }

  it('reports that in health and errors, refuses writes, and resumes when space is free', async () => {
    const [before, after] = [randomUUID(), randomUUID()]
    expect((await sendRun(before)).status).toBe(202)
    // On a busy machine the first check of a store may take longer than its limit of 2 s.
    await eventually(async () =>
      expect(await (await weir.fetch('/ok?check_db=1')).json()).toMatchObject({ ok: true }),
    )
    await weir.drained()

    await fillDisk()
    expect(await problemOf(sendRun(randomUUID()))).toEqual(full)
    expect(await problemOf(sendRun(randomUUID(), `new-${after}`))).toEqual(full)
    const body = attachmentForm(randomUUID())
    expect(await problemOf(weir.fetch('/runs/multipart', { method: 'POST', body }))).toEqual(full)
    // SQLite uses the free space inside its files before it needs space on the disk.
    const metadata = { text: 'x'.repeat(200_000) }
    await eventually(async () =>
      expect(await problemOf(post('/deployments/graphs/threads', { metadata }))).toEqual(full),
    )
    const down = {
      ok: false,
      checks: { disk: 'down' },
      problems: { disk: { code: 'disk_full', detail: expect.stringContaining('free') } },
    }
    for (const path of ['/ok?check_db=1', '/deployments/graphs/ok?check_db=1']) {
      const answer = await eventually(async () => {
        const asked = await weir.fetch(path)
        expect(asked.status).toBe(503)
        return asked
      })
      expect(await answer.json()).toMatchObject(down)
    }
    const wait = { assistant_id: 'agent', input: { messages: [] } }
    expect(await problemOf(post('/deployments/graphs/runs/wait', wait))).toMatchObject({
      status: 503,
      code: 'disk_full',
    })
    const problem = { code: 'disk_full', detail: expect.stringContaining('The disk of DATA_DIR is full') }
    await eventually(async () =>
      expect(await weir.health()).toMatchObject({ status: 'disk_full', disk: { problem } }),
    )
    const metrics = await (await weir.fetch('/metrics')).text()
    expect(Number(/^weir_disk_free_bytes (\d+)$/m.exec(metrics)?.[1])).toBeLessThan(1 << 20)

    await rm(ballast)
    await eventually(async () => expect((await weir.fetch('/ok?check_db=1')).status).toBe(200))
    expect(await weir.health()).toMatchObject({ status: 'ok', disk: { problem: null } })
    expect((await sendRun(after)).status).toBe(202)
    expect((await post('/deployments/graphs/threads', {})).status).toBe(200)
    await weir.drained()
    for (const id of [before, after]) {
      await eventually(async () => expect((await weir.fetch(`/api/v1/runs/${id}`)).status).toBe(200))
    }
  })

  it('starts a host in place of one that has ended', async () => {
    const drawn = async (): Promise<number> =>
      (await weir.fetch('/deployments/graphs/assistants/agent/graph')).status
    expect(await drawn()).toBe(200)
    const names = await readdir(join(disk.dir, 'processes'))
    const hosts = names.flatMap((name) => /^graph-host-(\d+)\.json$/.exec(name)?.[1] ?? [])
    expect(hosts.length).toBeGreaterThan(0)
    await fillDisk()
    for (const pid of hosts) process.kill(Number(pid), 'SIGKILL')
    await eventually(async () => expect(await drawn()).toBe(200))
    expect(weir.isAlive()).toBe(true)
    await rm(ballast)
  })

  it('keeps acknowledged data while the disk has no space for ClickHouse', async () => {
    await fillDisk()
    // This is enough space for the log, but not for ClickHouse.
    const file = await open(ballast, 'r+')
    const { size } = await file.stat()
    await file.truncate(size - 200 * 1024)
    await file.close()
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      const id = randomUUID()
      if ((await sendRun(id)).status === 202) ids.push(id)
    }
    expect(ids.length).toBeGreaterThan(0)
    // The state of the disk that the server reports may be a second old.
    await eventually(async () => expect(await weir.health()).toMatchObject({ status: 'disk_full' }))
    await writeFile(ballast, '')
    await weir.drained()
    for (const id of ids) {
      await eventually(async () => expect((await weir.fetch(`/api/v1/runs/${id}`)).status).toBe(200))
    }
  })
})
