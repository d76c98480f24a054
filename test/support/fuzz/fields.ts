import type { KnownRecords } from '../servers/known-records.ts'

const REDIRECT = 'http://127.0.0.1:9/callback'

/** Adds values of fields that must be well formed before a route looks at anything else. */
export function addFields(records: Pick<KnownRecords, 'add'>): void {
  records.add('/', { redirect_uri: REDIRECT, grant_type: 'refresh_token', response_type: 'code' })
  records.add('/', { document: JSON.stringify({ version: 1, workspaces: [{ name: 'fuzzed' }] }) })
  records.add('/', { feedback_key: 'score', match_pattern: '^fuzzed$' })
  for (let n = 0; n < 20; n++) records.add('/', { userName: `fuzzed-scim-${n}@example.com` })
  records.add('/api/v1/oauth', { id: 'custom-oidc' })
}
