import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const MANIFEST = '@langchain/langgraph/package.json'

/** Version of the LangGraph that a module imports; undefined if it finds none. */
function versionFor(file: string): string | undefined {
  try {
    const text = readFileSync(createRequire(file).resolve(MANIFEST), 'utf8')
    return (JSON.parse(text) as { version: string }).version
  } catch {
    return undefined
  }
}

/** Whether two versions differ by more than a patch. */
export function differsByMore(one: string, other: string): boolean {
  const line = (version: string): string => version.split('.', 2).join('.')
  return line(one) !== line(other)
}

/**
 * The reason why the LangGraph that a graph's file imports cannot be hosted; undefined if it can. Before 0.4, LangGraph reads
 * checkpoints of another form, and has no interrupts with ids.
 */
export function tooOldLanggraph(file: string): string | undefined {
  const version = versionFor(file)
  const [major = 0, minor = 0] = (version ?? '').split('.').map(Number)
  if (version === undefined || major > 0 || minor >= 4) return undefined
  return `LangGraph ${version} is installed in the project, and graphs need 0.4 or newer: npm install @langchain/langgraph@latest @langchain/core@latest`
}

/**
 * A warning if the LangGraph that a graph's file imports differs from Weir's by more than a patch version; undefined
 * otherwise.
 */
export function langgraphWarning(files: readonly string[], ours = versionFor(import.meta.filename)) {
  for (const file of files) {
    const project = versionFor(file)
    if (ours === undefined || project === undefined || !differsByMore(project, ours)) continue
    return {
      project_langgraph: project,
      weir_langgraph: ours,
      message: `The project uses LangGraph ${project} and Weir ${ours}; graphs, checkpoints and streams may be incompatible. For the same minor version: npm install @langchain/langgraph@~${ours}`,
    }
  }
  return undefined
}
