import { useSyncExternalStore } from 'react'
import { createEventTail, type EventTail } from '../../data/studio/event-tail.ts'
import type { NodeState } from '../../parts/graph/node-state.ts'
import { createNodeStates, type TaskEvent } from './node-states.ts'

const DRAWN_EVERY_MS = 50
/** Custom events that are shown. */
const SHOWN_EVENTS = 100

/** A value outside of React. A change of it draws only the components that read it. */
export interface Followed<T> {
  subscribe(listener: () => void): () => void
  current(): T
}

/**
 * Makes a followed value whose content `read` returns. Subscribers are called at most every 50 ms, however often
 * `changed` is called.
 */
export function createFollowed<T>(read: () => T): Followed<T> & { changed(): void } {
  const listeners = new Set<() => void>()
  let shown = read()
  let timer: ReturnType<typeof setTimeout> | undefined
  return {
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    current: () => shown,
    changed() {
      timer ??= setTimeout(() => {
        timer = undefined
        shown = read()
        for (const listener of listeners) listener()
      }, DRAWN_EVERY_MS)
    },
  }
}

/** The present value; the component is drawn again when it changes. */
export function useFollowed<T>({ subscribe, current }: Followed<T>): T {
  return useSyncExternalStore(subscribe, current)
}

export interface RunEvents {
  nodes: Followed<ReadonlyMap<string, NodeState>>
  custom: Followed<EventTail>
  addTask(event: TaskEvent, namespace: string[] | undefined): void
  addCustom(value: unknown): void
  clear(): void
}

/** Keeps the states of nodes, and the custom events. */
export function createRunEvents(): RunEvents {
  const states = createNodeStates()
  const tail = createEventTail(SHOWN_EVENTS)
  const nodes = createFollowed(states.snapshot)
  const custom = createFollowed(tail.snapshot)
  return {
    nodes,
    custom,
    addTask(event, namespace) {
      states.add(event, namespace, performance.now())
      nodes.changed()
    },
    addCustom(value) {
      tail.add(value)
      custom.changed()
    },
    clear() {
      states.clear()
      tail.clear()
      nodes.changed()
      custom.changed()
    },
  }
}
