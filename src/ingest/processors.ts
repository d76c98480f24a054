import { builtInProcessors } from '../../processors/index.ts'
import { loadOwnProcessors } from '../trace/own-processors.ts'
import type { Processor } from '../trace/processor.ts'

/**
 * The built-in processors, preceded by a user's own, so that on equal matches the own ones win.
 * @throws AppError config_invalid for a module that does not load or exports no processor
 */
export async function loadProcessors(modules: readonly string[]): Promise<readonly Processor[]> {
  return [...(await loadOwnProcessors(modules)), ...builtInProcessors]
}
