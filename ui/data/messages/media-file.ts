import type { MediaBlock, ReadMedia } from './media-block.ts'

/** Types of files that are offered when a file is chosen. */
export const CHOSEN_TYPES = 'image/*,application/pdf,audio/*'
/** Larger files are refused: a request has at most 20 MiB, and base64 makes bytes a third larger. */
const MAX_FILE_BYTES = 14 << 20

function typeOf(mime: string): MediaBlock['type'] {
  const [kind = ''] = mime.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file'
}

function dataUrlOf(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.addEventListener('load', () => resolve(String(reader.result)))
    reader.addEventListener('error', () => reject(new Error(`${file.name} cannot be read.`)))
    reader.readAsDataURL(file)
  })
}

/**
 * The block of a file.
 * @throws Error for a file that is too large or cannot be read
 */
export async function mediaBlockOf(file: File): Promise<ReadMedia> {
  if (file.size > MAX_FILE_BYTES) throw new Error(`${file.name} is larger than ${MAX_FILE_BYTES >> 20} MiB.`)
  const url = await dataUrlOf(file)
  const mime_type = file.type || 'application/octet-stream'
  return { type: typeOf(mime_type), mime_type, base64: url.slice(url.indexOf(',') + 1) }
}
