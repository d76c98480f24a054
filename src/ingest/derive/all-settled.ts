/** As Promise.all, but waits for all works even if one fails, so that none still runs when they are tried again. */
export async function allSettled<T>(works: readonly Promise<T>[]): Promise<T[]> {
  const ends = await Promise.allSettled(works)
  return ends.map((end) => {
    if (end.status === 'rejected') throw end.reason
    return end.value
  })
}
