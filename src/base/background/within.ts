/** Resolves or rejects like `work`; with the result of `late`, which may throw, if that takes longer than `ms`. */
export async function within<T, L>(work: Promise<T>, ms: number, late: () => L): Promise<T | L> {
  let timer: NodeJS.Timeout | undefined
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  return await Promise.race([work, over.then(late)]).finally(() => clearTimeout(timer))
}
