/** Maximum number of messages in a second. A component that grows steadily sends ten. */
const MOST = 50
const SECOND_MS = 1000

/** Makes a function that is called for each message, and returns whether there are too many. */
export function createMessageRate(now: () => number): () => boolean {
  let since = Number.NEGATIVE_INFINITY
  let count = 0
  return () => {
    if (now() - since > SECOND_MS) {
      since = now()
      count = 0
    }
    count += 1
    return count > MOST
  }
}
