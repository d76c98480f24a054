import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach } from 'vitest'
import { createLogger } from '../../../src/base/log.ts'
import {
  type IngestLog,
  type IngestLogOptions,
  type LogRecord,
  openIngestLog,
} from '../../../src/ingest/log/ingest-log.ts'
import { type LogFile, type OpenLogFile, openLogFile } from '../../../src/ingest/log/files.ts'

const MEGABYTE = 1024 * 1024

/** A directory for the logs of one test. After the test its logs are closed and the directory is removed. */
export interface LogBench {
  readonly dir: string
  open(options?: Partial<IngestLogOptions>): Promise<IngestLog>
  /** The names of all segments, including damaged segments. */
  segmentFiles(): Promise<string[]>
}

/** Creates a fresh directory for every test of a file; call this at the top of the file. */
export function useLogBench(): LogBench {
  const logger = createLogger({ level: 'silent' })
  let dir = ''
  let opened: IngestLog[] = []
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-log-'))
    opened = []
  })
  afterEach(async () => {
    await Promise.all(opened.map((log) => log.close()))
    await rm(dir, { recursive: true })
  })
  return {
    get dir() {
      return dir
    },
    open: async (options = {}) => {
      const log = await openIngestLog({ dir, maxBytes: MEGABYTE, fsync: false, logger, ...options })
      opened.push(log)
      return log
    },
    segmentFiles: async () => (await readdir(dir)).filter((name) => name.includes('.log')).sort(),
  }
}

/** A record of two items that holds a text. */
export function textRecord(text: string, received_at = 1_000): LogRecord {
  return { kind: 1, count: 2, received_at, payload: Buffer.from(text) }
}

/** The texts of all frames from the committed position to the end. */
export async function readTexts(log: IngestLog, maxBytes: number = MEGABYTE): Promise<string[]> {
  const texts: string[] = []
  for (let position = log.committed; ; ) {
    const frames = await log.read(position, maxBytes)
    const last = frames.at(-1)
    if (last === undefined) return texts
    texts.push(...frames.map(({ payload }) => Buffer.from(payload).toString()))
    position = last.end
  }
}

/** Changes one byte of a file. */
export async function flipByte(path: string, offset: number): Promise<void> {
  const bytes = await readFile(path)
  bytes.writeUInt8(bytes.readUInt8(offset) ^ 0xff, offset)
  await writeFile(path, bytes)
}

/** Real files whose operations can fail: a hook may throw an error, and `maxWrite` limits the bytes of one write. */
export function faultyFiles(faults: {
  onCreate?: () => void
  onWrite?: () => void
  onSync?: () => void | Promise<void>
  onTruncate?: () => void
  maxWrite?: number
}): OpenLogFile {
  return async (path, flags) => {
    if (flags === 'wx') faults.onCreate?.()
    const file = await openLogFile(path, flags)
    const faulty: LogFile = {
      read: (...range) => file.read(...range),
      stat: () => file.stat(),
      close: () => file.close(),
      truncate: async (length) => {
        faults.onTruncate?.()
        await file.truncate(length)
      },
      datasync: async () => {
        await faults.onSync?.()
        await file.datasync()
      },
      writev: async (buffers, position) => {
        faults.onWrite?.()
        const bytes = Buffer.concat(buffers).subarray(0, faults.maxWrite)
        return file.writev([bytes], position)
      },
    }
    return faulty
  }
}

/** A hook that throws the error on the given calls (counted from 1). */
export function failOn(code: string, ...calls: number[]): () => void {
  let call = 0
  return () => {
    call += 1
    if (calls.includes(call)) throw Object.assign(new Error(code), { code })
  }
}
