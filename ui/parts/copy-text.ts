/** Copies a text. Returns whether the browser allowed it: without HTTPS, only pages of this machine may copy. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
