import { isDeeperThan } from '../text/json-depth.ts'
import { readBoundedFile, UnsuitableFileError } from './bounded-file.ts'

/** Maximum bytes of a langgraph.json, which the main thread parses, and of the file that its `env` names. */
export const MAX_CONFIG_BYTES: number = 256 << 10
const MAX_DEPTH = 100

/**
 * The text of a langgraph.json. With `within` it must be in that folder. @throws UnsuitableFileError; the error of the
 * file system
 */
export async function readLanggraphJson(path: string, within?: string): Promise<string> {
  const bounds = { max_bytes: MAX_CONFIG_BYTES, ...(within !== undefined && { within }) }
  const content = await readBoundedFile(path, bounds)
  if (isDeeperThan(MAX_DEPTH, content)) throw new UnsuitableFileError('too_deep', bounds)
  return content.toString()
}
