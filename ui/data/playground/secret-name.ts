/** Pattern of the names that the server accepts for secrets. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
/** The beginnings of keys of known vendors. */
const PREFIX = /^(?:sk[-_]|gsk_|hf_|r8_|xai-|pplx-|AIza|AKIA|ya29\.|nvapi-|fw_|tgp_|csk-|co_|Bearer )/
/**
 * Minimum length of a part that looks like a key. Names are words; keys are long and mix small letters, capitals and
 * digits.
 */
const LONG = 20

/** True for a text that is more likely a key than the name of a key. */
export function looksLikeKey(text: string): boolean {
  if (PREFIX.test(text)) return true
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(text)).length
  const longest = Math.max(...text.split('_').map((part) => part.length))
  return longest >= LONG && (kinds >= 2 || !NAME.test(text))
}

/** Why a text cannot be the name of a secret; undefined if it can. */
export function secretNameFault(text: string): string | undefined {
  return looksLikeKey(text.trim())
    ? 'This looks like a key, and was removed: store it as a secret, and name the secret here.'
    : undefined
}
