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

/** Loads the code, and draws the component again when it is loaded. A failure leaves its value undefined. */
export function useLaterCode<T>(code: LaterCode<T>): void {
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
}
