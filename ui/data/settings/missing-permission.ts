/** The message that names the first permission of `needed` that is missing; undefined when there is none. */
export function missingPermission(
  permissions: readonly string[],
  needed: readonly string[],
): string | undefined {
  const missing = needed.find((name) => !permissions.includes(name))
  return missing === undefined ? undefined : `This needs the permission ${missing}`
}
