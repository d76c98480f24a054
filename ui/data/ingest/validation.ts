import { useMutation } from '@tanstack/react-query'
import { send } from '../../api/call.ts'
import { parseExact } from '../../api/exact-json.ts'
import type { ValidationReport } from '../../api/platform.gen.ts'

/** The input of a check: a text, or the bytes of a file. */
export type Checked = string | Uint8Array<ArrayBuffer>

const GZIP = [0x1f, 0x8b]
const ZSTD = [0x28, 0xb5, 0x2f, 0xfd]

/** The Content-Encoding of bytes, determined by their first bytes; undefined for uncompressed ones. */
export function encodingOf(bytes: Uint8Array): 'gzip' | 'zstd' | undefined {
  const starts = (magic: readonly number[]): boolean => magic.every((byte, place) => bytes[place] === byte)
  if (starts(GZIP)) return 'gzip'
  return starts(ZSTD) ? 'zstd' : undefined
}

/** Checks runs as ingest would. The server detects their format. */
export function useValidation() {
  return useMutation({
    mutationFn: async (checked: Checked): Promise<ValidationReport> => {
      const encoding = typeof checked === 'string' ? undefined : encodingOf(checked)
      const response = await send('/api/v1/runs/validate', {
        method: 'POST',
        body: checked,
        headers: {
          'content-type': 'application/octet-stream',
          ...(encoding !== undefined && { 'content-encoding': encoding }),
        },
      })
      return parseExact(await response.text()) as ValidationReport
    },
  })
}
