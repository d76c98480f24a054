/** Tokens of users by the names of deployments, for those with an auth file. */
export interface UserTokens {
  /**
   * Headers that identify the caller for a deployment with an auth file: the user of Studio (AUTH-3), or that of a
   * token.
   */
  headers(name: string): Record<string, string>
  /** True when calls of the deployment are made with a user's token. */
  hasToken(name: string): boolean
  /** Later calls of the deployment are made with this token, as its user; with '', by the session of this browser. */
  setToken(name: string, token: string): void
  /** Later calls are made by the session of this browser. Must be called when the user of the browser changes. */
  forgetTokens(): void
}

/** Makes a place for tokens; they are only in the memory of this object. */
export function createUserTokens(): UserTokens {
  const tokens = new Map<string, string>()
  return {
    headers(name) {
      const token = tokens.get(name)
      return token === undefined ? { 'x-auth-scheme': 'langsmith' } : { authorization: `Bearer ${token}` }
    },
    hasToken: (name) => tokens.has(name),
    setToken(name, token) {
      if (token === '') tokens.delete(name)
      else tokens.set(name, token)
    },
    forgetTokens: () => tokens.clear(),
  }
}
