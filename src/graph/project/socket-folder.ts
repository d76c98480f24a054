import { randomUUID } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type FolderKind, LONGEST_FOLDER_NAME, makeTemporaryFolder } from './temporary-folder.ts'

/** Maximum bytes of the path of a Unix socket. It is the limit of macOS; Linux allows 107. */
const MAX_SOCKET_PATH = 103

/** Creates a folder that only its owner may access. Its path is short enough for sockets. */
export function makeSocketFolder(kind: FolderKind): Promise<string> {
  const longest = join(tmpdir(), 'x'.repeat(LONGEST_FOLDER_NAME), 'app-1000000')
  const isDeep = Buffer.byteLength(longest) > MAX_SOCKET_PATH
  return makeTemporaryFolder(isDeep && process.platform !== 'win32' ? '/tmp' : tmpdir(), kind)
}

/** The path of a socket in the folder; on Windows the name of a pipe. */
export function socketPath(folder: string, name: string): string {
  return process.platform === 'win32' ? `\\\\.\\pipe\\weir-${randomUUID()}-${name}` : join(folder, name)
}
