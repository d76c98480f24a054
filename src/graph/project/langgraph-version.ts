import { dirname, join } from 'node:path'
import { readBoundedFile } from '../../base/files/bounded-file.ts'

const MANIFEST = join('node_modules', '@langchain', 'langgraph', 'package.json')
/** Maximum bytes of the manifest of LangGraph. */
const MAX_BYTES = 256 << 10

/**
 * Version of the LangGraph that a module imports; undefined if it finds none. Node's own look-up would read whatever a
 * build has left there, such as a pipe, on the main thread.
 */
async function versionFor(file: string): Promise<string | undefined> {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    try {
      const text = await readBoundedFile(join(folder, MANIFEST), { max_bytes: MAX_BYTES })
      return (JSON.parse(text.toString()) as { version: string }).version
    } catch (error) {
      const isMissing = ['ENOENT', 'ENOTDIR'].includes(String((error as NodeJS.ErrnoException).code))
      if (!isMissing || folder === dirname(folder)) return undefined
    }
  }
}

/** Whether two versions differ by more than a patch. */
export function differsByMore(one: string, other: string): boolean {
  const line = (version: string): string => version.split('.', 2).join('.')
  return line(one) !== line(other)
}

export interface LanggraphWarning {
  project_langgraph: string
  weir_langgraph: string
  message: string
}

/**
 * The reason why the LangGraph that a graph's file imports cannot be hosted; undefined if it can. Before 0.4, LangGraph reads
 * checkpoints of another form, and has no interrupts with ids.
 */
export async function tooOldLanggraph(file: string): Promise<string | undefined> {
  const version = await versionFor(file)
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (version === undefined || major > 0 || minor >= 4) return undefined
  return `LangGraph ${version} is installed in the project, and graphs need 0.4 or newer: npm install @langchain/langgraph@latest @langchain/core@latest`
}

/**
 * A warning if the LangGraph that a graph's file imports differs from Weir's by more than a patch version; undefined
 * otherwise.
 */
export async function langgraphWarning(
  files: readonly string[],
  known?: string,
): Promise<LanggraphWarning | undefined> {
  const ours = known ?? (await versionFor(import.meta.filename))
  for (const file of files) {
    const project = await versionFor(file)
    if (ours === undefined || project === undefined || !differsByMore(project, ours)) continue
    return {
      project_langgraph: project,
      weir_langgraph: ours,
      message: `The project uses LangGraph ${project} and Weir ${ours}; graphs, checkpoints and streams may be incompatible. For the same minor version: npm install @langchain/langgraph@~${ours}`,
    }
  }
  return undefined
}
