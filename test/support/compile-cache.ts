import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Node's default folder for compiled code, which saves a quarter of a process's start. */
export const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')
