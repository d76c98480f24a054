import { pathToFileURL } from 'node:url'
import { AppError } from '../../base/errors.ts'
import type { Processor } from './processor.ts'

/**
 * Loads a user's own processors, in the order of `modules` (absolute paths). Each module exports a processor as
 * default, or a list as `processors`. @throws AppError config_invalid for a module that cannot be loaded or exports no
 * processor
 */
export async function loadOwnProcessors(modules: readonly string[]): Promise<Processor[]> {
  const own: Processor[] = []
  for (const path of modules) own.push(...(await loadModule(path)))
  return own
}

async function loadModule(path: string): Promise<Processor[]> {
  let module: { default?: unknown; processors?: unknown }
  try {
    module = (await import(pathToFileURL(path).href)) as typeof module
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const message = /Cannot find module (\S+)/.exec(why)?.[1]?.endsWith(`${path}'`)
      ? `There is no file ${path}. PROCESSORS and --processors name modules with message formats of your own.`
      : `The processors in ${path} do not load: ${why}`
    throw new AppError('config_invalid', { message, cause })
  }
  const listed = module.processors ?? module.default
  const found: unknown[] = Array.isArray(listed) ? listed : [listed]
  if (found.length > 0 && found.every(isProcessor)) return found
  throw new AppError('config_invalid', {
    message: `${path} must export processors: objects with name, match and normalize.`,
  })
}

function isProcessor(value: unknown): value is Processor {
  const it = value as Partial<Processor> | null | undefined
  return typeof it?.name === 'string' && typeof it.match === 'function' && typeof it.normalize === 'function'
}
