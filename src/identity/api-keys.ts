import { hash, randomBytes } from 'node:crypto'

/** Pattern of the allowed values of BOOTSTRAP_API_KEY (D-7). Generated keys match it too. */
const API_KEY = /^[A-Za-z0-9_-]{16,128}$/

/** Generates a key: `lsv2_pt_…` for a user (personal), `lsv2_sk_…` for a service. */
export function generateApiKey(owner: 'personal' | 'service'): string {
  const kind = owner === 'personal' ? 'pt' : 'sk'
  return `lsv2_${kind}_${randomBytes(16).toString('hex')}_${randomBytes(5).toString('hex')}`
}

export function isApiKey(text: string): boolean {
  return API_KEY.test(text)
}

/** SHA-256 of the key in hex; only this is stored. */
export function hashApiKey(key: string): string {
  return hash('sha256', key, 'hex')
}

/** First 4 and last 4 characters, `lsv2...abcd` (D-7): safe to log and show. */
export function shortKey(key: string): string {
  return `${key.slice(0, 4)}...${key.slice(-4)}`
}
