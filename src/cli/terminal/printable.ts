/**
 * Control characters and characters that change the direction of text, with which a name could control the terminal.
 */
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu

/** Escapes control and direction characters, so that names from clients cannot control the terminal. */
export function printable(text: string): string {
  return text.replace(UNPRINTABLE, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** The same for a text of several lines. */
export function printableLines(text: string): string {
  return text.split('\n').map(printable).join('\n')
}

const COLOUR = new RegExp(String.raw`\u001b\[[\d;]*m`, 'g')

/** The text without the colours that programs print. */
export function uncoloured(text: string): string {
  return text.replace(COLOUR, '')
}
