/** Adds a tab before text that begins with one of `= + - @`, tab or CR, because spreadsheets execute such text. */
export function textCell(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `\t${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
