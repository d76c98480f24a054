import { describe, expect, it } from 'vitest'
import { AppError } from '../../base/errors.ts'
import type { Principal } from '../../identity/principal.ts'
import { assertAllowed, type Need } from './access.ts'

const PRINCIPAL: Principal = {
  organization_id: 'o',
  workspace_id: 'w',
  workspace_chosen: true,
  user_id: null,
  api_key_id: 'k',
  short_key: 's',
  holder: 'k',
  workspace_ids: ['w'],
  all_workspaces: false,
  permissions: new Set(['runs:read']),
  expires_at: null,
  role: 'user',
  read_only: false,
}

function outcome(changes: Partial<Principal>, needs: Need, whole_organization = false): string {
  try {
    assertAllowed({ ...PRINCIPAL, ...changes }, { needs, whole_organization })
    return 'allowed'
  } catch (error) {
    return error instanceof AppError ? `${error.status} ${error.message}` : String(error)
  }
}

describe('assertAllowed', () => {
  it('names the missing permission', () => {
    expect(outcome({}, 'runs:read')).toBe('allowed')
    expect(outcome({}, 'runs:create')).toBe('403 Forbidden: this needs the permission runs:create.')
    expect(outcome({ permissions: new Set() }, 'any key')).toBe('allowed')
    expect(outcome({ permissions: new Set() }, 'any writing key')).toBe('allowed')
    expect(outcome({ read_only: true }, 'any writing key')).toMatch(/^403 .*not read-only/)
  })

  it('refuses routes about the organization for keys of some workspaces', () => {
    expect(outcome({}, 'runs:read', true)).toMatch(/^403 .*all workspaces/)
    expect(outcome({ all_workspaces: true }, 'runs:read', true)).toBe('allowed')
  })
})
