/** Names that secrets may have, as the server takes them. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/
/** The beginnings of keys of known vendors. */
const PREFIX = /^(?:sk[-_]|gsk_|hf_|r8_|xai-|pplx-|AIza|AKIA|ya29\.|nvapi-|fw_|tgp_|csk-|co_|Bearer )/
/** Names are words; keys are long and mix small letters, capitals and digits. */
const LONG = 20

/** True for a text that is more likely a key than the name of a key. */
export function looksLikeKey(text: string): boolean {
  if (PREFIX.test(text)) return true
  const kinds = [/[a-z]/, /[A-Z]/, /\d/].filter((kind) => kind.test(text)).length
  const longest = Math.max(...text.split('_').map((part) => part.length))
  return longest >= LONG && (kinds >= 2 || !NAME.test(text))
}

/** Why a text is not taken as the name of a secret; undefined for one that is. */
export function secretNameFault(text: string): string | undefined {
  return looksLikeKey(text.trim())
    ? 'This looks like a key, and was removed: store it as a secret, and name the secret here.'
    : undefined
}
