/** Health checks by name of the store; each rejects when the store is down. */
export type StoreChecks = Readonly<Record<string, () => Promise<unknown>>>

/** The same checks, but each check runs only once at a time; concurrent callers share its result. */
export function oneAtATime(checks: StoreChecks): StoreChecks {
  return Object.fromEntries(
    Object.entries(checks).map(([name, check]) => {
      let underWay: Promise<unknown> | undefined
      return [name, () => (underWay ??= check().finally(() => (underWay = undefined)))] as const
    }),
  )
}
