import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where Node keeps by default what it compiled; a quarter of what the start of a process costs. */
export const NODE_COMPILE_CACHE = join(tmpdir(), 'node-compile-cache')
