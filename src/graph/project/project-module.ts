import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'

/** Imports a package as `file` of the project would resolve it. */
export type ImportFor = <Module>(file: string, specifier: string) => Promise<Module>

const SCHEME = 'weir-project:'

/**
 * Creates a function that imports the project's own copy of a package if it has one, since each copy has its own module
 * state, such as LangGraph's schema registry. For other packages, `prepareLoader` makes Weir's copies available.
 */
export function createImportFor(): ImportFor {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (!specifier.startsWith(SCHEME)) return nextResolve(specifier, context)
      const [name = '', file = ''] = specifier.slice(SCHEME.length).split('#')
      return nextResolve(name, { ...context, parentURL: decodeURIComponent(file) })
    },
  })
  return async <Module>(file: string, specifier: string) => {
    const from = encodeURIComponent(pathToFileURL(file).href)
    return (await import(`${SCHEME}${specifier}#${from}`)) as Module
  }
}
