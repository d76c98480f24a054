import { useEffect, useReducer } from 'react'

/** Code that is loaded when it is first needed. */
export interface LaterCode<T> {
  load(): Promise<void>
  /** What the code has, once it is loaded. */
  value: T | undefined
}

export function laterCode<T>(read: () => Promise<T>): LaterCode<T> {
  const code: LaterCode<T> = {
    value: undefined,
    async load() {
      code.value = await read()
    },
  }
  return code
}

/** What the code has; undefined while it is loaded, and if it cannot be loaded. */
export function useLaterCode<T>(code: LaterCode<T>): T | undefined {
  const [, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => {
    if (code.value !== undefined) return undefined
    let isShown = true
    code.load().then(
      () => isShown && draw(),
      () => undefined,
    )
    return () => {
      isShown = false
    }
  }, [code])
  return code.value
}
