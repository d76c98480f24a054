/** Texts of ThreadStates as they were shown: what has not changed since is not made again. */
export interface StateTexts {
  /** The text of a checkpoint whose mark is still the same. */
  get(checkpoint: string, mark: string): string | undefined
  set(checkpoint: string, mark: string, text: string): void
}

interface Kept {
  mark: string
  text: string
}

/** Keeps the texts that were asked for last, up to `maxChars` characters. */
export function createStateTexts(maxChars: number): StateTexts {
  const kept = new Map<string, Kept>()
  let chars = 0

  function forget(checkpoint: string): void {
    chars -= kept.get(checkpoint)?.text.length ?? 0
    kept.delete(checkpoint)
  }

  return {
    get(checkpoint, mark) {
      const found = kept.get(checkpoint)
      if (found?.mark !== mark) return undefined
      kept.delete(checkpoint)
      kept.set(checkpoint, found)
      return found.text
    },
    set(checkpoint, mark, text) {
      forget(checkpoint)
      kept.set(checkpoint, { mark, text })
      chars += text.length
      for (const oldest of kept.keys()) {
        if (chars <= maxChars) return
        forget(oldest)
      }
    },
  }
}
