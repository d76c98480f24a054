import { isDeepStrictEqual } from 'node:util'
import type { CallbackManager } from '@langchain/core/callbacks/manager'
import type { ImportFor } from '../../project/project-module.ts'

const MODULE = '@langchain/core/callbacks/manager'
const prepared = new WeakSet<object>()

/** Prepares the callback managers of the project that `file` belongs to. Does nothing in a project without LangChain. */
export async function prepareCallbacks(importFor: ImportFor, file: string): Promise<void> {
  const found = await importFor<{ CallbackManager?: typeof CallbackManager }>(file, MODULE).catch(
    () => undefined,
  )
  if (found?.CallbackManager !== undefined) copyMetadataOnce(found.CallbackManager)
}

/**
 * Makes `copy` of callback managers copy their metadata once. LangChain copies all metadata again for each of their
 * keys, and a manager more than ten times for each node, which took a seventh of a run's CPU time in its host. Changes
 * the prototype, unless its `copy` treats metadata in another way than the one here.
 */
export function copyMetadataOnce({ prototype }: typeof CallbackManager): void {
  if (prepared.has(prototype)) return
  prepared.add(prototype)
  const copyAll = prototype.copy
  const copyOnce: typeof copyAll = function (this: CallbackManager, ...given) {
    const { metadata, inheritableMetadata } = this
    this.metadata = {}
    try {
      const copy = copyAll.apply(this, given)
      copy.metadata = { ...metadata }
      const inherited = Object.entries(metadata).filter(([key]) => Object.hasOwn(inheritableMetadata, key))
      copy.inheritableMetadata = Object.fromEntries(inherited)
      return copy
    } finally {
      this.metadata = metadata
    }
  }
  const [before, now] = [copyAll, copyOnce].map((copy) => metadataOf(prototype, copy))
  if (before !== undefined && isDeepStrictEqual(before, now)) prototype.copy = copyOnce
}

/** The metadata that `copy` makes of those of a sample; undefined if it cannot copy the sample. */
function metadataOf(prototype: CallbackManager, copy: CallbackManager['copy']): object | undefined {
  const sample = Object.assign(Object.create(prototype) as CallbackManager, {
    ...{ handlers: [], inheritableHandlers: [], tags: [], inheritableTags: [] },
    metadata: { both: 1, own: [2] },
    inheritableMetadata: { both: 3, inherited: 4 },
  })
  try {
    const { metadata, inheritableMetadata } = copy.call(sample)
    return { metadata, inheritableMetadata }
  } catch {
    return undefined
  }
}
