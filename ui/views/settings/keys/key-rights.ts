/** The fields of the session on which the rights to change keys depend. */
interface Rights {
  auth: 'on' | 'off'
  permissions: readonly string[]
  user: object | null
}

/**
 * Why the caller may not create and revoke keys of a kind; undefined if it may. The server enforces this rule too; the
 * text is only for the user.
 */
export function whyNoKeys(kind: 'service' | 'personal', session: Rights | undefined): string | undefined {
  if (session === undefined) return 'The session is not known yet'
  if (session.auth === 'off') return 'The server runs with AUTH=off: keys are created with AUTH=on'
  const { permissions, user } = session
  if (kind === 'service')
    return permissions.includes('organization:manage')
      ? undefined
      : 'This needs the permission organization:manage'
  if (user === null) return 'You are signed in with a service key, which belongs to no user'
  return permissions.every((name) => name.endsWith(':read')) ? 'This needs a key that may write' : undefined
}
