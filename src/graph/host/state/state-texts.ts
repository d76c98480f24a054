import { RecentMap } from '../../../base/recent-map.ts'

/** Cached texts of ThreadStates: an unchanged state is not built again. */
export interface StateTexts {
  /** The cached text of a checkpoint; undefined if its mark has changed. */
  get(checkpoint: string, mark: string): string | undefined
  set(checkpoint: string, mark: string, text: string): void
}

interface Kept {
  mark: string
  text: string
}

/** Caches the most recently used texts, up to `maxChars` characters. */
export function createStateTexts(maxChars: number): StateTexts {
  const kept = new RecentMap<string, Kept>(maxChars, ({ text }) => text.length)
  return {
    get: (checkpoint, mark) =>
      kept.get(checkpoint)?.mark === mark ? kept.touch(checkpoint)?.text : undefined,
    set(checkpoint, mark, text) {
      kept.set(checkpoint, { mark, text })
    },
  }
}
