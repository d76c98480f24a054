import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import { CallbackManager } from '@langchain/core/callbacks/manager'
import { expect, it } from 'vitest'
import { copyMetadataOnce } from './callback-copies.ts'

class Handler extends BaseCallbackHandler {
  readonly name = 'handler'
}

function createManager(Manager: typeof CallbackManager): CallbackManager {
  const manager = new Manager('parent')
  manager.addHandler(new Handler())
  manager.addTags(['inherited'])
  manager.addTags(['own'], false)
  manager.addMetadata({ run: { id: 1 }, step: 1 })
  manager.addMetadata({ step: 2, own: true }, false)
  return manager
}

/** A class of its own, whose `copy` can be replaced. */
function createClass(): typeof CallbackManager {
  class Manager extends CallbackManager {
    override copy(...given: Parameters<CallbackManager['copy']>): CallbackManager {
      return super.copy(...given)
    }
  }
  return Manager
}

it('a copy is the same as that of LangChain, and its metadata can be changed alone', () => {
  const Manager = createClass()
  const extra = new Handler()
  const before = createManager(Manager).copy([extra], false)
  const { copy } = Manager.prototype
  copyMetadataOnce(Manager)
  expect(Manager.prototype.copy).not.toBe(copy)
  const manager = createManager(Manager)
  const made = manager.copy([extra], false)
  expect(made).toEqual(before)
  expect(Object.keys(made.metadata)).toEqual(Object.keys(before.metadata))
  expect(made.inheritableMetadata).toEqual({ run: { id: 1 }, step: 2 })
  made.addMetadata({ more: 1 })
  expect(manager).toEqual(createManager(Manager))
  expect(made.metadata['run']).toBe(manager.metadata['run'])
})

it('a `copy` that treats metadata in another way stays as it is', () => {
  class Manager extends CallbackManager {
    override copy(...given: Parameters<CallbackManager['copy']>): CallbackManager {
      const made = super.copy(...given)
      made.addMetadata({ copied: true })
      return made
    }
  }
  const { copy } = Manager.prototype
  copyMetadataOnce(Manager)
  expect(Manager.prototype.copy).toBe(copy)
})
