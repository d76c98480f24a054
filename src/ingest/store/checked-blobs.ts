import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { AppError } from '../../base/errors.ts'
import type { Logger } from '../../base/log.ts'
import type { BlobStore } from './blob-store.ts'

/** A blob store that returns no damaged bytes. */
export interface CheckedBlobs extends BlobStore {
  /** @throws AppError attachment_damaged while bytes that were read are known to be damaged */
  check(): Promise<void>
}

/** Blobs up to this size are checked before their first byte is returned. */
const WHOLE_BYTES = 4 << 20
const MAX_DAMAGED = 1_000

function damaged(sha256: string): AppError {
  return new AppError('attachment_damaged', { details: { sha256 } })
}

/**
 * Checks the hash of what is read from `blobs`. The last bytes of a large blob are withheld until its hash is known, so
 * that damaged bytes are never complete.
 */
export function createCheckedBlobs(blobs: BlobStore, logger: Logger): CheckedBlobs {
  const known = new Set<string>()

  const note = (sha256: string, isWhole: boolean): void => {
    if (isWhole) known.delete(sha256)
    else if (!known.has(sha256) && known.size < MAX_DAMAGED) {
      known.add(sha256)
      logger.error({ sha256, code: 'attachment_damaged' }, 'the stored bytes of an attachment are damaged')
    }
  }

  async function* checked(sha256: string, bytes: Readable): AsyncGenerator<Uint8Array> {
    const hash = createHash('sha256')
    let withheld: Uint8Array | undefined
    for await (const chunk of bytes as AsyncIterable<Uint8Array>) {
      hash.update(chunk)
      if (withheld !== undefined) yield withheld
      withheld = chunk
    }
    const isWhole = hash.digest('hex') === sha256
    note(sha256, isWhole)
    if (!isWhole) throw damaged(sha256)
    if (withheld !== undefined) yield withheld
  }

  return {
    async put(some) {
      await blobs.put(some)
      for (const { sha256 } of some) known.delete(sha256)
    },
    async read(sha256) {
      const found = await blobs.read(sha256)
      if (found === undefined) return undefined
      const bytes = Readable.from(checked(sha256, found.bytes), { objectMode: false })
      bytes.once('close', () => found.bytes.destroy())
      if (found.size > WHOLE_BYTES) return { size: found.size, bytes }
      const whole = await buffer(bytes)
      return { size: whole.length, bytes: Readable.from([whole]) }
    },
    async remove(sha256, until) {
      const isRemoved = await blobs.remove(sha256, until)
      if (isRemoved) known.delete(sha256)
      return isRemoved
    },
    async check() {
      const [first] = known
      if (first === undefined) return
      const message = `${known.size} attachments that were read since the start are damaged, for example ${first}.`
      throw new AppError('attachment_damaged', { message })
    },
  }
}
