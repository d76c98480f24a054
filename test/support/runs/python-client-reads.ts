import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { PYTHON } from '../python.ts'

const SCRIPT = fileURLToPath(new URL('../../fixtures/python-tracing/client_reads.py', import.meta.url))

/** What the Python host's stand-in for LangSmith's client has itself, because it is used to record. */
const OWN = ['create_run', 'update_run', 'flush', 'otel_exporter', 'tracing_queue']
/** What it takes from the client that the environment configures: addresses of pages, projects, feedback. */
const ASKED = [
  '_construct_run_url',
  '_get_langsmith_api_sync',
  '_resolve_address',
  'get_run_url',
  'info',
  'read_project',
]

/**
 * The names that the recording code of the packages in `folder` reads from a client, and for which hosts/python does not
 * know yet whether they record.
 */
export async function unknownClientReads(folder: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)(PYTHON, [SCRIPT, folder])
  const known = new Set([...OWN, ...ASKED])
  const read = stdout.trim().split('\n')
  if (!read.includes('create_run')) throw new Error(`there is no LangSmith in ${folder}`)
  return read.filter((name) => !known.has(name))
}
